//===- ProductTile.h - Register tiles of products and their epilogues -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_PRODUCTTILE_H
#define ATTUNE_COMPILER_TARGET_CPU_PRODUCTTILE_H

#include "compiler/Target/CPU/LaneBody.h"
#include "compiler/Target/CPU/PanelPrefetch.h"

namespace attune {

/// The part of a register tile that products of all low-precision operands share: loops over panels and groups of rows,
/// the epilogue on sums in registers, and the prefetch of the next panel.
class ProductTile {
public:
  /// A tile of |product|, which writes its sums to the buffer |sums|. If |epilogue| is not null, it reads the sums in
  /// registers, and only its output is written. |rows| is the number of rows of a register tile.
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
    /// The number of parts of the next panel; the tile prefetches one of them (see forShares).
    int64_t shares;
  };

  /// Returns the number of streams in which a block of few row tiles prefetches.
  int64_t prefetchStreams() const { return plan.streams; }

  /// Emits the tiles of all rows and panels by |emit|.
  void forEachTile(llvm::function_ref<void(const Tile &)> emit);
  /// Calls |emitGroup| for every panel and every group of consecutive rows. A group has as many rows as a register tile,
  /// the last one those that remain; this number, the last argument, may be a run-time value. |columns| is the number of
  /// columns of the output from |firstColumn| on, which may be more than those of the panel.
  void forEachGroup(
      llvm::function_ref<void(mlir::Value panel, mlir::Value firstColumn, mlir::Value columns, mlir::Value firstRow, mlir::Value rows)>
          emitGroup);

  /// Emit the epilogue of row |row|, or the stores of its sums if there is no epilogue: first call prepareRow, then
  /// finish for each chunk of 16 columns. |sums| are the sums from column |chunk| * 16 of a panel on, |firstColumn| is
  /// the output column of the panel's first column, and |columns| the number of columns of the output from
  /// |firstColumn| on.
  void prepareRow(mlir::Value row);
  void finish(mlir::Value sums, mlir::Value row, mlir::Value firstColumn, int64_t chunk, mlir::Value columns);
  /// Emits the epilogues of the rows of |tile|. |sums| has the vectors of the first row, then those of the next one.
  void finishRows(const Tile &tile, mlir::ValueRange sums);

  /// Calls |emit| for each number of shares, 1, 2, 4, … |most|, into which the next panel is divided: each row tile of
  /// a block prefetches one share. At run time the number of row tiles of the block chooses the code. If the product is
  /// not in a loop over row tiles, only calls |emit| with 0 shares, which means no prefetch.
  void forShares(int64_t most, llvm::function_ref<void(int64_t shares)> emit);
  /// Prefetches the part of this tile's share that belongs to iteration |iteration| of |iterations| of the k loop over
  /// |panel|.
  void prefetch(int64_t shares, mlir::Value panel, mlir::Value iteration, int64_t iterations);

  VectorBuilder &builder;
  mlir::Value panels; // [P, rows, bytes or elements]
  mlir::Value output;
  int64_t rows, width = 0;

protected:
  /// Prepares the epilogue, if there is one. Returns null, or the reason why the output cannot be written.
  const char *checkOutput();

private:
  bool isAtMost(int64_t dim, int64_t limit);

  mlir::Value sums;
  mlir::linalg::LinalgOp epilogue;
  PrefetchPlan plan;
  // The index of this row tile in its block, and the number of row tiles of the block; null if there is no such loop.
  mlir::Value rowTile, rowTiles;
  std::optional<LaneBody> body;
  unsigned accumulatorOperand = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_PRODUCTTILE_H
