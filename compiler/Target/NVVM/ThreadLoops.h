//===- ThreadLoops.h - Loops that the threads of a block share -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// The division of loops among the threads of a block, or of all blocks: a thread takes iterations first, first + step,
/// …
struct ThreadLoops {
  mlir::Value first, step;
  /// The thread's number in the block, and the number of threads.
  mlir::Value thread;
  int64_t threads;

  /// Emits a loop over all points of |sizes|, the last dimension fastest, shared by the threads.
  void forEach(ThreadBuilder &e, llvm::ArrayRef<mlir::Value> sizes, llvm::function_ref<void(mlir::ValueRange point)> body) const;
  /// Emits a loop over [0, count) shared by the warps of the block; |lane| is the thread's number in its warp.
  void forEachWarp(ThreadBuilder &e, mlir::Value count, llvm::function_ref<void(mlir::Value item, mlir::Value lane)> body) const;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H
