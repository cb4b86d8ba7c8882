//===- AsyncCopies.h - Asynchronous copies to shared memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_ASYNCCOPIES_H
#define ATTUNE_COMPILER_TARGET_NVVM_ASYNCCOPIES_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// The bytes of a chunk, which are the most that one cp.async copies.
inline constexpr int64_t kChunkBytes = 16;

/// Emits cp.async of sm_80: copies from global to shared memory that run beside the thread's other instructions.
class AsyncCopies {
public:
  using Value = mlir::Value;

  explicit AsyncCopies(ThreadBuilder &e) : e(e) {}

  /// Starts the copy of a chunk from the address |from| in global memory to the address |to| in shared memory. If the
  /// i1 |exists| is false, writes zeros to |to| and does not read |from|. Both addresses must be multiples of
  /// kChunkBytes. The copies between two calls of commitCopies form a group.
  void copyChunk(Value to, Value from, Value exists);
  /// Like copyChunk, for a word of 4 bytes at addresses that are multiples of 4. A chunk takes four of these copies,
  /// but its words may go to different places.
  void copyWord(Value to, Value from, Value exists);
  /// Ends the current group.
  void commitCopies();
  /// Waits until all groups of the thread's own copies are complete, except for the |left| groups committed last.
  void waitForCopies(int64_t left);

protected:
  ThreadBuilder &e;

private:
  void copy(Value to, Value from, Value exists, int64_t bytes);
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_ASYNCCOPIES_H
