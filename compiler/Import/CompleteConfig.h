//===- CompleteConfig.h - Configurations that tensors complete --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_COMPLETECONFIG_H
#define ATTUNE_IMPORT_COMPLETECONFIG_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Returns true if |config| has no value of `model_type` or `architectures` (absent, null or an empty list), or if it
/// has both `num_labels` and `id2label` and the number of names in `id2label` differs from `num_labels`.
bool isIncomplete(const Config &config);

/// Adds `model_type` and `architectures` to |config| if they are missing and the rest determines them:
///   - the type, by the class in `architectures`; without a class, by the only family with a class that has exactly the
///     tensors of the folder;
///   - the class, by the tensors: among the classes whose tensors are all there with their shapes, the one with the
///     most tensors; in a tie, the base model if the tensors lack its prefix, another class if they have it;
///   - the number of labels, by the shapes of tensors, if `num_labels` is not the number of names in `id2label`:
///     removes `id2label` if only `num_labels` fits. transformers 4 counts the names, releases before and after take
///     the number.
/// |tensors| is null if the folder stores none. Then, and if no class fits, `architectures` stays absent, which means
/// the first class of the family, in most families the base model. Fails if no family, several families or several
/// classes fit; the message lists the choices.
Status completeConfig(Config &config, const TensorProvider *tensors);

/// |spec| is the description of the class that |config| names. If |tensors| does not have all tensors of |spec| with
/// their shapes, but has all those of another class of the family, returns a warning that names the other class;
/// otherwise returns "". Folders of models for sentence embeddings often name the class that was trained, with a head,
/// but store only the tensors of the base model.
std::string adviseOnClass(const Config &config, const TransformerSpec &spec, const TensorProvider &tensors);

} // namespace attune

#endif // ATTUNE_IMPORT_COMPLETECONFIG_H
