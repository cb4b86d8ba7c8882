//===- AttentionScores.h - Scores of a block of keys ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_ATTENTIONSCORES_H
#define ATTUNE_COMPILER_TARGET_CPU_ATTENTIONSCORES_H

#include "compiler/Target/CPU/AttentionGroup.h"

namespace attune {

/// Emits the scores of a group of rows for one block of keys at a time.
class AttentionScores {
public:
  using Value = mlir::Value;
  using Values = VectorBuilder::Values;

  /// |maxVectors| is the maximum number of vectors of 16 keys whose scores are in registers at once, for each row of
  /// |group|.
  AttentionScores(mlir::tiles::AttentionTileOp op, VectorBuilder &b, const AttentionGroup &group, int64_t maxVectors)
      : op(op), b(b), rows(group.rows), maxVectors(maxVectors) {}

  /// Emits the scores of |block|, times log2(e), and their stores to the scratch buffer. If `score_stage` is not
  /// `softmax`, also stores the scores of that stage to the destination of probabilities. Returns a vector for each
  /// row: lane l has the largest of the scores (times log2(e)) of the keys l, l + 16, l + 32, … of |block|, and at
  /// least the most negative f32.
  Values emit(const AttentionBlock &block);

private:
  using Row = AttentionGroup::Row;
  static constexpr int64_t kLanes = VectorBuilder::kLanes;

  Values loadKeyScales(int64_t vectors, mlir::Value panel, mlir::Value lane);
  Values emitProducts(int64_t vectors, Value panel, Value lane);
  Values emitColumns(Value table, Value key, int64_t vectors, bool inside);
  Values emitRelativeProducts(Value key, int64_t vectors, Value panel, Value lane);
  Values emitRelativeProducts(Value key, int64_t vectors, Value panel, Value lane, bool inside);
  Value emitScore(const Row &row, Value product, Value key, Lanes lanes, Value sharedMask);
  Value loadMask(const Row &row, Value key, Lanes lanes);
  void storeStage(const Row &row, mlir::xfmr::ScoreStage stage, Value value, Value key, Lanes lanes);
  Value hide(const Row &row, Value score, Value key, Value hidden);
  bool hasMaskPerRow();

  mlir::tiles::AttentionTileOp op;
  VectorBuilder &b;
  llvm::ArrayRef<Row> rows;
  int64_t maxVectors;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_ATTENTIONSCORES_H
