//===- TiedTensors.h - One parameter under several names --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Files may have a parameter under several names: an output head beside the embeddings that it is tied to, or tensors
// with and without the prefix of the base model. Their values should be equal. If a head has other values than the
// embeddings, version 5 of the reference does not tie it, while version 4 does and loses the values of the head.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_TIEDTENSORS_H
#define ATTUNE_IMPORT_TIEDTENSORS_H

#include "compiler/Import/Config.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Compares the tensors of |tensors| that |spec|, read from |config|, takes for one parameter. Returns true if they have
/// other values and "tie_word_embeddings" of |config| must be false, as it is for version 5 of the reference. Adds
/// warnings about tensors that only this setting makes one parameter. Other differences are errors that name both
/// tensors.
Result<bool> mustSeparateTied(const Config &config, const TransformerSpec &spec, const TensorProvider &tensors,
                              std::vector<std::string> &warnings);

} // namespace attune

#endif // ATTUNE_IMPORT_TIEDTENSORS_H
