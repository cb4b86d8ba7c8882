//===- ProjectionLoop.h - Loops that are one projection ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONLOOP_H
#define ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONLOOP_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace attune {

/// A parallel loop over (row, column) that computes one projection of two matrices defined before the loop.
///
/// The loop's body is only index arithmetic, views and the projection, so it can be cloned for any (row, column). This
/// lets an emitter choose its own tiles instead of the loop's iterations: it clones the body once to get the first row
/// of the input, and once per part of the tile that it stores, to get the epilogue with its operands (WgmmaGemm.cpp).
///
///   scf.forall (%i, %j)                    whole.input    [rows, K]
///     %a = subview %input[%i, 0]     <--   whole.panels   [columns / 64, K / 8, 64, 8]
///     %b = subview %panels[%j / 64, 0, %j % 64, 0]
///     %c = subview %output[%i, %j]
///     linalg.fill %c; linalg.generic %c += %a %b; linalg.generic %c = epilogue(%c)     all three erased from a clone
struct ProjectionLoop {
  mlir::scf::ForallOp loop;
  LowPrecisionProjection projection;
  /// The whole matrices: the input [rows, K] and the weight panels [columns / 64, K / 8, 64, 8].
  mlir::Value input, panels;

  /// Clones the operations of iteration (|row|, |column|) and their operands at the insertion point.
  LowPrecisionProjection cloneAt(mlir::OpBuilder &builder, mlir::Value row, mlir::Value column);
  /// Returns the row of |input| at which a clone begins.
  static mlir::Value firstRow(LowPrecisionProjection clone, mlir::OpBuilder &builder);
  /// Erases the projection's operations of a clone; the operations that compute their operands stay.
  static void erase(LowPrecisionProjection clone);
};

/// Returns |loop| as a ProjectionLoop if it computes one projection and its inner loops, if any, have at most one
/// iteration and a step of at least |rows|; else nullopt.
std::optional<ProjectionLoop> matchProjectionLoop(mlir::scf::ForallOp loop, int64_t rows);

/// A parallel loop over (row, column) that computes one product by quantized weights; its rows are a matrix defined before
/// the loop. It can be cloned like a ProjectionLoop.
struct GroupedLoop {
  mlir::scf::ForallOp loop;
  mlir::tiles::GroupedProductOp product;
  /// The whole matrix of rows.
  mlir::Value input;

  /// Clones the product of iteration (|row|, |column|) and its operands at the insertion point.
  mlir::tiles::GroupedProductOp cloneAt(mlir::OpBuilder &builder, mlir::Value row, mlir::Value column);
  /// Returns the row of |input| at which a clone begins.
  static mlir::Value firstRow(mlir::tiles::GroupedProductOp clone, mlir::OpBuilder &builder);
};

/// Returns |loop| as a GroupedLoop if it computes one product and its inner loops, if any, have at most one iteration
/// and a step of at least |rows|; else nullopt.
std::optional<GroupedLoop> matchGroupedLoop(mlir::scf::ForallOp loop, int64_t rows);

/// The rows of a thread-block tile; each of the two consuming warpgroups computes half of them.
inline constexpr int64_t kWarpgroupRows = 128;

/// A thread-block tile of kWarpgroupRows rows: its columns, its pipeline stages, and the rows and columns of an iteration
/// of the loop that it replaces, 128 or 64.
struct WgmmaTile {
  int64_t columns, stages, iteration;
};

/// Replaces the loop of |whole| by a loop over persistent blocks that compute tiles |tile| by wgmma. Only the
/// architecture |arch| runs it. Returns the new loop.
mlir::scf::ForallOp emitWgmmaGemm(ProjectionLoop whole, int64_t arch, const WgmmaTile &tile);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONLOOP_H
