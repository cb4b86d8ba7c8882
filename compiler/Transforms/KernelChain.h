//===- KernelChain.h - Calls that can be done by rows -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_KERNELCHAIN_H
#define ATTUNE_COMPILER_TRANSFORMS_KERNELCHAIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

namespace attune {

/// Calls of row-wise kernels that follow each other in a block, and can all be done for some of the rows, then for the others.
class KernelChain {
public:
  /// A buffer that the calls use by rows: which of them do so first and last, by their numbers.
  struct Use {
    unsigned first, last;
  };

  /// Adds |call| of |kernel|; whether that is possible: it must use a buffer by rows that the calls before do, so that there are as many,
  /// and none as a whole that another of the calls uses by rows.
  bool add(mlir::func::CallOp call, mlir::func::FuncOp kernel);

  /// The allocation of |buffer| if nothing but the calls uses it, but for its number of rows; null otherwise.
  mlir::memref::AllocOp getLocal(mlir::Value buffer) const;
  /// Lets buffers that are written first here lie in others that no later call uses: these are free of the rows of a block once the calls
  /// before have been done for it. Their rows have the same bytes, in as many dimensions or more.
  void reuseRows();

  llvm::SmallVector<mlir::func::CallOp> calls;
  llvm::MapVector<mlir::Value, Use> rows;

private:
  bool isUsed(mlir::Value buffer, bool before) const;

  llvm::DenseMap<mlir::Value, mlir::Value> owners; // allocation or argument: the buffer by rows it is, null for one used as a whole
};

/// The chains of |function| of two or more kernels that have buffers of their own, each as its calls: what they use changes as soon as one
/// of them is rewritten. Only kernels that |canTakeRows| says are in them. |symbols| finds the callees.
llvm::SmallVector<llvm::SmallVector<mlir::func::CallOp>> findKernelChains(mlir::func::FuncOp function, mlir::SymbolTableCollection &symbols,
                                                                          llvm::function_ref<bool(mlir::func::FuncOp)> canTakeRows);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_KERNELCHAIN_H
