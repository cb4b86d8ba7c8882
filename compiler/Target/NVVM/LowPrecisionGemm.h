//===- LowPrecisionGemm.h - Parts that variants of projections share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H
#define ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H

#include "compiler/Target/NVVM/FusedEpilogue.h"
#include "compiler/Target/NVVM/LowPrecisionProjection.h"

namespace attune {

/// The rows and columns of the part of a result that the warps of a block compute together, each with a part of K.
inline constexpr int64_t kSplitRows = 16, kSplitColumns = 16;
/// Returns the number of steps in an iteration of a loop over |count| steps that has as few iterations as possible,
/// with at most |most| steps in each. For example, 11 steps of which at most 8 fit take two iterations of 6 steps, the
/// last of them past the end. Returns 1 if |count| is 0.
inline int64_t divideEvenly(int64_t count, int64_t most) {
  count = std::max<int64_t>(count, 1);
  return llvm::divideCeil(count, llvm::divideCeil(count, most));
}
/// Stores the lane's |sums|, the accumulators of two products m16n8k16 side by side, as a part of the 16 x 16 sums of
/// |warp| in |shared|, f32 of [warps][16][16 or more].
void keepSums(ThreadBuilder &e, mlir::ValueRange sums, mlir::Value shared, mlir::Value warp, mlir::Value lane);
/// Calls |body| for each of the thread's two results with its row and column in the 16 x 16 sums and its total: the sum
/// over all warps, in the order of their numbers. The caller must place a barrier between keepSums and joinSums.
void joinSums(ThreadBuilder &e, mlir::Value shared, mlir::Value thread,
              llvm::function_ref<void(mlir::Value row, mlir::Value column, mlir::Value sum)> body);

/// The rows of a slice of sums that a block, or a warpgroup, stores together.
inline constexpr int64_t kSliceRows = 64;

/// The parts that projections of bf16 and f16 share: operands and sizes, the lane and the warp of the thread, the fused
/// epilogue. It is the base class of the emitters for the variants by `mma`, and of the emitter that stores the results
/// of a projection by `wgmma`.
class LowPrecisionGemm {
protected:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// |thread| is the thread's number in the block or, for stores of `wgmma`, in the warpgroup. Allocates |shared|,
  /// shared memory of f32 with |shape|, unless |shape| is empty.
  LowPrecisionGemm(const LowPrecisionProjection &projection, ThreadBuilder &e, Value thread, llvm::ArrayRef<int64_t> shape);

  /// Stores the results of a slice of kSliceRows rows and |width| columns of sums, whose first element is (|firstRow|,
  /// |firstColumn|) of the result; neighboring threads store neighboring columns. |sumAt| returns the sum at a row and a
  /// column of the slice. A slice that is completely inside the result has no bounds checks, and a thread stores several
  /// rows at once.
  void storeSlice(Value firstRow, Value firstColumn, int64_t width, llvm::function_ref<Value(Value down, Value right)> sumAt);
  /// Applies the epilogue to |sums| and stores the results; all loads of the epilogue come before the first store.
  void storeResult(llvm::ArrayRef<SumAtElement> sums);

  const LowPrecisionProjection &projection;
  ThreadBuilder &e;
  TensorCores cores;
  Value input, panels, thread, lane, warp;
  /// The number of chunks of 8 components in K.
  int64_t chunks;
  Value shared, rows, columns;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H
