//===- FunctionUsers.h - The calls of each function of a module -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_TRANSFORMS_FUNCTIONUSERS_H
#define XFMR_TRANSFORMS_FUNCTIONUSERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::xfmr {

/// The calls of each function of a module, and the functions that operations other than calls name. Operations that
/// name a symbol implement SymbolUserOpInterface; only their attributes, and those of unregistered operations, are
/// searched. Upstream's SymbolUserMap searches the attributes of all operations, which takes longer than the passes
/// that use this class. Names in attributes of other registered operations, and in further attributes of calls, do not
/// count as uses.
class FunctionUsers {
public:
  FunctionUsers(ModuleOp module, const SymbolTable &symbols);

  /// Returns the calls of |function| in the order of the module.
  ArrayRef<func::CallOp> getCalls(func::FuncOp function) const;
  /// Returns true if an operation other than a call names |function|.
  bool hasOtherUsers(func::FuncOp function) const { return named.contains(function); }

private:
  DenseMap<func::FuncOp, SmallVector<func::CallOp>> calls;
  DenseSet<func::FuncOp> named;
};

/// The functions of a module, callees first.
class CalleesFirst {
public:
  CalleesFirst(ModuleOp module, const SymbolTable &symbols);

  llvm::SetVector<func::FuncOp> functions;
  /// Functions that call themselves, directly or through others: at least one of each cycle of calls, but not always
  /// all of a cycle.
  DenseSet<func::FuncOp> recursive;

private:
  void visit(func::FuncOp function);

  const SymbolTable &symbols;
  DenseSet<func::FuncOp> entered;
};

} // namespace mlir::xfmr

#endif // XFMR_TRANSFORMS_FUNCTIONUSERS_H
