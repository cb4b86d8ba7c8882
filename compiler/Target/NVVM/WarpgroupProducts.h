//===- WarpgroupProducts.h - Products of warpgroups -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The instructions of sm_90a for products m64nNk16 of 16-bit elements with sums of f32. B is in shared memory, A there
// or in registers. Warp w of the four, lane 4 g + t, has of each 8 columns j
//
//   sum  c0 (16 w + g, 8 j + 2t)  c1 (.., 8 j + 2t + 1)  c2 (16 w + g + 8, 8 j + 2t)  c3
//   A    as of mma.sync m16n8k16 (TensorCores.h)
//
// which makes the sums of 16 columns, rounded, the operand A of 16 components.
//
// Products are asynchronous: from a product's start to the wait for its group the tensor cores own its registers, the
// sums and an operand A in registers. Nothing else may read or write the sums, or write the operand. The emitted code
// states this as data flow, so that LLVM can neither hoist a use above the wait nor reuse a register before it: sums
// and whatever must not be computed earlier are results of the wait, and operands that may not be overwritten earlier
// are its inputs. Sums and operands pass the fence in the same way, which orders what computes them before it.
// test/Target/NVVM/Inputs/wgmma.py proves the result, the PTX.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H
#define ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// Threads of a warpgroup, rows and components of a product.
inline constexpr int64_t kWarpgroup = 128, kProductRows = 64, kProductDepth = 16;
/// Bytes and 16-bit components of a row of a swizzled matrix.
inline constexpr int64_t kRowBytes = 128, kRowComponents = 64;

/// The layout of an operand in shared memory. Core matrices are 8 rows of 16 bytes.
struct MatrixLayout {
  /// False if neighbors in memory are components of K; true if they are rows (a transposed B).
  bool isTransposed = false;
  /// Rows of 128 bytes with the 128-byte swizzle of TMA loads, in blocks of eight rows |stride| bytes apart; if
  /// transposed, the next 64 rows are |leading| bytes away. Otherwise whole core matrices: |stride| bytes to the next
  /// rows, |leading| bytes to the next components.
  bool isSwizzled = false;
  int64_t leading = 16, stride = 1024;
};

/// A matrix in shared memory. Its descriptor has 64 bits: in the low half |start|, an i32 with the address and the
/// leading distance, to which |bytes| are added; in the high half the constant |layout|. It is composed where the
/// matrix is multiplied, so that no registers hold the descriptors of all steps of a loop.
struct SharedMatrix {
  mlir::Value start;
  int64_t layout = 0, bytes = 0;

  SharedMatrix advance(int64_t more) const { return {start, layout, bytes + more}; }
};

/// The operand A of a product: a matrix in shared memory or, if |words| is not empty, this thread's four 32-bit words
/// of it.
struct ProductRows {
  ProductRows(SharedMatrix matrix) : matrix(matrix) {}
  ProductRows(mlir::ValueRange words) : words(words) {}

  SharedMatrix matrix;
  ThreadBuilder::Values words;
};

/// Emits wgmma instructions for one element type, bf16 or f16. They are asynchronous: sums are valid only as results of
/// `wait`.
class WarpgroupProducts {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  WarpgroupProducts(ThreadBuilder &e, mlir::Type element) : e(e), element(element) {}

  /// Returns the matrix at |address| with |layout|.
  SharedMatrix matrix(Value address, const MatrixLayout &layout);

  /// Orders accesses to registers before the fence and products after it. Returns |sums|, f32 values that the following
  /// products add to; |operands| are words that they read.
  Values fence(mlir::ValueRange sums = {}, mlir::ValueRange operands = {});
  /// Starts the product of |a| and |b|, which has |columns| columns; returns its sums, half as many for each thread.
  Values multiply(int64_t columns, const ProductRows &a, SharedMatrix b, bool bIsTransposed);
  /// Returns the same, added to |sums|.
  Values add(mlir::ValueRange sums, const ProductRows &a, SharedMatrix b, bool bIsTransposed);
  /// Commits the products started since the last call as one group.
  void commit();
  /// Waits for all but the last |left| groups.
  void wait(int64_t left);
  /// Returns the same; returns the f32 |values|, finished sums and other values that must not be used before.
  /// |operands|, words that the products read, keep their registers until the wait.
  Values wait(int64_t left, mlir::ValueRange values, mlir::ValueRange operands = {});

private:
  Values emit(mlir::ValueRange sums, int64_t count, const ProductRows &a, SharedMatrix b, bool bIsTransposed);

  ThreadBuilder &e;
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H
