//===- UnreadTensors.h - Tensors that a model does not read -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_UNREADTENSORS_H
#define ATTUNE_IMPORT_UNREADTENSORS_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Returns true if |name| ends like those of tensors that are not parameters: tables that files of old releases store.
bool isBuffer(std::string_view name);

/// Returns a warning that names the first, and counts the others, of the float tensors of |tensors| in modules of the
/// model, or beside these in a layer, that |spec| does not read: a bias that the configuration leaves out, a norm of
/// heads, a layer too many. Such a model may not be the one that was trained. Returns "" if there are none. Heads and
/// towers that the model lacks as a whole do not count, since files often have them.
std::string warnOfUnreadTensors(const TransformerSpec &spec, const TensorProvider &tensors);

} // namespace attune

#endif // ATTUNE_IMPORT_UNREADTENSORS_H
