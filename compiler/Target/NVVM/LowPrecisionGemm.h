//===- LowPrecisionGemm.h - Parts that variants of projections share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H
#define ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"

namespace attune {

/// The rows and columns of the part of a result that the warps of a block, each with a part of K, compute at once.
inline constexpr int64_t kSplitRows = 16, kSplitColumns = 16;
/// Returns how many of |count| steps an iteration of a loop has if the loop has as few iterations of at most |most| steps
/// as possible: 6 for 11 of at most 8, two iterations, of which the second has a step too many. Returns 1 if |count| is 0.
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

/// The parts that projections of bf16 and f16 share: operands and sizes, the thread's lane and warp, the fused
/// epilogue. It is the base class of the variants by `mma`, and of the code that stores the results of a projection by
/// `wgmma`.
class LowPrecisionGemm {
protected:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// |thread| is the thread's number in the block or, for stores of `wgmma`, in the warpgroup. Allocates |shared|,
  /// shared memory of f32 with |shape|, unless |shape| is empty.
  LowPrecisionGemm(const LowPrecisionProjection &projection, ThreadBuilder &e, Value thread, llvm::ArrayRef<int64_t> shape);

  /// An accumulator and its row and column in the result. |exists| is the condition that the accumulator belongs to the
  /// result; if it is false, row and column are those of another element. A null |exists| means true: the store has no
  /// condition. A condition lets the compiler sink the epilogue into a branch and compute one accumulator after the
  /// other.
  struct Sum {
    Value exists, row, column, value;
  };
  /// Stores the results of a slice of kSliceRows rows and |width| columns of sums, whose first element is (|firstRow|,
  /// |firstColumn|) of the result; neighboring threads store neighboring columns. |sumAt| returns the sum at a row and a
  /// column of the slice. A slice that is completely inside the result has no bounds checks, and a thread stores several
  /// rows at once.
  void storeSlice(Value firstRow, Value firstColumn, int64_t width, llvm::function_ref<Value(Value down, Value right)> sumAt);
  /// Applies the epilogue to |sums| and stores the results; all loads of the epilogue come before the first store.
  void storeResult(llvm::ArrayRef<Sum> sums);

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
