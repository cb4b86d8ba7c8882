//===- AdaptedTensors.h - Tensors with adapters merged ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A provider that adds adapters (LoRA) to some tensors of another provider when a slice of them is read. So a merged
// tensor never exists as a whole, neither in memory nor in a file, before it is packed.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_ADAPTEDTENSORS_H
#define ATTUNE_COMPILER_WEIGHTS_ADAPTEDTENSORS_H

#include "compiler/Support/Safetensors.h"
#include "compiler/Weights/TensorProvider.h"

#include <map>
#include <optional>

namespace attune {

/// A matrix of low rank, scale * left * right, that is added to a tensor with as many elements: element i of the matrix
/// to element i of the tensor, both in row-major order.
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
  /// The tensor to which terms are added instead of the base's tensor of the same name, if any; nullopt keeps the
  /// base's tensor.
  std::optional<TensorView> replacement;
  /// The file of |replacement|, for messages.
  std::string file;
  std::vector<LowRankTerm> terms;
};

/// Returns a provider of the tensors of |base| with |changes|. The keys of |changes| are names of tensors; the change
/// of a tensor that |base| lacks must have a replacement. |owner| keeps the data of replacements alive.
///
/// An element is base + the sum of (scale * left) * right over all terms and, for each term, over its rank. Sums are
/// computed in double, in the order of the terms, and rounded to float once. The result does not depend on the slices
/// that are read. A read fails if terms whose factors are all finite make a finite element infinite or NaN.
std::unique_ptr<TensorProvider> adaptTensors(std::unique_ptr<TensorProvider> base, std::map<std::string, TensorChange, std::less<>> changes,
                                             std::shared_ptr<void> owner);

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_ADAPTEDTENSORS_H
