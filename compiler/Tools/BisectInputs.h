//===- BisectInputs.h - Inputs of many shapes -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTINPUTS_H
#define ATTUNE_COMPILER_TOOLS_BISECTINPUTS_H

#include "compiler/Plain/PlainSteps.h"

namespace attune {

/// The shape of a batch.
struct BatchShape {
  int64_t batch, length;
  /// The sizes of the chunks that the tokens are fed in, through the caches; empty for one call of `forward`.
  std::vector<int64_t> steps = {};
};

/// Returns shapes in the order in which they are tried. The first ones are small: two rows of five tokens, two rows of
/// nine tokens in steps, one token. The next ones have lengths that are multiples of 8, and the lengths 17, 33 and 65,
/// each one more than a size of tiles, blocks or panels. The last shape has 68 tokens in steps that end before and
/// after the end of a panel of 64 cached keys.
std::vector<BatchShape> listBatchShapes();

/// Returns inputs of |shape| for those entries of |signature| that the call executes: all required inputs, and the
/// attention mask of an entry that gets all of its tokens at once. Ids are random, and the mask hides the last tokens
/// of every second row. Fails if an input has a dynamic dimension other than batch, length and source_length.
Result<PlainInputs> makeBatch(const PlainSignature &signature, const BatchShape &shape);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTINPUTS_H
