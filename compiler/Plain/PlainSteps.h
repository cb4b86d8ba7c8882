//===- PlainSteps.h - Calls in one piece or in steps ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINSTEPS_H
#define ATTUNE_COMPILER_PLAIN_PLAINSTEPS_H

#include "compiler/Plain/PlainModel.h"

namespace attune {

/// The inputs for all tokens of a call that runs at once or in steps.
struct PlainInputs {
  std::vector<OwnedTensor> tensors;
  /// The numbers of tokens of the chunks that run one after the other, through the caches; empty for a single call of
  /// `forward`.
  std::vector<int64_t> steps;
};

/// Runs |model| on |inputs|. Without steps, calls the entry `forward` and returns its outputs. With steps, calls
/// `encode` if the model has it, then `extend` for each chunk, and returns the outputs of `extend`, joined along the
/// tokens. Fails if a call fails, if there are steps and the model has no entry `extend`, or if the steps do not add up
/// to the number of tokens.
Result<std::vector<OwnedTensor>> runPlainly(PlainModel &model, const PlainInputs &inputs);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINSTEPS_H
