//===- CodeBlock.h - A block of a projection of codes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_CODEBLOCK_H
#define ATTUNE_COMPILER_TARGET_NVVM_CODEBLOCK_H

#include "compiler/Target/NVVM/CodeProjection.h"

namespace attune {

/// What the forms of a projection have in common: its operands and sizes, the thread's place, and what becomes of sums.
class CodeBlock {
protected:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// For the thread |thread|, with f32 of |shape| as shared memory, if any.
  CodeBlock(const CodeProjection &projection, ThreadBuilder &e, Value thread, llvm::ArrayRef<int64_t> shape);

  /// A sum and its place. Row and column of one that does not |exist| are those of one that does.
  struct Sum {
    Value exists, row, column, value;
  };
  /// Stores |sums|, with what follows on them: everything is loaded for all of them before the first is stored.
  void storeResult(llvm::ArrayRef<Sum> sums);

  const CodeProjection &projection;
  ThreadBuilder &e;
  TensorCores cores;
  Value input, panels, thread, lane, warp;
  /// Of K.
  int64_t chunks;
  Value shared, rows, columns;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_CODEBLOCK_H
