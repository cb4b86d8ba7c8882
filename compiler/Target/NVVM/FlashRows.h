//===- FlashRows.h - Rows of attention in a warp ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H
#define ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H

#include "compiler/Target/NVVM/RowAttention.h"
#include "compiler/Target/NVVM/TensorCores.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Keys that are visited at once, and the largest head whose operands registers hold.
inline constexpr int64_t kFlashKeys = 64, kLargestHead = 128;

/// What a warp does with its 16 rows (pairs of a query and a head) of attention by tensor cores, whichever instructions multiply: lane 4 g
/// + t has rows g and g + 8 and, of each eight columns of scores or results, 2t and 2t + 1.
class FlashRows {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  FlashRows(mlir::tiles::AttentionTileOp op, ThreadBuilder &e, Value lane);

  /// Goes on with the rows from |first| on, those the warp stores only if it |stores| (null: all).
  void take(Value first, Value stores = {});
  /// The keys that the rows from |first| to |last| visit.
  std::pair<Value, Value> visitedKeys(Value first, Value last);
  /// Where the steps of |step| keys begin and end that all of these rows see whole; |visited| are the keys above.
  std::pair<Value, Value> seenKeys(Value first, Value last, std::pair<Value, Value> visited, int64_t step);
  /// Maxima and the lane's parts of the sums of both rows before the first key, and results.
  Values initialState();
  Values initialResults();
  /// Makes weights of |products|, those of the keys from |begin| on, all of them seen or not, and brings |state| up to date. Returns for
  /// both rows what results so far must be multiplied by.
  std::pair<Value, Value> weigh(Value begin, bool areSeen, llvm::MutableArrayRef<Value> products, llvm::MutableArrayRef<Value> state);
  void rescale(llvm::MutableArrayRef<Value> results, std::pair<Value, Value> factors);
  /// The operand A for 16 keys, from |key| of |weights| on.
  Values operand(llvm::ArrayRef<Value> weights, int64_t key);
  /// Stores the results. |barrier| makes what lanes have stored visible to others.
  void finish(mlir::ValueRange state, mlir::ValueRange results, llvm::function_ref<void()> barrier);

  /// How many rows there are, and how many components.
  Value count;
  int64_t headDim, valueDim;
  TensorCores cores;
  RowAttention rows;
  /// The operands of queries, four words for each 16 components.
  Values queries;

private:
  /// The first key that a row sees, null for 0, and the one behind the last.
  struct Limits {
    Value first[2], end[2];
  };
  Limits limitsFrom(Value begin);
  Value queryWord(const AttentionRow &row, int64_t d);

  mlir::tiles::AttentionTileOp op;
  ThreadBuilder &e;
  Value lane, first;
  AttentionRow row[2];
  Value exists[2];
};

/// Whether rows of |from| can be read 16 bytes at a time.
mlir::Value isAligned(ThreadBuilder &e, mlir::Value from);
/// Eight f32 of a row of |from|, at |column| and behind, four at once.
ThreadBuilder::Values loadAlignedEight(ThreadBuilder &e, mlir::Value from, llvm::ArrayRef<mlir::Value> row, mlir::Value column);
/// The same in any place, zeros from |columns| on.
ThreadBuilder::Values loadEight(ThreadBuilder &e, mlir::Value from, llvm::ArrayRef<mlir::Value> row, int64_t columns, mlir::Value column,
                                mlir::Value isAligned);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H
