//===- FusedEpilogue.h - Elementwise operations on sums ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementwise operation that follows a product, its epilogue, is applied to the sums where the kernel of the product
// has them, in registers or shared memory, so that no buffer of sums is written and read again.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_FUSEDEPILOGUE_H
#define ATTUNE_COMPILER_TARGET_NVVM_FUSEDEPILOGUE_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Returns true if |first| precedes |second| in the same MLIR block and nothing but barriers touches memory between
/// them.
bool areNeighbours(mlir::Operation *first, mlir::Operation *second);

/// Returns the epilogue that the kernel of |product| can apply to its sums, which |product| writes to the buffer |sums|. The
/// epilogue follows |product| (areNeighbours). Null if there is none, if |sums| is neither a buffer of the block nor the
/// output of the epilogue, or if anything else uses |sums| but |zero|, which fills it with zeros and may be null, and
/// readers of its sizes.
mlir::linalg::LinalgOp findFusedEpilogue(mlir::Operation *product, mlir::Value sums, mlir::Operation *zero = nullptr);

/// A sum of a product and its row and column in the result. |exists| is the condition that the element belongs to the
/// result; where it is false, row and column are those of another element, so that an epilogue can load its operands. A
/// null |exists| means true, and then no branch is around the store. This is faster: the compiler may sink the epilogue
/// into such a branch and then compute one element after the other.
struct SumAtElement {
  mlir::Value exists, row, column, value;
};

/// Stores |sums| to the buffer |buffer|; with |epilogue|, which reads |buffer| for the sums, stores its results for
/// |sums| instead. All loads of the epilogue come before the first store.
void storeSums(ThreadBuilder &e, mlir::linalg::LinalgOp epilogue, mlir::Value buffer, llvm::ArrayRef<SumAtElement> sums);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_FUSEDEPILOGUE_H
