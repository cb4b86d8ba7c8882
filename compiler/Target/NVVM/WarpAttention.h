//===- WarpAttention.h - Attention, a warp per row --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WARPATTENTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_WARPATTENTION_H

#include "compiler/Target/NVVM/DistributeOps.h"
#include "compiler/Target/NVVM/RowAttention.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Emits a tile of attention whose rows are the work of a warp each.
class WarpAttention {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  WarpAttention(mlir::tiles::AttentionTileOp op, ThreadBuilder &e);

  void run(const ThreadLoops &loops);
  /// The result of |which|, a row without a visible key: the mean of the values of the keys that the rule for masked rows names, all of
  /// them if it names none.
  void emitMaskedRow(const RowAttention::Row &which, Value laneNumber);

private:
  void emitRow();
  Values step(Value begin, Value end, mlir::ValueRange carried);
  Value column(int64_t part) { return e.min(e.add(lane, part * kWarp), e.index(columns - 1)); }
  /// Adds |weight| of lane j, for all j, times the values from |begin| on to |sums|.
  Values addValues(Value begin, Value end, Value weight, Values sums);
  void storeResult(mlir::ValueRange sums, Value factor);
  void forLaneKeys(Value begin, Value end, llvm::function_ref<void(Value key)> body);

  mlir::tiles::AttentionTileOp op;
  ThreadBuilder &e;
  RowAttention rows;
  int64_t columns, perLane;
  /// Where weights go, if they are asked for.
  Value target;
  Value lane;
  RowAttention::Row row;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPATTENTION_H
