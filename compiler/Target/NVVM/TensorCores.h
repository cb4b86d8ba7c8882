//===- TensorCores.h - Products of fragments --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The instructions of sm_80 for products m16n8k16 of 16-bit elements with sums of f32. In lane 4 g + t of a warp
//
//   A    a0 (g, 2t)  a1 (g + 8, 2t)  a2 (g, 2t + 8)  a3 (g + 8, 2t + 8)     words of two neighbors in K
//   B    b0 (2t, g)  b1 (2t + 8, g)
//   sum  c0 (g, 2t)  c1 (g, 2t + 1)  c2 (g + 8, 2t)  c3 (g + 8, 2t + 1)
//
// Operands come from chunks of 8 elements, neighbors in K, which `ldmatrix` reads whole: 8 adjacent chunks are read
// without bank conflicts.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H
#define ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// Elements and bytes of a chunk.
inline constexpr int64_t kChunk = 8, kChunkBytes = 16;

/// Emits mma.sync, ldmatrix and cp.async for one element type, bf16 or f16.
class TensorCores {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  TensorCores(ThreadBuilder &e, mlir::Type element);
  mlir::Type elementType() const { return element; }

  /// Return the address of element |at| of |buffer|, in shared memory if |buffer| is; and the address |bytes| beyond
  /// another.
  Value addressOf(Value buffer, mlir::ValueRange at);
  Value advance(Value address, Value bytes) { return e.advance(address, bytes); }

  /// Starts the copy of a chunk to shared memory, of zeros unless it |exists|. Copies since the last commitCopies are a
  /// group.
  void copyChunk(Value to, Value from, Value exists);
  void commitCopies();
  /// Waits for all but the last |left| groups of the thread's own copies.
  void waitForCopies(int64_t left);

  /// Loads four matrices of 8 chunks; returns the lane's word of each. Lanes 8 i to 8 i + 7 pass the addresses of
  /// matrix i's rows.
  Values loadMatrices(Value address, bool transposed = false);
  /// Return the byte offset of the row whose address a lane passes to loadMatrices, in a tile [K / 8][16 rows][8] with
  /// |stride| bytes from one chunk of K to the next: for a0 to a3, and for b0, b1 of columns 0 to 7 and of columns 8 to
  /// 15.
  Value rowOfA(Value lane, int64_t stride);
  Value rowOfB(Value lane, int64_t stride);
  /// Returns the same for b0, b1 of columns 0 to 7 and of columns 8 to 15 in a tile [K][columns], with |stride| bytes
  /// from one row to the next, whose chunks are neighboring columns: to be loaded transposed.
  Value rowOfTransposed(Value lane, int64_t stride);

  /// Returns |sums| + |a| |b|: 16 rows and 8 columns of sums of 16 products each.
  Values multiply(mlir::ValueRange a, mlir::ValueRange b, mlir::ValueRange sums);

  /// Loads the four words (of 32 bits) of a chunk from global memory; zeros unless it |exists|.
  Values loadWords(Value exists, Value buffer, mlir::ValueRange at);
  /// Rounds |low| and |high| and returns them as one word.
  Value pack(Value low, Value high);

private:
  ThreadBuilder &e;
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H
