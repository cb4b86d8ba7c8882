//===- ProjectionLoop.h - A loop that is one low-precision projection -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONLOOP_H
#define ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONLOOP_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace attune {

/// A parallel loop over the rows and columns of one projection, of whole matrices that are there before it. Its iterations need not stay
/// blocks: what one computes can be made anywhere, for any part of the tile.
struct ProjectionLoop {
  mlir::scf::ForallOp loop;
  LowPrecisionProjection projection;
  /// The matrices.
  mlir::Value input, panels;

  /// Clones what the operations of iteration (|row|, |column|), and they themselves, at the insertion point.
  LowPrecisionProjection cloneAt(mlir::OpBuilder &builder, mlir::Value row, mlir::Value column);
  /// The row of |input| that is the first of a clone.
  static mlir::Value firstRow(LowPrecisionProjection clone, mlir::OpBuilder &builder);
  /// Erases the operations of a clone; what they needed stays.
  static void erase(LowPrecisionProjection clone);
};

/// The projection that |loop| is, if it is one and takes tiles of |rows| rows in one step.
std::optional<ProjectionLoop> matchProjectionLoop(mlir::scf::ForallOp loop, int64_t rows);

/// The loop of blocks that compute the tiles of |whole| by wgmma on |arch| alone, in the place of its loop, which is erased. |columns| and
/// |stages| are those of a tile.
mlir::scf::ForallOp emitWgmmaGemm(ProjectionLoop whole, int64_t arch, int64_t columns, int64_t stages);

/// Rows of a tile that warpgroups make.
inline constexpr int64_t kWarpgroupRows = 128;

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONLOOP_H
