//===- ConvertingCopy.h - Rows of a cache to swizzled rows ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_CONVERTINGCOPY_H
#define ATTUNE_COMPILER_TARGET_NVVM_CONVERTINGCOPY_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {

/// Emits the code by which the threads of a warpgroup copy rows of a cache to shared memory and round them to bf16 or
/// f16. TMA cannot, since it does not convert elements.
class ConvertingCopy {
public:
  using Value = mlir::Value;

  /// |words| is the buffer of i32 in shared memory that receives the copies, |thread| the thread's number in the
  /// warpgroup.
  ConvertingCopy(ThreadBuilder &e, mlir::xfmr::Precision precision, Value words, Value thread)
      : e(e), precision(precision), words(words), thread(thread) {}
  /// Copies min(|count|, |rows|) rows of |columns| elements of |from|, beginning at the row at the indices |first|, to
  /// |words| from byte |to| on. Writes |rows| rows, those from |count| on as zeros, in blocks of 64 columns with the
  /// 128-byte swizzle; one block follows the other. |rows| and |columns| are multiples of 64.
  void copy(Value to, Value from, llvm::ArrayRef<Value> first, Value count, int64_t rows, int64_t columns);

private:
  void storeChunk(Value to, Value number, mlir::ValueRange elements, int64_t rows, int64_t columns);

  ThreadBuilder &e;
  mlir::xfmr::Precision precision;
  Value words, thread;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_CONVERTINGCOPY_H
