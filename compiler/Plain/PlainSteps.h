//===- PlainSteps.h - Calls in one piece or in steps ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINSTEPS_H
#define ATTUNE_COMPILER_PLAIN_PLAINSTEPS_H

#include "compiler/Plain/PlainModel.h"

namespace attune {

/// The inputs of a whole call.
struct PlainInputs {
  std::vector<OwnedTensor> tensors;
  /// The sizes of the chunks that the tokens are fed in, through the caches; empty for one call of `forward`.
  std::vector<int64_t> steps;
};

/// Runs the call: the entry `forward`, or, in steps, `encode` if the model has it, then `extend` for each chunk, whose
/// outputs are joined along the tokens. Fails if the steps do not add up to the number of tokens.
Result<std::vector<OwnedTensor>> runPlainly(PlainModel &model, const PlainInputs &inputs);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINSTEPS_H
