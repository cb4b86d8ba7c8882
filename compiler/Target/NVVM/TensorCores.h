//===- TensorCores.h - Products of fragments --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The instructions of sm_80 for products m16n8k16 of 16-bit elements with sums of f32. In lane 4 g + t of a warp
//
//   A    a0 (g, 2t)  a1 (g + 8, 2t)  a2 (g, 2t + 8)  a3 (g + 8, 2t + 8)     words of two neighbours in K
//   B    b0 (2t, g)  b1 (2t + 8, g)
//   sum  c0 (g, 2t)  c1 (g, 2t + 1)  c2 (g + 8, 2t)  c3 (g + 8, 2t + 1)
//
// Operands come from chunks of 8 elements, neighbours in K, which `ldmatrix` reads whole: 8 rows of chunks that lie side by side are read
// without conflicts of banks.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H
#define ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// Elements and bytes of a chunk.
inline constexpr int64_t kChunk = 8, kChunkBytes = 16;

/// Emits them for one element type, bf16 or f16.
class TensorCores {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  TensorCores(ThreadBuilder &e, mlir::Type element);
  mlir::Type elementType() const { return element; }

  /// The address of element |at| of |buffer|, in shared memory if |buffer| is, and |bytes| beyond an address.
  Value addressOf(Value buffer, mlir::ValueRange at);
  Value advance(Value address, Value bytes) { return e.advance(address, bytes); }

  /// Starts the copy of a chunk to shared memory, of zeros if it does not |exist|. Copies since the last |commitCopies| are a group.
  void copyChunk(Value to, Value from, Value exists);
  void commitCopies();
  /// Waits for the thread's own copies, all but the last |left| groups.
  void waitForCopies(int64_t left);

  /// Four matrices of 8 chunks, whose rows lie at the addresses that lanes 8 i to 8 i + 7 give, one word of each.
  Values loadMatrices(Value address, bool transposed = false);
  /// Where in a tile of 16 rows whose chunks of one place in K are neighbours, |stride| bytes from one place to the next, a lane's row
  /// lies: as a0 to a3, and as b0, b1 of columns 0 to 7 and of columns 8 to 15.
  Value rowOfA(Value lane, int64_t stride);
  Value rowOfB(Value lane, int64_t stride);
  /// The same as b0, b1 of columns 0 to 7 and of columns 8 to 15 where K goes down the rows, |stride| bytes from one to the next, and
  /// chunks have neighbouring columns: to be loaded transposed.
  Value rowOfTransposed(Value lane, int64_t stride);

  /// The sums of 16 rows and 8 columns, and the products of 16 components.
  Values multiply(mlir::ValueRange a, mlir::ValueRange b, mlir::ValueRange sums);

  /// The words of a chunk in memory, zeros if it does not |exist|.
  Values loadWords(Value exists, Value buffer, mlir::ValueRange at);
  /// |low| and |high|, rounded, as one word.
  Value pack(Value low, Value high);

private:
  ThreadBuilder &e;
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_TENSORCORES_H
