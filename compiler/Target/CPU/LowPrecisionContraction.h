//===- LowPrecisionContraction.h - Low-precision products -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H
#define ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H

#include "compiler/Target/CPU/DotUnit.h"
#include "compiler/Target/CPU/LaneBody.h"
#include "compiler/Target/CPU/MatchContraction.h"
#include "compiler/Target/CPU/PanelPrefetch.h"

namespace attune {

/// One register tile of a low-precision product: its operands and its epilogue. All instruction sets share it.
class LowPrecisionTile {
public:
  LowPrecisionTile(VectorBuilder &builder, ContractionTile tile, int64_t rows, PrefetchPlan plan);

  /// Returns null if the tile can be emitted, else the reason why not.
  const char *check();

  /// Calls |emitGroup| for every panel and every group of at most |rows| rows, whose number is a run-time value.
  void forEachGroup(
      llvm::function_ref<void(mlir::Value panel, mlir::Value firstColumn, mlir::Value columns, mlir::Value firstRow, mlir::Value rows)>
          emitGroup);

  /// Emit the epilogue of row |row|: first prepareRow, then for each |chunk| the sums of 16 columns from column |chunk|
  /// * 16 of a panel on. |columns| is the panel's number of columns.
  void prepareRow(mlir::Value row);
  void finish(mlir::Value sums, mlir::Value row, mlir::Value firstColumn, int64_t chunk, mlir::Value columns);

  /// Emits |emit| for each number of row tiles that divide the lines of the next panel among them: 1, 2, … |most|. The
  /// block's number of row tiles chooses one at run time. 0 means that there is no next panel to prefetch.
  void forShares(int64_t most, llvm::function_ref<void(int64_t shares)> emit);
  /// Prefetches the share of iteration |iteration| of |iterations| of the k loop in the lines after those of |panel|.
  void prefetch(int64_t shares, mlir::Value panel, mlir::Value iteration, int64_t iterations);

  VectorBuilder &builder;
  mlir::Value input, panels; // [M, K'], [P, K' / G, W * G]
  mlir::Value output;
  mlir::MemRefType inputType, panelType;
  int64_t rows, width = 0, group = 0, depth = 0;

private:
  bool isAtMost(int64_t dim, int64_t limit);

  PrefetchPlan plan;
  ContractionTile tile;
  mlir::Value rowTile, rowTiles; // which of how many of its block this tile is; null if not in a loop over row tiles
  std::optional<LaneBody> body;
  unsigned accumulatorOperand = 0;
};

/// Emits |tile| with vectors of |unit|, groups of |rows| rows in registers; returns null, or the reason why it cannot.
const char *vectorizeLowPrecision(VectorBuilder &builder, ContractionTile tile, int64_t rows, DotUnit unit, PrefetchPlan plan);

/// Returns the same with tiles of 16 x 64 bytes (AMX), of bf16 or i8. Reads whole groups of 16 rows of the input.
const char *emitAmxContraction(VectorBuilder &builder, ContractionTile tile, PrefetchPlan plan);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_LOWPRECISIONCONTRACTION_H
