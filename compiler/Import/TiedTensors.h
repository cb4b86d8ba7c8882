//===- TiedTensors.h - One parameter under several names --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Files may have a parameter under several names: an output head beside the embeddings that it is tied to, or tensors
// with and without the prefix of the base model. Their values should be equal. If a head has other values than the
// embeddings, transformers 5 does not tie it, while version 4 does and loses the values of the head.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_TIEDTENSORS_H
#define ATTUNE_IMPORT_TIEDTENSORS_H

#include "compiler/Import/Config.h"
#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Compares those tensors in |tensors| that |spec|, which was read from |config|, treats as one parameter. If tensors
/// of different values are one parameter only because of "tie_word_embeddings", adds a warning to |warnings|. Returns
/// true if the model must then be read with this setting false: families that follow transformers 5 must, families that
/// follow version 4 (isOfVersion4) stay tied. Other differences are errors that name both tensors. Exempt are tensors
/// whose names differ in more than the prefix of the base model and the old names of norms: one of two such tensors is
/// a stand-in, for files that lack the other.
Result<bool> mustSeparateTied(const Config &config, const TransformerSpec &spec, const TensorProvider &tensors,
                              std::vector<std::string> &warnings);

} // namespace attune

#endif // ATTUNE_IMPORT_TIEDTENSORS_H
