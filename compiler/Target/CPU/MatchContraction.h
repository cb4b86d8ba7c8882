//===- MatchContraction.h - Contractions over packed weights ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H
#define ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H

#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace attune {

/// Returns true if |op| is `C[m, n] += A[m, k] * B[n / W, k / G, n mod W, k mod G]` of low-precision operands: bf16 or
/// f32 times bf16 with sums of f32, or unsigned i8 or i16 times i8 with sums of i32. B has panels of W columns, in
/// which G neighbors in k are side by side. Of the map of B, only the number of results, four, is checked here.
bool isLowPrecisionContraction(mlir::linalg::LinalgOp op);

/// A contraction over weight panels, the fill of its sums with zeros before it, and the elementwise op on its sums
/// after it.
struct ContractionTile {
  mlir::linalg::LinalgOp contraction, fill, epilogue; // epilogue may be null
};

/// Returns the tile around |op|, or nullopt. |op| must be a contraction over a weight panel. Before it in its block,
/// its sums may have only one use (memref.dim aside), which must fill them with zeros.
std::optional<ContractionTile> matchContraction(mlir::linalg::LinalgOp op);

/// Returns the elementwise op that is the only reader of the sums of |op| and can work on them in registers; null if
/// there is none.
mlir::linalg::LinalgOp findEpilogue(mlir::tiles::GroupedProductOp op);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_MATCHCONTRACTION_H
