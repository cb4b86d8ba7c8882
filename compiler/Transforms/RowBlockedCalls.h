//===- RowBlockedCalls.h - Calls on one block of rows at a time -*- C++ -*-===//
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

  /// Adds |call| of |kernel| and returns true. Returns false, and adds nothing, unless
  /// - the call is the first, or shares a buffer by rows with an earlier call, which makes their row counts equal;
  /// - each of its buffers is an allocation, a function argument, or a view of one of these;
  /// - the call and all earlier calls use each buffer in one way: by rows and as the same value, or as a whole.
  bool add(mlir::func::CallOp call, mlir::func::FuncOp kernel);

  /// Returns the allocation |buffer| if it is in the basic block of the calls and only the calls use it, apart from
  /// reads of its number of rows; else null, also for a view.
  mlir::memref::AllocOp getPrivateAlloc(mlir::Value buffer) const;
  /// Replaces allocations by other buffers that are not used anymore. Let B be an allocation that nothing uses before
  /// the sequence, and A a buffer that is not private and that nothing uses from the first use of B on. If A has the
  /// type of B, or if both are f32 and A can be collapsed to that type, replaces B by A or by its collapsed view, and
  /// erases B.
  void reuseRows();

  llvm::SmallVector<mlir::func::CallOp> calls;
  /// The buffers that the calls use by rows.
  llvm::MapVector<mlir::Value, BufferUse> rows;

private:
  bool isUsed(mlir::Value buffer, bool before) const;

  /// For each allocation or function argument that calls use: the buffer, itself or a view of it, that they use by
  /// rows; null if they use it as a whole.
  llvm::DenseMap<mlir::Value, mlir::Value> owners;
};

/// Returns the sequences of two or more calls in |function| that have a private buffer. Each is a list of calls and not
/// a RowBlockedCalls, whose buffers would be out of date as soon as another sequence is rewritten. Calls of kernels for
/// which |canTakeRows| is false, and other operations with side effects except allocations, end a sequence. |symbols|
/// finds callees.
llvm::SmallVector<llvm::SmallVector<mlir::func::CallOp>> findRowBlockedCalls(mlir::func::FuncOp function,
                                                                             mlir::SymbolTableCollection &symbols,
                                                                             llvm::function_ref<bool(mlir::func::FuncOp)> canTakeRows);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ROWBLOCKEDCALLS_H
