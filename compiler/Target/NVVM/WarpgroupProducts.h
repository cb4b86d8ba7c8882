//===- WarpgroupProducts.h - Products of warpgroups -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The instructions of sm_90a for products m64nNk16 of 16-bit elements with sums of f32. B is in shared memory, A in
// shared memory or in registers. Lane 4 g + t of warp w, one of four, has these (row, column) for each j, a group of 8
// columns:
//
//   sum  c0 (16 w + g, 8 j + 2t)  c1 (.., 8 j + 2t + 1)  c2 (16 w + g + 8, 8 j + 2t)  c3 (.., 8 j + 2t + 1)
//   A    of rows 16 w to 16 w + 15, as for mma.sync m16n8k16 (TensorCores.h)
//
// So a lane's sums of 16 columns, rounded to 16 bits, are its part of an operand A of 16 components.
//
// Products are asynchronous: from a product's start to the wait for its group the tensor cores own its registers, the
// sums and an operand A in registers. Nothing else may read or write the sums, or write the operand. The emitted code
// states this as data flow, so that LLVM can neither hoist a use above the wait nor reuse a register before it: sums
// and other values that must not be used earlier are results of the wait, and operands that must not be overwritten
// earlier are inputs of the wait. In the same way, sums are results and operands are inputs of the fence, so that the
// instructions that compute them come before the fence. test/Target/NVVM/Inputs/wgmma.py checks these rules in the PTX.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H
#define ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// The threads of a warpgroup, and the rows and components (K) of a product.
inline constexpr int64_t kWarpgroup = 128, kProductRows = 64, kProductDepth = 16;
/// Bytes and 16-bit elements of a line of a swizzled matrix.
inline constexpr int64_t kRowBytes = 128, kRowComponents = 64;

/// The layout of an operand in shared memory. A line is a run of contiguous bytes: components of K of one row, or, if
/// transposed, neighboring rows at one component. A row is a row of A or a column of B. Core matrices are 8 lines of 16
/// bytes.
struct MatrixLayout {
  /// False if neighbors in memory are components of K; true if they are rows (a transposed B).
  bool isTransposed = false;
  /// True for lines of 128 bytes with the 128-byte swizzle of TMA loads: blocks of eight lines are |stride| bytes apart,
  /// and if transposed, the next 64 rows are |leading| bytes away. False for contiguous core matrices: the next 8 rows
  /// are |stride| bytes away, the next 8 components |leading| bytes.
  bool isSwizzled = false;
  int64_t leading = 16, stride = 1024;
};

/// A matrix in shared memory. The hardware's matrix descriptor has 64 bits. Its low half is |start|, an i32 with the
/// address and the leading distance in units of 16 bytes, plus |bytes| / 16; its high half is the constant |layout|.
/// The descriptor is composed where the matrix is multiplied, so that no registers hold the descriptors of all steps of
/// a loop.
struct SharedMatrix {
  mlir::Value start;
  int64_t layout = 0, bytes = 0;

  SharedMatrix advance(int64_t more) const { return {start, layout, bytes + more}; }
};

/// The operand A of a product: a matrix in shared memory or, if |words| is not empty, a matrix in registers, of which
/// this thread has four 32-bit words.
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

  /// Returns the matrix at |address| with |layout|. It does not record |layout|.isTransposed, which is an argument of
  /// the products.
  SharedMatrix matrix(Value address, const MatrixLayout &layout);

  /// Emits the fence between earlier accesses to registers and products that read or write these registers. Returns
  /// |sums|, the f32 values that the following products add to; |operands| are words in registers that these products
  /// read.
  Values fence(mlir::ValueRange sums = {}, mlir::ValueRange operands = {});
  /// Starts the product of |a| and |b|, which has |columns| columns; returns the thread's |columns| / 2 sums.
  /// |bIsTransposed| is MatrixLayout::isTransposed of |b|.
  Values multiply(int64_t columns, const ProductRows &a, SharedMatrix b, bool bIsTransposed);
  /// Starts the product of |a| and |b| and adds it to |sums|; returns the new sums.
  Values add(mlir::ValueRange sums, const ProductRows &a, SharedMatrix b, bool bIsTransposed);
  /// Commits the products started since the last call as one group.
  void commit();
  /// Waits for all groups but the last |left|.
  void wait(int64_t left);
  /// Waits like `wait`. Returns the f32 |values|: sums of products that have finished, and other values that must not
  /// be used before the wait. |operands|, words that the products read, keep their registers until the wait.
  Values wait(int64_t left, mlir::ValueRange values, mlir::ValueRange operands = {});

private:
  Values emit(mlir::ValueRange sums, int64_t count, const ProductRows &a, SharedMatrix b, bool bIsTransposed);

  ThreadBuilder &e;
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H
