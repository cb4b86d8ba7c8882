//===- GroupedTile.h - Register tiles of grouped products -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_GROUPEDTILE_H
#define ATTUNE_COMPILER_TARGET_CPU_GROUPEDTILE_H

#include "compiler/Target/CPU/ProductTile.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// The register tile of a `tile.grouped_product`: its operands, its epilogue, and loads from the bytes of a panel,
/// `[groups, bytes of a group]`. Each group has scales, then minima if the format has them, then integers.
class GroupedTile : public ProductTile {
public:
  GroupedTile(VectorBuilder &builder, mlir::tiles::GroupedProductOp op, mlir::linalg::LinalgOp epilogue, int64_t rows, PrefetchPlan plan);

  /// Returns null if the tile can be emitted, else the reason why not. Must be called before code is emitted, since it
  /// also prepares the epilogue.
  const char *check();

  /// Returns the |bytes| bytes of |group| of |panel| from byte |byte| of the group on, as a vector of i8.
  mlir::Value load(mlir::Value panel, mlir::Value group, mlir::Value byte, int64_t bytes);
  /// Returns the scales of |group| of |panel| for the |lanes| outputs from |index| * |lanes| of the panel on, as a
  /// vector of f32. Minima follow the scales, so an |index| of `width / lanes` or more returns minima. |convertsHalves|
  /// is true if the CPU has an instruction that converts f16.
  mlir::Value loadNumbers(mlir::Value panel, mlir::Value group, int64_t index, int64_t lanes, bool convertsHalves);

  /// Returns true if a tile of |rows| should prefetch weights: all but tiles of one row with one stream. On CPUs that
  /// read memory fastest in one stream, the hardware's prefetcher keeps up with the products of a single row, and
  /// prefetch instructions only slow these down.
  bool prefetches(mlir::ArrayRef<mlir::Value> rows) const { return rows.size() > 1 || prefetchStreams() > 1; }
  /// Returns a constant of |type|, a vector of integers, with |value| in all lanes.
  mlir::Value splatOf(mlir::VectorType type, int64_t value);

  mlir::tiles::GroupedProductOp op;
  mlir::xfmr::WeightFormat format;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_GROUPEDTILE_H
