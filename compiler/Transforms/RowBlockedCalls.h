//===- RowBlockedCalls.h - Calls run block of rows by block -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ROWBLOCKEDCALLS_H
#define ATTUNE_COMPILER_TRANSFORMS_ROWBLOCKEDCALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace attune {

/// A sequence of calls of row-wise kernels that can all run on one block of rows before the next block. A call uses a
/// buffer by rows if it passes the buffer for an argument with `tile.rows`, else as a whole.
class RowBlockedCalls {
public:
  /// The positions in the sequence of the first and the last call that use a buffer by rows.
  struct BufferUse {
    unsigned first, last;
  };

  /// Adds |call| of |kernel| and returns true. Returns false unless the call shares a buffer by rows with an earlier
  /// call, which makes their row counts equal, and uses every buffer in the same way as earlier calls do, by rows or as
  /// a whole.
  bool add(mlir::func::CallOp call, mlir::func::FuncOp kernel);

  /// Returns the allocation of |buffer| if only the calls use its elements, else null.
  mlir::memref::AllocOp getPrivateAlloc(mlir::Value buffer) const;
  /// Makes a buffer that is first written in the sequence reuse the rows of a buffer that no later call uses. Rows of
  /// both have the same size in bytes, and the reused buffer has at least as many dimensions.
  void reuseRows();

  llvm::SmallVector<mlir::func::CallOp> calls;
  llvm::MapVector<mlir::Value, BufferUse> rows;

private:
  bool isUsed(mlir::Value buffer, bool before) const;

  /// For each allocation or function argument that calls use: the buffer, itself or a view of it, that they use by
  /// rows; null if they use it as a whole.
  llvm::DenseMap<mlir::Value, mlir::Value> owners;
};

/// Returns the sequences of two or more calls in |function| that share a private buffer. Each is a list of calls, since
/// the uses of buffers change as soon as one sequence is rewritten. Calls of kernels for which |canTakeRows| is false
/// end a sequence. |symbols| finds callees.
llvm::SmallVector<llvm::SmallVector<mlir::func::CallOp>> findRowBlockedCalls(mlir::func::FuncOp function,
                                                                             mlir::SymbolTableCollection &symbols,
                                                                             llvm::function_ref<bool(mlir::func::FuncOp)> canTakeRows);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ROWBLOCKEDCALLS_H
