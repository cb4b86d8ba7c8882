//===- WholeProjection.h - A loop that is one projection of codes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WHOLEPROJECTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_WHOLEPROJECTION_H

#include "compiler/Target/NVVM/CodeProjection.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace attune {

/// A parallel loop over the rows and columns of one projection, of whole matrices that are there before it. Its iterations need not stay
/// blocks: what one computes can be made anywhere, for any part of the tile.
struct WholeProjection {
  mlir::scf::ForallOp loop;
  CodeProjection projection;
  /// The matrices.
  mlir::Value input, panels;

  /// Clones what the operations of iteration (|row|, |column|), and they themselves, at the builder's place.
  CodeProjection cloneAt(mlir::OpBuilder &builder, mlir::Value row, mlir::Value column);
  /// The row of |input| that is the first of a clone.
  static mlir::Value firstRow(CodeProjection clone, mlir::OpBuilder &builder);
  /// Erases the operations of a clone; what they needed stays.
  static void erase(CodeProjection clone);
};

/// The projection that |loop| is, if it is one and takes tiles of |rows| rows in one step.
std::optional<WholeProjection> findWholeProjection(mlir::scf::ForallOp loop, int64_t rows);

/// The loop of blocks that make the tiles of |whole| by what only one GPU has, in the place of its loop, which is erased. |arch| is that
/// GPU's, |columns| and |stages| are those of a tile.
mlir::scf::ForallOp emitCodeWarpgroups(WholeProjection whole, int64_t arch, int64_t columns, int64_t stages);

/// Rows of a tile that warpgroups make.
inline constexpr int64_t kWarpgroupRows = 128;

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WHOLEPROJECTION_H
