//===- PanelPrefetch.h - Asking for weights before they are used ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H
#define ATTUNE_COMPILER_TARGET_CPU_PANELPREFETCH_H

#include "compiler/Target/CPU/VectorEmitter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Brings weights into the L2 cache before they are used: panels follow each other in memory, and in a model of many layers they come from
/// DRAM. If a block of rows is one row tile, every line of the panel is asked for, some KiB ahead of its use; otherwise the row tiles of a
/// block share the lines of the next panel among them, so that memory is as busy during the last tile as during the first.
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
