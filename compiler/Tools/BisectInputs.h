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

/// Returns shapes in the order in which they are tried: one token, odd numbers, numbers around the sizes of tiles,
/// blocks and panels (8, 16, 32, 64), several rows.
std::vector<BatchShape> listBatchShapes();

/// Returns inputs of |shape| for |entry|: those that it requires and its attention mask. Ids are random, and the mask
/// hides the last tokens of every second row. Fails if the size of a dimension is unknown.
Result<PlainInputs> makeBatch(const PlainEntry &entry, BatchShape shape);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTINPUTS_H
