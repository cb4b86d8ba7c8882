//===- MatchContraction.h - Contractions over packed weights ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H
#define ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H

#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace attune {

/// Returns true if |op| is `C[m, n] += A[m, k] * B[n / W, k / G, n mod W, k mod G]` of low-precision operands. A is of
/// bf16 or f32 and B of bf16, with sums of f32; or A is of unsigned i8 or signed i16 and B of signed i8, with sums of
/// i32. B has panels of W columns, in which G neighbors in k are side by side. Of the indexing map of B, only the
/// number of results, four, is checked here.
bool isLowPrecisionContraction(mlir::linalg::LinalgOp op);

/// A contraction over weight panels, the fill of its sums with zeros before it, and the elementwise op on its sums
/// after it.
struct ContractionTile {
  mlir::linalg::LinalgOp contraction, fill, epilogue; // epilogue may be null
};

/// Returns the tile around |op|; nullopt unless |op| is a contraction over a weight panel and the only use of its sums
/// that precedes |op| in its block, memref.dim aside, is a fill with zeros.
std::optional<ContractionTile> matchContraction(mlir::linalg::LinalgOp op);

/// Returns the elementwise op that is the only other user of the sums of |op|, memref.dim aside, and can work on the
/// sums in registers; null if there is none.
mlir::linalg::LinalgOp findEpilogue(mlir::tiles::GroupedProductOp op);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H
