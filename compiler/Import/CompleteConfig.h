//===- CompleteConfig.h - Configurations that tensors complete --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_COMPLETECONFIG_H
#define ATTUNE_IMPORT_COMPLETECONFIG_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Returns true if |config| lacks `model_type` (absent or null) or `architectures` (absent, null or an empty list), or
/// if it has both `num_labels` and `id2label` and the number of names in `id2label` differs from `num_labels`.
bool isIncomplete(const Config &config);

/// Completes |config| from its other keys and from |tensors|:
///   - `model_type`, if it is missing: the only family that has the class in `architectures`; without a class there,
///     the only family with a class that has exactly the tensors of the folder.
///   - `architectures`, if it is missing: among the classes whose tensors are all in the folder with their shapes, the
///     one with the most tensors. If the base model ties with other classes, it wins if no tensor has its prefix
///     (TransformerSpec::basePrefix), and is ruled out otherwise.
///   - The number of labels, if `num_labels` is not the number of names in `id2label`: sets `id2label` to null if the
///     shapes of the tensors fit only `num_labels`. transformers 4 counts the names; releases before and after it take
///     the number.
/// |tensors| is null if the folder stores none. Then, and if no class fits, `architectures` stays absent, which stands
/// for the first class of the family, in most families the base model. Fails if no family, several families or several
/// classes fit; the message lists the choices.
Status completeConfig(Config &config, const TensorProvider *tensors);

/// Returns a warning if |tensors| do not have all tensors of |spec|, the description of the class that |config| names,
/// with their shapes, but have all tensors of another class of the family; the warning names the classes that fit best.
/// Otherwise returns "". Folders of models for sentence embeddings often name the class that was trained, with a head,
/// but store only the tensors of the base model.
std::string adviseOnClass(const Config &config, const TransformerSpec &spec, const TensorProvider &tensors);

} // namespace attune

#endif // ATTUNE_IMPORT_COMPLETECONFIG_H
