//===- UnreadTensors.h - Tensors that a model does not read -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_UNREADTENSORS_H
#define ATTUNE_IMPORT_UNREADTENSORS_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Returns true if |name| ends like that of a buffer, a table that is no parameter, such as `position_ids`: files of
/// old releases of transformers store buffers, too.
bool isBuffer(std::string_view name);

/// Returns a warning about float tensors of |tensors| that |spec| does not read, although they are in a module of the
/// model or beside its modules in a layer: a bias that the configuration leaves out, a norm of heads, a layer too many.
/// Such a model may not be the one that was trained. The warning names the first of them and counts the others; it is
/// "" if there are none. Heads and towers that the model lacks as a whole do not count, since files often have them.
std::string warnOfUnreadTensors(const TransformerSpec &spec, const TensorProvider &tensors);

} // namespace attune

#endif // ATTUNE_IMPORT_UNREADTENSORS_H
