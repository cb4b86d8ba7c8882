//===- RowAttention.h - Scores of attention, one at a time -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H

#include "compiler/Target/NVVM/ThreadEmitter.h"
#include "dialect/IR/XfmrOps.h"

namespace attune {

/// What becomes of the product of a query and a key: everything of `xfmr.attention_tile` between the two matrix products, for one score.
/// Scores are in units of log2, as on the page of the operation.
class RowAttention {
public:
  using Value = mlir::Value;
  static constexpr double kLog2E = 1.44269504088896340736;
  /// Stands for a score that a mask hides.
  static constexpr double kLowest = std::numeric_limits<float>::lowest();
  /// Scores up to this are hidden.
  static constexpr double kHidden = kLowest / 2;

  /// A pair of a query and a head.
  struct Row {
    Value query, head;
    /// Place among the keys, and the keys [first, end) that it sees; absent if nothing hides by position.
    Value position, first, end;
  };

  RowAttention(mlir::xfmr::AttentionTileOp op, ThreadEmitter &e);

  Row rowAt(Value number);
  /// The keys to visit for |row|: all, or those it sees.
  std::pair<Value, Value> keysOf(const Row &row);
  /// query . key, with the terms of relative positions.
  Value product(const Row &row, Value key);
  /// The score of an existing |key|; stores what the operation is asked for of it.
  Value score(const Row &row, Value key, Value product);
  /// |sum| of the weights becomes what results are multiplied by; |maximum| is the row's.
  Value factor(const Row &row, Value maximum, Value sum);
  /// Whether rows without a visible key follow a rule of their own, and the weight of |key| in such a row.
  bool needsMaskedRows();
  Value maskedWeight(const Row &row, Value key);

  Value keys, heads;

private:
  Value mask(const Row &row, Value key);
  Value broadcast(Value buffer, int64_t dim, Value row);
  void capture(const Row &row, mlir::xfmr::ScoreStage stage, Value value, Value key);
  Value isHiddenByPosition(const Row &row, Value key);
  Value isHiddenByMask(const Row &row, Value key);

  mlir::xfmr::AttentionTileOp op;
  ThreadEmitter &e;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H
