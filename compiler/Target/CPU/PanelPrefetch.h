//===- PanelPrefetch.h - Asking for weights before they are used ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H
#define ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H

#include "compiler/Target/CPU/VectorBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// How a CPU's memory is asked for weights.
struct PrefetchPlan {
  /// Parts of the next panel that one or two row tiles ask for side by side, into the L2 cache. With 1, a single row tile asks for what
  /// comes |aheadBytes| after the weights in use instead, into the L1 cache.
  int64_t streams = 4;
  /// How far ahead of the weights in use panels side by side ask for them.
  int64_t aheadBytes = 16384;
};

/// Emits the prefetches of iteration |iteration| of |iterations| over the rows of panel |current| of |panels|, [panels, rows, columns]: the
/// lines of one panel are divided among |shares| row tiles, of which this is |rowTile|. A few lines after the panel may be among them.
void emitPanelPrefetch(VectorBuilder &builder, PrefetchPlan plan, mlir::Value panels, mlir::Value current, mlir::Value rowTile,
                       int64_t shares, mlir::Value iteration, int64_t iterations);

/// Brings weights into a cache before they are used: panels follow each other in memory, and in a model of many layers they come from
/// DRAM. The row tiles of a block share the lines of the next panel among them, so that memory is as busy during the last tile as during
/// the first.
class PanelPrefetch {
public:
  /// A way to prefetch: each row tile asks for the lines of the panel divided by |shares|; for blocks of up to |maxTiles| row tiles.
  struct Variant {
    int64_t shares, maxTiles;
  };

  /// For the contraction |op| over |panel|, whose k loop has |unroll| steps per iteration in a whole tile. Active if |op| is in a loop over
  /// row tiles.
  PanelPrefetch(VectorBuilder &builder, PrefetchPlan plan, mlir::linalg::LinalgOp op, mlir::Value panel, int64_t unroll);

  bool isActive() const { return tile != nullptr; }
  /// How many row tiles the block has.
  mlir::Value getTiles() const { return tiles; }
  /// The variants from few tiles to many; the last one, of one line per iteration, is for any number.
  llvm::SmallVector<Variant> getVariants() const;
  /// Emits the prefetches of |variant| for the iteration of |steps| steps that begins at |k|; the current panel is |current|.
  void emit(Variant variant, mlir::Value current, mlir::Value k, int64_t steps);
  /// Emits the prefetches of step |k| where |panels| panels are read side by side, for panel |current|.
  void emitSideBySide(mlir::Value current, mlir::Value k, int64_t panels);

private:
  VectorBuilder &builder;
  PrefetchPlan plan;
  mlir::Value panel, tile, tiles;
  int64_t unroll, depth = 0, width = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H
