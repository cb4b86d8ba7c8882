//===- ProductTile.h - Register tiles of products and their epilogues -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_PRODUCTTILE_H
#define ATTUNE_COMPILER_TARGET_CPU_PRODUCTTILE_H

#include "compiler/Target/CPU/LaneBody.h"
#include "compiler/Target/CPU/PanelPrefetch.h"

namespace attune {

/// The code that register tiles of all low-precision products share (LowPrecisionTile, GroupedTile): loops over panels
/// and groups of rows, the epilogue on sums in registers, and the prefetch of the next panel.
class ProductTile {
public:
  /// The tiles of |product|, which writes its sums to the buffer |sums|. If |epilogue| is not null, the epilogue reads
  /// the sums in registers, and only the epilogue's output is written. |rows| is the maximum number of rows of a
  /// register tile.
  ProductTile(VectorBuilder &builder, mlir::Operation *product, mlir::Value sums, mlir::linalg::LinalgOp epilogue, int64_t rows,
              PrefetchPlan plan);

  /// A panel: its index, the first column of the output that it computes, and the number of columns of the output from
  /// this one on, which may be more than those of the panel.
  struct Panel {
    mlir::Value index, firstColumn, columns;
  };
  /// The rows of a register tile: their sums for the columns of one panel are in registers.
  struct Tile {
    Panel panel;
    llvm::SmallVector<mlir::Value> rows;
    /// Null if all |rows| exist. Otherwise the number of existing rows at run time, which is the size of |rows| or one
    /// less; in the latter case the last row is a copy of the one before it.
    mlir::Value existing;
    /// The number of parts of the next panel, of which the tile prefetches one (see forShares); 0 for no prefetch.
    int64_t shares;
  };

  /// Returns PrefetchPlan::streams.
  int64_t prefetchStreams() const { return plan.streams; }

  /// Emits loops over all panels and groups of rows, as forEachGroup does. In them calls |emit| for each register tile
  /// that may be needed at run time: for each constant number of rows of VectorBuilder::forEvenRows and each number of
  /// shares of forShares.
  void forEachTile(llvm::function_ref<void(const Tile &)> emit);
  /// Emits loops over all panels and, inside, over groups of consecutive rows, and calls |emitGroup| in them. The
  /// argument |rows| is the number of rows of the group, which may be a run-time value: the maximum rows of a register
  /// tile, or in the last group the rows that remain. |columns| is the number of columns of the output from
  /// |firstColumn| on, which may be more than those of the panel.
  void forEachGroup(
      llvm::function_ref<void(mlir::Value panel, mlir::Value firstColumn, mlir::Value columns, mlir::Value firstRow, mlir::Value rows)>
          emitGroup);

  /// Emit the epilogue of row |row|, or the stores of its sums if there is no epilogue: call prepareRow once, then
  /// finish for each chunk of 16 columns of the panel. |sums| is one vector, the sums of the 16 columns from column
  /// |chunk| * 16 of the panel on. |firstColumn| is the output column of the panel's first column. |columns| is the
  /// number of columns of the output from |firstColumn| on; columns past these are not stored.
  void prepareRow(mlir::Value row);
  void finish(mlir::Value sums, mlir::Value row, mlir::Value firstColumn, int64_t chunk, mlir::Value columns);
  /// Emits the epilogue of each existing row of |tile|. |sums| has a vector for each 16 columns of the panel: those of
  /// the first row, then those of the next one, and so on.
  void finishRows(const Tile &tile, mlir::ValueRange sums);

  /// Calls |emit| for each number of shares, 1, 2, 4, … |most|, into which the next panel is divided: each row tile of
  /// a block prefetches one share. At run time the number of row tiles of the block chooses the code. If the product is
  /// not in a loop over row tiles, only calls |emit| with 0 shares, which means no prefetch.
  void forShares(int64_t most, llvm::function_ref<void(int64_t shares)> emit);
  /// Emits the prefetches of iteration |iteration| of the |iterations| of the k loop over |panel|: the iteration's part
  /// of this tile's share of the panel after |panel|. Emits nothing if |shares| is 0.
  void prefetch(int64_t shares, mlir::Value panel, mlir::Value iteration, int64_t iterations);

  VectorBuilder &builder;
  mlir::Value panels; // [P, K' / G, W * G] of a LowPrecisionTile, [P, groups, bytes of a group] of a GroupedTile
  mlir::Value output;
  int64_t rows, width = 0; // the maximum number of rows of a register tile; the columns of a panel

protected:
  /// Prepares the epilogue, if there is one. Returns null, or the reason why the output cannot be written: its rows are
  /// not contiguous.
  const char *checkOutput();

private:
  bool isAtMost(int64_t dim, int64_t limit);

  mlir::Value sums;
  mlir::linalg::LinalgOp epilogue;
  PrefetchPlan plan;
  // The index of this row tile in its block, and the number of row tiles of the block; null if the product is not in an
  // scf.for, the loop over row tiles.
  mlir::Value rowTile, rowTiles;
  std::optional<LaneBody> body;
  unsigned accumulatorOperand = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_PRODUCTTILE_H
