//===- ConvertingCopy.h - Rows of a cache to swizzled rows ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_CONVERTINGCOPY_H
#define ATTUNE_COMPILER_TARGET_NVVM_CONVERTINGCOPY_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {

/// Emits copies of rows of a cache to shared memory as rows of bf16 or f16, by the threads of a warpgroup, since TMA does not
/// convert elements.
class ConvertingCopy {
public:
  using Value = mlir::Value;

  /// |words| is the buffer of i32 in shared memory that copies write to, |thread| the thread's number in the warpgroup.
  ConvertingCopy(ThreadBuilder &e, mlir::xfmr::Precision precision, Value words, Value thread)
      : e(e), precision(precision), words(words), thread(thread) {}
  /// Copies min(|count|, |rows|) rows of |columns| elements of |from| to |rows| rows in shared memory from byte |to|
  /// on, in blocks of 64 columns with the 128-byte swizzle. |first| are the indices of the first row in |from|. Rows
  /// from |count| on become zeros.
  void copy(Value to, Value from, llvm::ArrayRef<Value> first, Value count, int64_t rows, int64_t columns);

private:
  void storeChunk(Value to, Value number, mlir::ValueRange elements, int64_t rows, int64_t columns);

  ThreadBuilder &e;
  mlir::xfmr::Precision precision;
  Value words, thread;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_CONVERTINGCOPY_H
