//===- RowTileOrder.h - In which order a panel meets the rows -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ROWTILEORDER_H
#define ATTUNE_COMPILER_TRANSFORMS_ROWTILEORDER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// |tiled| is in a loop over the row tiles of a block, in a parallel loop over blocks and panels of |panelWidth| columns. Lets every second
/// panel go through the rows from the last tile to the first.
///
/// Panel after panel reads all rows of the block. Where these and the weights of a panel do not fit into a cache, a cache that keeps what
/// was used last would have dropped each row shortly before its turn, always; this way it misses only what does not fit.
void turnEverySecondPanel(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp tiled, int64_t panelWidth);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ROWTILEORDER_H
