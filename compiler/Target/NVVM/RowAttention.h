//===- RowAttention.h - Scores of attention, one at a time -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H
#define ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "compiler/Transforms/AttentionRow.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Keys of a step of the online softmax in WarpAttention and in ThreadAttention. With equal steps, both give a row the
/// same bits if all values are finite.
inline constexpr int64_t kAttentionKeys = 64;

/// Emits the parts of `tile.attention_tile` that concern one row and one key: the product of query and key, the score
/// (scale, mask, biases, position) and the factor that normalizes a result. Scores are multiplied by log2(e), as the
/// operation's description says, so that the softmax uses 2^x.
class RowAttention {
public:
  using Value = mlir::Value;
  using Row = AttentionRow;

  RowAttention(mlir::tiles::AttentionTileOp op, ThreadBuilder &e);

  /// Returns row |number| of the tile: the pair (query, head) = (number / heads, number mod heads).
  Row rowAt(Value number);
  /// Returns the range [begin, end) of keys to visit for |row|: those that positions leave visible, or all keys if the
  /// operation returns the scores of all keys.
  std::pair<Value, Value> keysOf(const Row &row);
  /// Returns the range [begin, end) of the keys that are visible to at least one of the rows |first| to |last|, or of all
  /// keys if the operation returns the scores of all keys. Here and below, a key is visible to a row if positions do not
  /// hide it; masks only change scores.
  std::pair<Value, Value> visitedKeys(Value first, Value last);
  /// Returns the range [begin, end) of the keys in the range |visited| that are visible to every row from |first| to
  /// |last|, shortened to whole steps. A step is |step| keys, and the first one begins at |visited|'s first key.
  std::pair<Value, Value> seenKeys(Value first, Value last, std::pair<Value, Value> visited, int64_t step);
  /// The visible keys [first, end) of a row, as 32-bit distances from some key. |first| is null without a left window.
  struct Limits {
    Value first, end;
  };
  /// Returns the limits of |row| as distances from |key|.
  Limits limitsFrom(const Row &row, Value key);
  /// Returns |score| if a key at |distance| is inside |limits|, else -infinity. The key may be past the last one.
  Value hide(Value score, int64_t distance, const Limits &limits);
  /// Returns the dot product of |row|'s query and |key|, with the terms of relative positions if there are any.
  Value product(const Row &row, Value key);
  /// Returns the score of an existing |key| from |product|: -infinity if positions hide the key. If |isSeen|, positions
  /// are not tested: the caller knows that the key is visible, or replaces the score. If the operation returns the
  /// scores of a stage before the softmax, stores the score of |key| at that stage.
  Value score(const Row &row, Value key, Value product, bool isSeen = false);
  /// Returns the factor that normalizes the results of |row|: the head scale (1 if there is none) divided by the sum of
  /// |sum| and of the term of the attention sink, if there is one. |sum| is the sum of 2^(score - |maximum|) over the
  /// keys. The factor is 0 if |sum| is 0, for example without keys; with `masked_rows = zero` it is also 0 for a fully
  /// masked row.
  Value factor(const Row &row, Value maximum, Value sum);
  /// Returns an i1, true for a fully masked row: |maximum| is at most kHiddenTimesLog2E, and |sum| is not NaN. A row
  /// with a NaN among its scores may have such a maximum, too, since a maximum ignores NaN, but its sum is NaN.
  Value seesNone(Value maximum, Value sum);
  /// Returns the unnormalized probability of |key| in a fully masked row: 1.0 if `masked_rows` selects the key, else
  /// 0.0.
  Value maskedWeight(const Row &row, Value key);

  /// The number of keys of the operation and of heads of its tile.
  Value keys, heads;

private:
  /// A column of a table of relative positions; |table| is null if the operation has no such table.
  struct RelativeRow {
    Value table, head, column;
  };

  Value keyComponent(Value key, Value d);
  Value keyScale(Value key);
  RelativeRow relativeRow(const Row &row, Value key, Value table);
  Value relativeComponent(const RelativeRow &place, Value d);
  Value mask(const Row &row, Value key);
  void capture(const Row &row, mlir::xfmr::ScoreStage stage, Value value, Value key);
  Value isHiddenByPosition(const Row &row, Value key);
  Value isHiddenByMask(const Row &row, Value key);

  mlir::tiles::AttentionTileOp op;
  ThreadBuilder &e;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_ROWATTENTION_H
