//===- TensorCores.h - Products of fragments --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The instructions of sm_80 for products m16n8k16 of 16-bit elements with sums of f32. Lane 4 g + t of a warp has these
// (row, column) of each operand:
//
//   A    a0 (g, 2t)  a1 (g + 8, 2t)  a2 (g, 2t + 8)  a3 (g + 8, 2t + 8)     a and b: words of two neighbors in K,
//   B    b0 (2t, g)  b1 (2t + 8, g)                                         of which the first one is given
//   sum  c0 (g, 2t)  c1 (g, 2t + 1)  c2 (g + 8, 2t)  c3 (g + 8, 2t + 1)
//
// In shared memory operands are chunks of 8 elements that are neighbors in K or, for `ldmatrix` with transposition, 8
// neighboring columns of B. `ldmatrix` reads whole chunks; it reads 8 adjacent chunks without bank conflicts.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H
#define ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H

#include "compiler/Target/NVVM/AsyncCopies.h"

namespace attune {

/// Elements of a chunk.
inline constexpr int64_t kChunk = 8;

/// Emits mma.sync, ldmatrix and cp.async for one element type, bf16 or f16.
class TensorCores : public AsyncCopies {
public:
  using Values = ThreadBuilder::Values;

  TensorCores(ThreadBuilder &e, mlir::Type element);
  mlir::Type elementType() const { return element; }

  /// Loads four matrices of 8 chunks (rows) from shared memory, and transposes each of them if |transposed|. Returns
  /// the lane's word of each matrix. The |address| of lane 8 i + r is that of row r of matrix i.
  Values loadMatrices(Value address, bool transposed = false);
  /// Return the byte offset at which |lane| addresses loadMatrices in a tile [K / 8][16 rows or columns][8] with
  /// |stride| bytes from one chunk of K to the next. With rowOfA, loadMatrices returns a0 to a3; with rowOfB, it
  /// returns b0 and b1 of columns 0 to 7, then b0 and b1 of columns 8 to 15.
  Value rowOfA(Value lane, int64_t stride);
  Value rowOfB(Value lane, int64_t stride);
  /// Like rowOfB, for a tile [K][columns] with |stride| bytes from one row to the next, whose chunks are 8 neighboring
  /// columns. loadMatrices must transpose these matrices.
  Value rowOfTransposed(Value lane, int64_t stride);

  /// Returns the lane's part of |sums| + |a| |b|: 16 rows and 8 columns of sums of 16 products each.
  Values multiply(mlir::ValueRange a, mlir::ValueRange b, mlir::ValueRange sums);

  /// Loads |count| 32-bit words, by default those of a chunk, from global memory; the first one begins at element |at|
  /// of |buffer|. Returns zeros if |exists| is false. A null |exists| means true.
  Values loadWords(Value exists, Value buffer, mlir::ValueRange at, int64_t count = kChunkBytes / 4);
  /// Rounds the f32 |low| and |high| to 16 bits and returns both as one word.
  Value pack(Value low, Value high);

private:
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H
