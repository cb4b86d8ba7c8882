//===- WarpgroupProducts.h - Products of warpgroups -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The instructions of sm_90a for products m64nNk16 of 16-bit elements with sums of f32. B is in shared memory, A there or in registers.
// Warp w of the four, lane 4 g + t, has of each 8 columns j
//
//   sum  c0 (16 w + g, 8 j + 2t)  c1 (.., 8 j + 2t + 1)  c2 (16 w + g + 8, 8 j + 2t)  c3
//   A    as of mma.sync m16n8k16 (TensorCores.h)
//
// which makes the sums of 16 columns, rounded, the operand A of 16 components.
//
// Products are asynchronous: from a product's start to the wait for its group the tensor cores own its registers, the sums and an operand A
// in registers. Nothing else may read or write the sums, or write the operand. The emitted code states this as data flow, so that LLVM can
// neither hoist a use above the wait nor reuse a register before it: sums and whatever must not be computed earlier are results of the
// wait, and operands that may not be overwritten earlier are its inputs. Sums and operands pass the fence in the same way, which orders
// what computes them before it. test/Target/NVVM/Inputs/wgmma.py proves the result, the PTX.
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

/// How a matrix lies in shared memory. Cores are 8 rows of 16 bytes.
struct MatrixLayout {
  /// Neighbours are components, or rows (a transposed B).
  bool isTransposed = false;
  /// Rows of 128 bytes, as copies with a swizzle of 128 leave them, in blocks of eight |stride| bytes apart; if transposed, the next 64
  /// rows are |leading| bytes away. Otherwise whole cores: |stride| bytes to the next rows, |leading| to the next components.
  bool isSwizzled = false;
  int64_t leading = 16, stride = 1024;
};

/// A matrix in shared memory. Its descriptor has 64 bits: |start|, an i32 (where it begins and the leading distance), the constant |layout|
/// above, and |bytes| that are added to the start. It is put together where the matrix is multiplied, so that no registers hold the
/// descriptors of all steps of a loop.
struct SharedMatrix {
  mlir::Value start;
  int64_t layout = 0, bytes = 0;

  SharedMatrix advance(int64_t more) const { return {start, layout, bytes + more}; }
};

/// The operand A of a product: a matrix in shared memory, or, if there are any, the four words of 32 bits that this thread has of it.
struct ProductRows {
  ProductRows(SharedMatrix matrix) : matrix(matrix) {}
  ProductRows(mlir::ValueRange words) : words(words) {}

  SharedMatrix matrix;
  ThreadBuilder::Values words;
};

/// Emits them for one element type, bf16 or f16.
class WarpgroupProducts {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  WarpgroupProducts(ThreadBuilder &e, mlir::Type element) : e(e), element(element) {}

  /// The matrix at |address|.
  SharedMatrix matrix(Value address, const MatrixLayout &layout);

  /// Orders accesses to registers before it and products after it. Returns |sums|, f32, which products that follow are added to; |operands|
  /// are words that they read.
  Values fence(mlir::ValueRange sums = {}, mlir::ValueRange operands = {});
  /// Starts the product of |a| and |b|, which has |columns| columns; returns its sums, half as many for each thread.
  Values multiply(int64_t columns, const ProductRows &a, SharedMatrix b, bool bIsTransposed);
  /// The same, added to |sums|.
  Values add(mlir::ValueRange sums, const ProductRows &a, SharedMatrix b, bool bIsTransposed);
  /// Makes a group of the products that have been started since the last call.
  void commit();
  /// Waits for all groups but the last |left|.
  void wait(int64_t left);
  /// The same; returns |values|, which are f32: finished sums, and what may be used only from then on. |operands|, words that the products
  /// read, keep their registers until then.
  Values wait(int64_t left, mlir::ValueRange values, mlir::ValueRange operands = {});

private:
  Values emit(mlir::ValueRange sums, int64_t count, const ProductRows &a, SharedMatrix b, bool bIsTransposed);

  ThreadBuilder &e;
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H
