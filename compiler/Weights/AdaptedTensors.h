//===- AdaptedTensors.h - Tensors with adapters merged ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A provider that adds adapters (LoRA) to some tensors of another provider while they are read, a slice at a time. So a
// merged tensor never exists as a whole, neither in memory nor in a file, before it is packed.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_ADAPTEDTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_ADAPTEDTENSORS_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Weights/TensorProvider.h"

#include <map>
#include <optional>

namespace attune {

/// A matrix of low rank, scale * left * right, that is added to a tensor with as many elements: row-major element i of
/// one to row-major element i of the other.
struct LowRankTerm {
  double scale = 1;
  /// The adapter and the scale that the user gave it, for messages.
  std::string origin;
  int64_t rank = 0, columns = 0;
  /// `[rows, rank]` and `[rank, columns]`, row-major. All terms of a tensor have the same |columns|.
  std::vector<float> left, right;
};

/// The change of one tensor.
struct TensorChange {
  /// A tensor that replaces the base's tensor of that name, if it has one, before terms are added; nullopt keeps the
  /// base's tensor.
  std::optional<TensorView> replacement;
  /// The file of |replacement|.
  std::string file;
  std::vector<LowRankTerm> terms;
};

/// Returns a provider of the tensors of |base| with |changes|, whose keys are names of tensors; the change of a name
/// that |base| lacks must have a replacement. |owner| keeps the data of replacements alive.
///
/// An element is base + sum of scale * (sum over k of left * right), in double, in the order of terms and of k, and
/// rounded to float once. The result does not depend on the slices that are read. A read fails if terms whose factors
/// are all finite make a finite element infinite.
std::unique_ptr<TensorProvider> adaptTensors(std::unique_ptr<TensorProvider> base, std::map<std::string, TensorChange, std::less<>> changes,
                                             std::shared_ptr<void> owner);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_ADAPTEDTENSORS_H
