//===- TileSizes.h - Sizes that depend on the number of rows ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_TILESIZES_H
#define ATTUNE_COMPILER_TRANSFORMS_TILESIZES_H

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/IR/PatternMatch.h"

namespace attune {

/// The most heads of an attention tile.
inline constexpr int64_t kMostTileHeads = 8;

/// Returns the number of rows (dimension 0) of the result of |op|, at least 1, so that tile sizes derived from it are
/// not 0. Sets the insertion point before |op|.
mlir::Value countRows(mlir::RewriterBase &rewriter, mlir::DestinationStyleOpInterface op);

/// Returns the size of a tile if |rows|, at least 1, are divided into as few tiles of at most |limit| rows as possible,
/// all of about the same size.
mlir::Value divideEvenly(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value rows, int64_t limit);

/// Returns the smaller of |rows| and |limit| as an affine minimum, from which tiling can infer the bound |limit|.
mlir::OpFoldResult atMost(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value rows, int64_t limit);

/// Returns |few| if |op| has at most |limit| rows, else |others|. Sets the insertion point before |op|.
mlir::OpFoldResult chooseByRows(mlir::RewriterBase &rewriter, mlir::DestinationStyleOpInterface op, int64_t limit, int64_t few,
                                int64_t others);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_TILESIZES_H
