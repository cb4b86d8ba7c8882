//===- ModuleEdits.h - Erasing parts of modules -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REDUCE_MODULEEDITS_H
#define ATTUNE_REDUCE_MODULEEDITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace attune {

/// An editor that erases parts of a module and replaces the erased values by others of the same types. The module may
/// become invalid for other reasons, so the caller verifies it.
class ModuleEdits {
public:
  explicit ModuleEdits(mlir::ModuleOp module) : module(module) {}

  /// Erases |ops| with their regions. Terminators and symbols stay.
  void eraseOps(const llvm::SetVector<mlir::Operation *> &ops);
  /// Erases a symbol at the top of the module and the operations that use it, except terminators and symbols.
  void eraseSymbol(mlir::Operation *symbol);
  /// Turns |function| into a private declaration.
  void eraseBody(mlir::func::FuncOp function);
  /// Replaces |op| by the operations of |region|, a region of |op| with one block, without its terminator.
  void inlineRegion(mlir::Operation *op, mlir::Region &region);
  /// Erases argument |index| of |function| and the operands of its calls. The argument stays if it is used and no other
  /// value can replace it.
  void eraseArgument(mlir::func::FuncOp function, unsigned index);
  /// Erases result |index| of |function| and of its calls.
  void eraseResult(mlir::func::FuncOp function, unsigned index);

  /// Returns the calls of |function|.
  llvm::SmallVector<mlir::func::CallOp> findCalls(mlir::func::FuncOp function);

private:
  /// Returns a value of |type| that may be used at |before|, the first that exists of: an operand of |before|, an
  /// argument or earlier result in a block around it, a new constant 1, and, with |mayAdd|, a new argument of the
  /// function. It is neither |except| nor defined by an operation in |doomed|. Returns null if there is none.
  mlir::Value findValue(mlir::Type type, mlir::Operation *before, bool mayAdd = true, mlir::Value except = {});
  /// Returns a value of |type| that may be used at |before|, by the rules of findValue, or poison if there is none.
  mlir::Value findOrMakeValue(mlir::Type type, mlir::Operation *before);
  mlir::Value addArgument(mlir::func::FuncOp function, mlir::Type type);
  bool isDoomed(mlir::Operation *op) const;
  void replaceAndErase(mlir::Operation *op);

  mlir::ModuleOp module;
  llvm::SetVector<mlir::Operation *> doomed;
  /// Functions to which an argument is being added. A recursive call in such a function must not add a further argument
  /// to find a value for the new operand.
  llvm::SetVector<mlir::Operation *> growing;
};

/// Replaces the size |from| by |to| in the ranked tensor and memref types of |module|, and in vector types if |to| is
/// from 1 to 4096. Unless |to| is dynamic, also replaces it in the dims of inputs, outputs and caches and, with
/// |numbers|, in index and i64 attributes and constants, except inside of other attributes of `xfmr`. A weight whose
/// type changes gets a new source, a tensor of its new type.
void resizeEverywhere(mlir::ModuleOp module, int64_t from, int64_t to, bool numbers);

} // namespace attune

#endif // ATTUNE_REDUCE_MODULEEDITS_H
