//===- WarpAttention.h - Attention, a warp per row --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WARPATTENTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_WARPATTENTION_H

#include "compiler/Target/NVVM/DistributeOps.h"
#include "compiler/Target/NVVM/RowAttention.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Emits an attention tile with one warp per row.
class WarpAttention {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  WarpAttention(mlir::tiles::AttentionTileOp op, ThreadBuilder &e);

  void run(const ThreadLoops &loops);
  /// Writes the result of |which|, a fully masked row: the mean of the values of the keys that the operation's
  /// `masked_rows` selects, or of all keys if it selects none, times the head scale, if there is one. Also writes the
  /// probabilities, if the operation returns them. |laneNumber| is the thread's number in the warp.
  void emitMaskedRow(const RowAttention::Row &which, Value laneNumber);

  /// Emits the code of emitMaskedRow for those of the 16 rows from |first| on that exist and are fully masked. Such
  /// rows are rare, so they are computed one by one, each by all lanes of the warp. |stateOf| returns the maximum and
  /// the sum of row |first| + |local|.
  void emitMaskedRows(Value first, Value laneNumber, llvm::function_ref<std::pair<Value, Value>(Value local)> stateOf);

private:
  /// Returns true if keys before the first visible one are not visited.
  bool skipsKeys() { return op.getWindowLeft() && !visitsAllKeys(op); }
  void emitRow();
  Values step(Value begin, Value end, mlir::ValueRange carried);
  Value column(int64_t part) { return e.min(e.add(lane, part * kWarp), e.index(columns - 1)); }
  /// Returns |sums| plus the values of the keys |begin| + j, j from 0 to 31, times the |weight| of lane j, which must
  /// be 0 for keys from |end| on. A lane has the columns lane + 32 i of the sums.
  Values addValues(Value begin, Value end, Value weight, Values sums);
  void storeResult(mlir::ValueRange sums, Value factor);
  /// Emits a loop over the lane's keys in [begin, end): |begin| + lane and every 32nd key after it.
  void forLaneKeys(Value begin, Value end, llvm::function_ref<void(Value key)> body);

  mlir::tiles::AttentionTileOp op;
  ThreadBuilder &e;
  RowAttention rows;
  int64_t columns, perLane;
  /// The destination of the probabilities, null if the operation does not return them.
  Value target;
  Value lane;
  RowAttention::Row row;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPATTENTION_H
