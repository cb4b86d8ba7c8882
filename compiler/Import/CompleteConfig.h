//===- CompleteConfig.h - Configurations without type or class --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_COMPLETECONFIG_H
#define ATTUNE_IMPORT_COMPLETECONFIG_H

#include "compiler/Import/TransformerSpec.h"
#include "compiler/Weights/TensorProvider.h"

namespace attune {

/// Returns true if |config| lacks `model_type` or `architectures`.
bool isIncomplete(const Config &config);

/// Adds `model_type` and `architectures` to |config| where it lacks them and what is there decides:
/// - the type, by the class in `architectures`; without a class, by the only family one of whose classes has exactly the tensors of the
///   folder;
/// - the class, by the tensors: of the classes all of whose tensors are there with their shapes, those that use most; among equals the base
///   model if the tensors lack its prefix, another if they have it.
/// |tensors| is null if the folder stores none; then, and where no class fits, `architectures` stays absent, which means the base model.
/// Fails if several families or classes are left; the message lists them.
Status completeConfig(Config &config, const TensorProvider *tensors);

/// Returns a warning if |tensors| lacks some of |spec|, the class of |config|, but has all of another class of the family; "" otherwise.
/// Folders of sentence embeddings often name the class that was trained, with a head, and store the base model alone.
std::string adviseOnClass(const Config &config, const TransformerSpec &spec, const TensorProvider &tensors);

} // namespace attune

#endif // ATTUNE_IMPORT_COMPLETECONFIG_H
