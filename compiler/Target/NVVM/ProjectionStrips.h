//===- ProjectionStrips.h - Tiles of persistent blocks ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The order in which blocks of warpgroups compute the tiles of a projection. A strip is 16 rows of tiles. Tiles are
// numbered strip by strip, and in a strip column by column, each from top to bottom, so that concurrent tiles share
// rows and columns in the L2 cache. No atomic counter is needed: block b computes the tiles b, b + blocks, ...
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONSTRIPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONSTRIPS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Assigns tiles of kWarpgroupRows rows to persistent blocks.
class ProjectionStrips {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// Creates, at the insertion point of |host|, a loop over blocks of |threads| threads, which replaces |before|, a
  /// loop over (row, column) that the caller erases. The number of blocks is that of multiprocessors, but at most that
  /// of tiles. A tile has |columns| columns. Only the architecture |arch|, ten times the compute capability, runs the
  /// loop. If the rows of |before| are packed tokens, the blocks skip tiles without a token.
  ProjectionStrips(ThreadBuilder &host, mlir::scf::ForallOp before, int64_t columns, int64_t threads, int64_t arch);

  mlir::scf::ForallOp getLoop() const { return loop; }
  /// Returns a builder at the end of the loop's body.
  ThreadBuilder bodyBuilder() const { return ThreadBuilder(loop->getLoc(), mlir::scf::ForallOp(loop).getBody()->getTerminator()); }
  /// Emits the loop over the tiles of the block that runs it. |body| gets the first row and the first column of a tile
  /// and the carried values, at first |initial|, and returns the next carried values.
  void forEach(ThreadBuilder &e, mlir::ValueRange initial,
               llvm::function_ref<Values(Value row, Value column, mlir::ValueRange carried)> body) const;

private:
  mlir::scf::ForallOp loop;
  Value rowTiles, columnTiles, blocks;
  int64_t columns;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONSTRIPS_H
