//===- ProjectionStrips.h - Tiles of persistent blocks ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tiles of a projection that a block of warpgroups computes, one after another. Tiles are numbered so that 16 tiles
// below each other come before the 16 tiles beside them, so concurrent tiles share rows and columns in the L2 cache. No
// atomic counter is needed: block b computes the tiles b, b + blocks, ...
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONSTRIPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONSTRIPS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// The tiles of kWarpgroupRows rows in place of the iterations of a loop over (row, column).
class ProjectionStrips {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// Creates by |host| the loop over blocks of |threads| threads in place of |before|: one for each multiprocessor, but not
  /// more than there are tiles, which have |columns| columns. Only the architecture |arch| runs it.
  mlir::scf::ForallOp createLoop(ThreadBuilder &host, mlir::scf::ForallOp before, int64_t columns, int64_t threads, int64_t arch);
  /// Leaves out, in the loop's body, the tiles behind the last token if the rows of |before| are packed tokens.
  void skipRows(mlir::scf::ForallOp before, ThreadBuilder &e);
  /// Emits the loop over the tiles of this block. |body| gets the first row and the first column of the tile.
  void forEach(ThreadBuilder &e, mlir::ValueRange initial,
               llvm::function_ref<Values(Value row, Value column, mlir::ValueRange carried)> body) const;

private:
  Value rowTiles, columnTiles, block, blocks;
  int64_t columns = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONSTRIPS_H
