//===- PanelPrefetch.h - Asking for weights before they are used ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H
#define ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H

#include "compiler/Target/CPU/VectorEmitter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// The lines that one iteration of a k loop asks for in the next panel.
struct PrefetchedLines {
  /// The row of the panel that the columns are counted from; they go on beyond it, as rows follow each other.
  mlir::Value row;
  llvm::SmallVector<mlir::Value> columns;
};

/// The lines for iteration |iteration| of |iterations| over a panel of |panelType|, [panels, rows, columns]: it is divided among |shares|
/// row tiles, of which this is |rowTile|, and each share into four streams that advance side by side. Memory gives a core 10 GB/s of 16 for
/// one stream and all for four, however far ahead it is asked (Emerald Rapids VM, 2026-11-22). A few lines after the panel may be among
/// them.
PrefetchedLines linesToPrefetch(VectorEmitter &emitter, mlir::MemRefType panelType, mlir::Value rowTile, int64_t shares,
                                mlir::Value iteration, int64_t iterations);

/// Brings weights into the L2 cache before they are used: panels follow each other in memory, and in a model of many layers they come from
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
  PanelPrefetch(VectorEmitter &emitter, mlir::linalg::LinalgOp op, mlir::Value panel, int64_t unroll);

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
  void prefetch(mlir::Value panelIndex, mlir::Value row, mlir::Value column);

  VectorEmitter &emitter;
  mlir::Value panel, tile, tiles;
  int64_t unroll, depth = 0, width = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H
