//===- TileSizes.h - Sizes that depend on the number of rows --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_TILESIZES_H
#define ATTUNE_COMPILER_TRANSFORMS_TILESIZES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// The number of rows (dimension 0) of the result of |op|, at least 1: no rows at all are no tiles, of a size that is not zero. Sets the
/// insertion point before |op|.
mlir::Value countRows(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op);

/// |rows| divided into as few tiles as a size of at most |limit| allows, all of about the same size.
mlir::Value divideEvenly(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value rows, int64_t limit);

/// The smaller of |rows| and |limit|, in a form whose bound tiling understands.
mlir::OpFoldResult atMost(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value rows, int64_t limit);

/// |few| where |op| has up to |limit| rows, |others| where it has more.
mlir::OpFoldResult chooseByRows(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op, int64_t limit, int64_t few, int64_t others);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_TILESIZES_H
