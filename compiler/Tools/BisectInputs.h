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

/// Returns shapes in the order in which they are tried: two rows of five tokens, in steps two rows of nine tokens, one
/// token, then further batches of one to four rows whose lengths are 8 or 16 or exceed 16, 32 or 64, sizes of tiles,
/// blocks and panels, by one. The last one has 68 tokens, in steps that end before and behind a panel of 64 cached
/// keys.
std::vector<BatchShape> listBatchShapes();

/// Returns inputs of |shape| for the entries of |signature| that the call executes: those that they require, and the
/// attention mask of an entry that gets all of its tokens at once. Ids are random, and the mask hides the last tokens of
/// every second row. Fails if the size of a dimension is unknown.
Result<PlainInputs> makeBatch(const PlainSignature &signature, const BatchShape &shape);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTINPUTS_H
