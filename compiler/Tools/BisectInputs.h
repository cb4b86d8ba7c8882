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
};

/// Returns shapes in the order in which they are tried: two rows of five tokens, one token, then further batches of one
/// to four rows whose lengths are 8 or 16 or exceed 16, 32 or 64, sizes of tiles, blocks and panels, by one.
std::vector<BatchShape> listBatchShapes();

/// Returns inputs of |shape| for |entry|: those that it requires and its attention mask. Ids are random, and the mask
/// hides the last tokens of every second row. Fails if the size of a dimension is unknown.
Result<PlainInputs> makeBatch(const PlainEntry &entry, BatchShape shape);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTINPUTS_H
