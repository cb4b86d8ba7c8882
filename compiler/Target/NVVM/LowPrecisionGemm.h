//===- LowPrecisionGemm.h - Parts that variants of projections share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H
#define ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H

#include "compiler/Target/NVVM/LowPrecisionProjection.h"

namespace attune {

/// The base of all variants of a projection: its operands and sizes, the numbers of the thread, and the storing of sums.
class LowPrecisionGemm {
protected:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// For the thread |thread|, with f32 of |shape| as shared memory, if any.
  LowPrecisionGemm(const LowPrecisionProjection &projection, ThreadBuilder &e, Value thread, llvm::ArrayRef<int64_t> shape);

  /// A sum and its place. Row and column of one that does not |exist| are those of one that does.
  struct Sum {
    Value exists, row, column, value;
  };
  /// Stores |sums|, with what follows on them: everything is loaded for all of them before the first is stored.
  void storeResult(llvm::ArrayRef<Sum> sums);

  const LowPrecisionProjection &projection;
  ThreadBuilder &e;
  TensorCores cores;
  Value input, panels, thread, lane, warp;
  /// Of K.
  int64_t chunks;
  Value shared, rows, columns;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_LOWPRECISIONGEMM_H
