//===- RowBlockedCalls.h - Calls that can be done by rows -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ROWBLOCKEDCALLS_H
#define ATTUNE_COMPILER_TRANSFORMS_ROWBLOCKEDCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace attune {

/// A sequence of calls of row-wise kernels that can all run on one block of rows before the next block.
class RowBlockedCalls {
public:
  /// The numbers of the first and the last call that use a buffer by rows.
  struct BufferUse {
    unsigned first, last;
  };

  /// Adds |call| of |kernel|. Fails unless it uses a buffer by rows that an earlier call does, which makes their row counts equal, and no
  /// buffer as a whole that another call uses by rows.
  bool add(mlir::func::CallOp call, mlir::func::FuncOp kernel);

  /// The allocation of |buffer| if only the calls use its elements; null otherwise.
  mlir::memref::AllocOp getPrivateAlloc(mlir::Value buffer) const;
  /// Lets a buffer that is first written here reuse the rows of one that no later call uses; their rows have the same bytes, and the
  /// reused buffer has at least as many dimensions.
  void reuseRows();

  llvm::SmallVector<mlir::func::CallOp> calls;
  llvm::MapVector<mlir::Value, BufferUse> rows;

private:
  bool isUsed(mlir::Value buffer, bool before) const;

  llvm::DenseMap<mlir::Value, mlir::Value> owners; // allocation or argument to the buffer used by rows, null for one used as a whole
};

/// The sequences of two or more calls in |function| that share a private buffer, each as its calls: buffer uses change as soon as one
/// sequence is rewritten. Kernels for which |canTakeRows| is false are not part of a sequence. |symbols| finds the callees.
llvm::SmallVector<llvm::SmallVector<mlir::func::CallOp>> findRowBlockedCalls(mlir::func::FuncOp function,
                                                                             mlir::SymbolTableCollection &symbols,
                                                                             llvm::function_ref<bool(mlir::func::FuncOp)> canTakeRows);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ROWBLOCKEDCALLS_H
