//===- FlashRows.h - Rows of attention in a warp ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H
#define ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H

#include "compiler/Target/NVVM/RowAttention.h"
#include "compiler/Target/NVVM/TensorCores.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Keys of a step of FlashAttention, and the largest head size whose operands fit in registers.
inline constexpr int64_t kFlashKeys = 64, kLargestHead = 128;

/// The online softmax of a warp's 16 rows (pairs of a query and a head) in the accumulator layout of mma.sync and
/// wgmma: lane 4 g + t has rows g and g + 8 and, of each eight columns of scores or results, columns 2t and 2t + 1.
class FlashRows {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  FlashRows(mlir::tiles::AttentionTileOp op, ThreadBuilder &e, Value lane);

  /// Selects the 16 rows from |first| on and loads their queries. `finish` stores the results of those rows that the
  /// tile has. A null |stores| means true; if the i1 |stores| is false, `finish` stores no normalized results, but
  /// still recomputes and stores fully masked rows. A warpgroup passes false if another one computes the same rows:
  /// both write equal values to fully masked rows.
  void take(Value first, Value stores = {});
  /// Return the values before the first key. The state is the running maxima of the scores of the lane's two rows, then
  /// this lane's parts of the running sums of their probabilities. The results are this lane's accumulators.
  Values initialState();
  Values initialResults();
  /// Emits one step of the online softmax. |products| are the products of queries and keys from |begin| on; they are
  /// replaced by unnormalized probabilities. Updates the maxima and sums in |state|. If |areSeen|, the caller knows
  /// that all keys of the step exist and that positions hide none of them, so the emitted code does not test it.
  /// Returns, for each of the two rows, the factor by which earlier results must be multiplied.
  std::pair<Value, Value> weigh(Value begin, bool areSeen, llvm::MutableArrayRef<Value> products, llvm::MutableArrayRef<Value> state);
  /// Multiplies |results| by the factors that weigh returned.
  void rescale(llvm::MutableArrayRef<Value> results, std::pair<Value, Value> factors);
  /// Returns the operand A for the keys |key| to |key| + 15 of a step: their probabilities, rounded to 16 bits.
  /// |weights| are this lane's probabilities of all keys of the step.
  Values operand(llvm::ArrayRef<Value> weights, int64_t key);
  /// Normalizes and stores the results, then recomputes fully masked rows if the softmax does not give them the result
  /// that the operation requires. |barrier| emits the barrier between both, of the block or of the warpgroup: a lane
  /// overwrites results that other lanes have stored.
  void finish(mlir::ValueRange state, mlir::ValueRange results, llvm::function_ref<void()> barrier);

  /// The number of rows of the tile.
  Value count;
  /// The numbers of components of a query and of a value.
  int64_t headDim, valueDim;
  TensorCores cores;
  RowAttention rows;
  /// The queries as operand A: four words of this lane for each 16 components.
  Values queries;

private:
  Value queryWord(const AttentionRow &row, int64_t d);

  mlir::tiles::AttentionTileOp op;
  ThreadBuilder &e;
  Value lane, first;
  AttentionRow row[2];
  Value exists[2];
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_FLASHROWS_H
