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
// Products run on their own: sums are anybody's only after `wait`, which they pass through.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H
#define ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H

#include "compiler/Target/NVVM/ThreadEmitter.h"

namespace attune {

/// Threads of a warpgroup, rows and components of a product.
inline constexpr int64_t kWarpgroup = 128, kProductRows = 64, kProductDepth = 16;

/// How a matrix lies in shared memory. Cores are 8 rows of 16 bytes.
struct MatrixLayout {
  /// Neighbours are components, or rows (a transposed B).
  bool isTransposed = false;
  /// Rows of 128 bytes, as copies with a swizzle of 128 leave them, in blocks of eight |stride| bytes apart; if transposed, the next 64
  /// rows are |leading| bytes away. Otherwise whole cores: |stride| bytes to the next rows, |leading| to the next components.
  bool isSwizzled = false;
  int64_t leading = 16, stride = 1024;
};

/// Emits them for one element type, bf16 or f16.
class WarpgroupProducts {
public:
  using Value = mlir::Value;
  using Values = ThreadEmitter::Values;

  WarpgroupProducts(ThreadEmitter &e, mlir::Type element) : e(e), builder(e.builder), element(element) {}

  /// A matrix at |address|, and what is |bytes| further.
  Value matrix(Value address, const MatrixLayout &layout);
  Value advance(Value matrix, int64_t bytes);

  /// Products that start after it see registers and sums as they are.
  void fence();
  /// |sums|, if |adds|, and the products of A, a matrix or four words, and the matrix B.
  Values multiply(mlir::ValueRange sums, mlir::ValueRange a, Value b, bool bIsTransposed, Value adds);
  /// What has been started since the last call is a group.
  void commit();
  /// Waits for all groups but the last |left|, whose operands may then be overwritten.
  void wait(int64_t left);
  /// The same, after which |sums| are there.
  Values wait(int64_t left, mlir::ValueRange sums);

private:
  ThreadEmitter &e;
  mlir::OpBuilder &builder;
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_WARPGROUPPRODUCTS_H
