//===- ModuleEdits.h - Erasing parts of modules -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REDUCE_MODULEEDITS_H
#define ATTUNE_REDUCE_MODULEEDITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace attune {

/// An editor that erases parts of a module and replaces the erased values by others of the same types. The edited
/// module may still violate a verifier, so the caller verifies it.
class ModuleEdits {
public:
  explicit ModuleEdits(mlir::ModuleOp module) : module(module) {}

  /// Erases |ops| with their regions, except terminators and symbols. If producers precede their users in |ops|, a
  /// value whose users are all erased needs no replacement.
  void eraseOps(const llvm::SetVector<mlir::Operation *> &ops);
  /// Erases |symbol|, an operation at the top level of the module, and the operations outside of it that use the
  /// symbol, except terminators and symbols.
  void eraseSymbol(mlir::Operation *symbol);
  /// Turns |function| into a private declaration.
  void eraseBody(mlir::func::FuncOp function);
  /// Replaces |op| by the operations of |region|, a region of |op| with one block, except the terminator. The operands
  /// of the terminator replace the results of |op| if they have the same types. Other values replace the arguments of
  /// the block and, if the types differ, the results.
  void inlineRegion(mlir::Operation *op, mlir::Region &region);
  /// Erases argument |index| of |function| and, in each call of |function|, the operand for it. Does nothing if the
  /// argument is used and no other value can replace it.
  void eraseArgument(mlir::func::FuncOp function, unsigned index);
  /// Erases result |index| of |function| and of each call of |function|.
  void eraseResult(mlir::func::FuncOp function, unsigned index);

  /// Returns the calls of |function|.
  llvm::SmallVector<mlir::func::CallOp> findCalls(mlir::func::FuncOp function);

private:
  /// Returns a value of |type| that dominates |before|: the first that exists of an operand of |before|, an argument or
  /// an earlier result of a block around |before|, a new constant 1 if |type| is an integer, index or float type, and,
  /// with |mayAdd|, a new argument of the function. The value is neither |except| nor defined by an operation in
  /// |doomed|. Returns null if there is none.
  mlir::Value findValue(mlir::Type type, mlir::Operation *before, bool mayAdd = true, mlir::Value except = {});
  /// Returns the value that findValue returns, or a new `ub.poison` if that is null.
  mlir::Value findOrMakeValue(mlir::Type type, mlir::Operation *before);
  mlir::Value addArgument(mlir::func::FuncOp function, mlir::Type type);
  bool isDoomed(mlir::Operation *op) const;
  void replaceAndErase(mlir::Operation *op);

  mlir::ModuleOp module;
  llvm::SetVector<mlir::Operation *> doomed;
  /// The functions to which addArgument is adding an argument. If such a function calls itself, the call needs a new
  /// operand, for which findValue must not add a further argument.
  llvm::SetVector<mlir::Operation *> growing;
};

/// Replaces the size |from| by |to| in the ranked tensor and memref types of |module|, and in vector types if |to| is
/// from 1 to 4096. Unless |to| is dynamic, also replaces |from| in the dims of the attributes of inputs, outputs and
/// caches and, with |numbers|, in integer attributes of type index and i64 and in arrays of i64. Does not change dense
/// constants and other attributes of `xfmr`. A weight whose type changes gets the source `#xfmr.tensor` of its name and
/// new type.
void resizeEverywhere(mlir::ModuleOp module, int64_t from, int64_t to, bool numbers);

} // namespace attune

#endif // ATTUNE_REDUCE_MODULEEDITS_H
