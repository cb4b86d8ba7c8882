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
///   scf.forall (%i, %j)
///     %a = subview %input[%i, 0]                       %input    [rows, K]
///     %b = subview %panels[%j / 64, 0, %j % 64, 0]     %panels   [columns / 64, K / 8, 64, 8]
///     %c = subview %output[%i, %j]
///     linalg.fill %c; linalg.generic %c += %a %b; linalg.generic %c = epilogue(%c)     `erase` erases these of a clone
struct ProjectionLoop {
  mlir::scf::ForallOp loop;
  LowPrecisionProjection projection;
  /// The whole matrices: the input [rows, K] and the weight panels [columns / 64, K / 8, 64, 8].
  mlir::Value input, panels;

  /// Clones the operations of iteration (|row|, |column|) at the insertion point. Returns the projection among the
  /// clones.
  LowPrecisionProjection cloneAt(mlir::OpBuilder &builder, mlir::Value row, mlir::Value column);
  /// Returns the row of |input| at which a clone begins.
  static mlir::Value firstRow(LowPrecisionProjection clone, mlir::OpBuilder &builder);
  /// Erases the projection's operations of a clone; the operations that compute their operands stay.
  static void erase(LowPrecisionProjection clone);
};

/// Returns |loop| as a ProjectionLoop if it computes one projection and its inner loops, if any, have at most one
/// iteration and a step of at least |rows|; else nullopt.
std::optional<ProjectionLoop> matchProjectionLoop(mlir::scf::ForallOp loop, int64_t rows);

/// A product by quantized weights and its fused epilogue (findFusedEpilogue), null if there is none.
struct GroupedProjection {
  mlir::tiles::GroupedProductOp product;
  mlir::linalg::LinalgOp epilogue;

  /// Returns the part of the result that the projection writes: the output of the epilogue, if there is one.
  mlir::Value getOutput() { return epilogue ? epilogue.getDpsInits()[0] : product.getDestination(); }
};

/// A parallel loop over (row, column) that computes one projection by quantized weights. The rows of the product are a
/// part of a matrix that is defined before the loop. The loop's body can be cloned like that of a ProjectionLoop.
struct GroupedLoop {
  mlir::scf::ForallOp loop;
  GroupedProjection projection;
  /// The matrix of which the rows of the product are a part.
  mlir::Value input;

  /// Clones the operations of iteration (|row|, |column|) at the insertion point. Returns the projection among the
  /// clones.
  GroupedProjection cloneAt(mlir::OpBuilder &builder, mlir::Value row, mlir::Value column);
  /// Returns the row of |input| at which a clone begins.
  static mlir::Value firstRow(GroupedProjection clone, mlir::OpBuilder &builder);
  /// Erases the projection's operations of a clone; the operations that compute their operands stay.
  static void erase(GroupedProjection clone);
};

/// Returns |loop| as a GroupedLoop if it computes one projection and its inner loops, if any, have at most one iteration
/// and a step of at least |rows|; else nullopt.
std::optional<GroupedLoop> matchGroupedLoop(mlir::scf::ForallOp loop, int64_t rows);

/// The rows of a thread-block tile of warpgroups. In a projection by weights of bf16 or f16, each of the two consuming
/// warpgroups computes half of them.
inline constexpr int64_t kWarpgroupRows = 128;

/// A thread-block tile of kWarpgroupRows rows: its columns, its pipeline stages, and the number of rows, which is also
/// that of columns, of an iteration of the loop that the tiles replace: 128 or 64.
struct WgmmaTile {
  int64_t columns, stages, iteration;
};

/// Replaces the loop of |whole| by a loop over persistent blocks that compute tiles |tile| by wgmma. Only the
/// architecture |arch|, ten times the compute capability, runs the new loop. Returns the new loop.
mlir::scf::ForallOp emitWgmmaGemm(ProjectionLoop whole, int64_t arch, const WgmmaTile &tile);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONLOOP_H
