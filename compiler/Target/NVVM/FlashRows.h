//===- FlashRows.h - Rows of attention in a warp ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H
#define ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H

#include "compiler/Target/NVVM/RowAttention.h"
#include "compiler/Target/NVVM/TensorCores.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Keys of a step, and the largest head size whose operands fit in registers.
inline constexpr int64_t kFlashKeys = 64, kLargestHead = 128;

/// The online softmax of a warp's 16 rows (pairs of a query and a head) in the accumulator layout of mma.sync and
/// wgmma: lane 4 g + t has rows g and g + 8 and, of each eight columns of scores or results, columns 2t and 2t + 1.
class FlashRows {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  FlashRows(mlir::tiles::AttentionTileOp op, ThreadBuilder &e, Value lane);

  /// Selects the rows from |first| on and loads their queries. The warp stores their results only if |stores| (null:
  /// always).
  void take(Value first, Value stores = {});
  /// Returns the range [begin, end) of keys that the rows from |first| to |last| visit.
  std::pair<Value, Value> visitedKeys(Value first, Value last);
  /// Returns the range of keys, in steps of |step| from |visited|'s first key on, that every row from |first| to |last|
  /// sees whole; |visited| is the result of visitedKeys.
  std::pair<Value, Value> seenKeys(Value first, Value last, std::pair<Value, Value> visited, int64_t step);
  /// Return the values before the first key: both rows' maxima and the lane's parts of their sums; the lane's results.
  Values initialState();
  Values initialResults();
  /// Emits one online-softmax step: turns |products|, those of the keys from |begin| on, into unnormalized
  /// probabilities and updates maxima and sums in |state|. If |areSeen|, no key is hidden. Returns the factor of each
  /// row's earlier results.
  std::pair<Value, Value> weigh(Value begin, bool areSeen, llvm::MutableArrayRef<Value> products, llvm::MutableArrayRef<Value> state);
  void rescale(llvm::MutableArrayRef<Value> results, std::pair<Value, Value> factors);
  /// Returns the operand A for 16 keys: the rounded probabilities |weights| from key |key| on.
  Values operand(llvm::ArrayRef<Value> weights, int64_t key);
  /// Normalizes and stores the results, and recomputes fully masked rows. |barrier| emits a barrier that makes the
  /// lanes' stores visible to each other.
  void finish(mlir::ValueRange state, mlir::ValueRange results, llvm::function_ref<void()> barrier);

  /// The number of rows of the tile, and the components of a query and of a value.
  Value count;
  int64_t headDim, valueDim;
  TensorCores cores;
  RowAttention rows;
  /// The queries as operand A: four words for each 16 components.
  Values queries;

private:
  /// The first key that each row sees, null for 0, and the key after the last one.
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

/// Returns true if rows of |from| can be read 16 bytes at a time.
mlir::Value isAligned(ThreadBuilder &e, mlir::Value from);
/// Loads eight f32 of a row of |from| from |column| on, four at once.
ThreadBuilder::Values loadAlignedEight(ThreadBuilder &e, mlir::Value from, llvm::ArrayRef<mlir::Value> row, mlir::Value column);
/// Loads eight f32 from |column| on, also if they are not aligned; columns from |columns| on are zeros.
ThreadBuilder::Values loadEight(ThreadBuilder &e, mlir::Value from, llvm::ArrayRef<mlir::Value> row, int64_t columns, mlir::Value column,
                                mlir::Value isAligned);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H
