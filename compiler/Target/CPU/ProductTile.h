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
  /// A tile of |product|, whose sums go to |sums| and, if there is an |epilogue|, from there to its output.
  ProductTile(VectorBuilder &builder, mlir::Operation *product, mlir::Value sums, mlir::linalg::LinalgOp epilogue, int64_t rows,
              PrefetchPlan plan);

  /// A panel: its index, and the first column and the number of columns of the output that it computes.
  struct Panel {
    mlir::Value index, firstColumn, columns;
  };
  /// Rows whose sums with the columns of a panel are in registers.
  struct Tile {
    Panel panel;
    llvm::SmallVector<mlir::Value> rows;
    /// The number of |rows| that exist, if the last one may not: their number or one less. Null if all exist.
    mlir::Value existing;
    /// The number of tiles that divide the lines of the next panel among them (forShares).
    int64_t shares;
  };

  /// Returns the number of streams in which a block of few row tiles prefetches.
  int64_t prefetchStreams() const { return plan.streams; }

  /// Emits the tiles of all rows and panels by |emit|.
  void forEachTile(llvm::function_ref<void(const Tile &)> emit);
  /// Calls |emitGroup| for every panel and every group of at most |rows| rows, whose number is a run-time value.
  void forEachGroup(
      llvm::function_ref<void(mlir::Value panel, mlir::Value firstColumn, mlir::Value columns, mlir::Value firstRow, mlir::Value rows)>
          emitGroup);

  /// Emit the epilogue of row |row|: first prepareRow, then for each |chunk| the sums of 16 columns from column |chunk|
  /// * 16 of a panel on. |columns| is the panel's number of columns.
  void prepareRow(mlir::Value row);
  void finish(mlir::Value sums, mlir::Value row, mlir::Value firstColumn, int64_t chunk, mlir::Value columns);
  /// Emits the epilogues of the rows of |tile|; |sums| has those of a row side by side.
  void finishRows(const Tile &tile, mlir::ValueRange sums);

  /// Emits |emit| for each number of row tiles that divide the lines of the next panel among them: 1, 2, … |most|. The
  /// block's number of row tiles chooses one at run time. 0 means that there is no next panel to prefetch.
  void forShares(int64_t most, llvm::function_ref<void(int64_t shares)> emit);
  /// Prefetches the share of iteration |iteration| of |iterations| of the k loop in the lines after those of |panel|.
  void prefetch(int64_t shares, mlir::Value panel, mlir::Value iteration, int64_t iterations);

  VectorBuilder &builder;
  mlir::Value panels; // [P, rows, bytes or elements]
  mlir::Value output;
  int64_t rows, width = 0;

protected:
  /// Returns null if the epilogue can be emitted, else the reason why not. Expects |width| to be known.
  const char *checkOutput();

private:
  bool isAtMost(int64_t dim, int64_t limit);

  mlir::Value sums;
  mlir::linalg::LinalgOp epilogue;
  PrefetchPlan plan;
  mlir::Value rowTile, rowTiles; // which of how many of its block this tile is; null if not in a loop over row tiles
  std::optional<LaneBody> body;
  unsigned accumulatorOperand = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_PRODUCTTILE_H
