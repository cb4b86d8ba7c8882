//===- ThreadLoops.h - Loops that the threads of a block share -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H
#define ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

#include <functional>

namespace attune {

/// The points that a thread usually computes at once in elementwise loops. With fewer, blocks of few rows wait for
/// memory most of the time; with more, the addresses of several operands do not fit into the registers of a thread.
inline constexpr int64_t kPointsAtOnce = 4;

/// A function that emits the loads and the arithmetic of one point of a loop. It returns another function, which emits
/// the stores of the point.
using PointBody = llvm::function_ref<std::function<void()>(mlir::ValueRange point)>;

/// The division of loops among the threads of a block, or of all blocks: of the points of a loop, numbered in order, a
/// thread computes points first, first + step, …
struct ThreadLoops {
  mlir::Value first, step;
  /// The thread's number in its block, and the number of threads of a block.
  mlir::Value thread;
  int64_t threads;

  /// Emits a loop over all points of |sizes|, the last dimension fastest, shared by the threads. An iteration computes
  /// up to |atOnce| points of a thread, whose loads come before the first store, so that the thread waits for memory once.
  /// The points must not depend on each other's stores.
  void forEach(ThreadBuilder &e, llvm::ArrayRef<mlir::Value> sizes, int64_t atOnce, PointBody body) const;
  /// Emits a loop over [0, count) shared by the warps of the block; |lane| is the thread's number in its warp.
  void forEachWarp(ThreadBuilder &e, mlir::Value count, llvm::function_ref<void(mlir::Value item, mlir::Value lane)> body) const;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_THREADLOOPS_H
