//===- RowAttention.h - Scores of attention, one at a time -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "compiler/Transforms/AttentionRow.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// What becomes of the product of a query and a key: everything of `tile.attention_tile` between the two matrix products, for one score.
/// Scores are in units of log2, as on the page of the operation.
class RowAttention {
public:
  using Value = mlir::Value;
  using Row = AttentionRow;

  RowAttention(mlir::tiles::AttentionTileOp op, ThreadBuilder &e);

  Row rowAt(Value number);
  /// The keys to visit for |row|: all, or those it sees.
  std::pair<Value, Value> keysOf(const Row &row);
  /// query . key, with the terms of relative positions.
  Value product(const Row &row, Value key);
  /// The score of an existing |key|, which position may hide unless it |isSeen|; stores what the operation is asked for of it.
  Value score(const Row &row, Value key, Value product, bool isSeen = false);
  /// |sum| of the weights becomes what results are multiplied by; |maximum| is the row's.
  Value factor(const Row &row, Value maximum, Value sum);
  /// The weight of |key| in a row without a visible key, where such rows follow a rule of their own.
  Value maskedWeight(const Row &row, Value key);

  Value keys, heads;

private:
  Value keyComponent(Value key, Value d);
  Value mask(const Row &row, Value key);
  void capture(const Row &row, mlir::xfmr::ScoreStage stage, Value value, Value key);
  Value isHiddenByPosition(const Row &row, Value key);
  Value isHiddenByMask(const Row &row, Value key);

  mlir::tiles::AttentionTileOp op;
  ThreadBuilder &e;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H
