//===- PanelPrefetch.h - Prefetches of weight panels ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H
#define ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H

#include "compiler/Target/CPU/VectorBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Prefetch parameters for weight panels. A row tile is the rows whose sums are in registers at once; a block of rows
/// has one or more row tiles, which use the same panel one after the other.
struct PrefetchPlan {
  /// The number of parts of the next panel that a block of up to three row tiles prefetches side by side, into the L2
  /// cache. With 1 part, a block of one row tile instead prefetches the weights |aheadBytes| after those in use, into
  /// the L1 cache. Blocks of more than three row tiles always prefetch one part at a time.
  int64_t streams = 4;
  /// The prefetch distance, in bytes, of a block of one row tile with 1 stream. The distance in each of several panels
  /// that a single row reads side by side is this number divided by the number of panels.
  int64_t aheadBytes = 16384;
};

/// Emits the prefetches for iteration |iteration| of the |iterations| over the rows of panel |current| of |panels|,
/// [panels, rows, columns]. The cache lines of the next panel are divided into |shares| shares. |rowTile| is the index
/// of the row tile in its block; the tile prefetches share |rowTile| mod |shares|. A few lines after the next panel may
/// be prefetched, too. With one share and one stream, the prefetched lines are instead those at the distance of |plan|.
void emitPanelPrefetch(VectorBuilder &builder, PrefetchPlan plan, mlir::Value panels, mlir::Value current, mlir::Value rowTile,
                       int64_t shares, mlir::Value iteration, int64_t iterations);

/// Prefetches weights into a cache before they are used. Panels follow each other in memory, and in a model of many
/// layers they come from DRAM. The row tiles of a block divide the lines of the next panel among them, so that memory
/// is as busy during the last tile as during the first.
class PanelPrefetch {
public:
  /// One way to prefetch, for blocks of up to |maxTiles| row tiles: each row tile prefetches 1 / |shares| of the next
  /// panel.
  struct Variant {
    int64_t shares, maxTiles;
  };

  /// Prefetches for the contraction |op| over |panel|. The k loop of a whole tile has |unroll| steps per iteration.
  /// Active only if |op| is in an scf.for, which is the loop over row tiles, and |panel| has a static number of rows
  /// (K). If not, nothing is prefetched, and only isActive() may be called.
  PanelPrefetch(VectorBuilder &builder, PrefetchPlan plan, mlir::linalg::LinalgOp op, mlir::Value panel, int64_t unroll);

  bool isActive() const { return tile != nullptr; }
  /// Returns the number of row tiles of the block.
  mlir::Value getTiles() const { return tiles; }
  /// Returns the variants, ordered by |maxTiles|. The last one, with one line per iteration, is for any larger number
  /// of row tiles.
  llvm::SmallVector<Variant> getVariants() const;
  /// Emits the prefetches of |variant| for the iteration of the k loop over panel |current| that has the |steps| steps
  /// from |k| on.
  void emit(Variant variant, mlir::Value current, mlir::Value k, int64_t steps);
  /// Emits the prefetches of step |k| of panel |current|, one of |panels| that are read side by side.
  void emitSideBySide(mlir::Value current, mlir::Value k, int64_t panels);

private:
  VectorBuilder &builder;
  PrefetchPlan plan;
  mlir::Value panel, tile, tiles;
  int64_t unroll, depth = 0, width = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H
