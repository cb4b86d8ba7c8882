//===- StoredIntegers.h - Quantized weights as operands ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_STOREDINTEGERS_H
#define ATTUNE_COMPILER_TARGET_NVVM_STOREDINTEGERS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "dialect/Xfmr/IR/WeightFormat.h"

namespace attune {

/// Converts the stored integers of a weight format to bf16 or f16, exactly.
class StoredIntegers {
public:
  using Value = mlir::Value;

  StoredIntegers(ThreadBuilder &e, const mlir::xfmr::WeightFormat &format, mlir::Type element) : e(e), format(format), element(element) {}

  /// Returns the integers in the bytes |first| and |first| + 1 of the i32 |bytes|, minus the format's zero, as two
  /// elements in one i32, that of byte |first| in the low half. Each byte has one integer, also with 4 bits.
  Value toElements(Value bytes, int64_t first);

private:
  ThreadBuilder &e;
  mlir::xfmr::WeightFormat format;
  mlir::Type element;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_STOREDINTEGERS_H
