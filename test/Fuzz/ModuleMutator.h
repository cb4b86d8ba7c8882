//===- ModuleMutator.h - Random changes of IR -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_MODULEMUTATOR_H
#define ATTUNE_TEST_FUZZ_MODULEMUTATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "test/Fuzz/Decisions.h"

namespace attune {

/// A random change of a module of any phase. |decisions| select the position and the kind of the change: sizes and
/// element types of one value or of all, attributes, operands, operations, constants, regions, and arguments and
/// results of functions. The changed module may be invalid; the caller verifies it. Inherent attributes of upstream
/// operations keep their kind, because upstream's verifiers read attributes that they have not checked. The constructor
/// lists the operations of the module, so each mutator changes the module only once.
class ModuleMutator {
public:
  ModuleMutator(mlir::ModuleOp module, Decisions &decisions);

  /// Changes the module once. Returns false if the selected change does not apply at the selected position.
  bool mutate();

private:
  /// Returns an operation of the module. Either all operations or all names of operations are equally likely.
  mlir::Operation *pickOp();
  mlir::func::FuncOp pickFunction();
  /// Returns an attribute of the operation that pickOp returns; null if that operation has none.
  mlir::Attribute pickAttribute();
  /// Returns a value of type |type|, other than |except|, that is defined before |op| in a block around |op|; null if
  /// there is none.
  mlir::Value pickValue(mlir::Operation *op, mlir::Type type, mlir::Value except = {});
  /// Creates a value of |type| before |op|: 0 for an integer or an index, else poison.
  mlir::Value makeValue(mlir::Operation *op, mlir::Type type);
  int64_t pickSize(int64_t size);
  int64_t pickNumber(int64_t number);
  mlir::Type pickElementType(mlir::Type type);

  /// Returns |type| with another size, element type, rank or layout; a scalar type changes to another one. Returns
  /// |type| itself if it is neither a scalar nor a ranked type, or if the changed type would be invalid.
  mlir::Type changeType(mlir::Type type);
  /// Returns an attribute of the kind of |attribute| with another value; null if there is none. With |keepsForm|,
  /// arrays of numbers keep their length and the positions of their dynamic sizes, since upstream's accessors read one
  /// operand for each dynamic size.
  mlir::Attribute changeAttribute(mlir::Attribute attribute, bool keepsForm = false);

  bool changeSizeEverywhere();
  bool changeElementTypeEverywhere();
  bool changeOperandType();
  bool changeResultType();
  bool changeOneAttribute();
  bool changeOperand();
  bool changeConstant();
  bool eraseOp();
  bool duplicateOp();
  bool moveOp();
  bool emptyRegion();
  bool addArgument();
  bool eraseArgument();
  bool addResult();
  bool eraseResult();

  mlir::ModuleOp module;
  Decisions &decisions;
  std::vector<mlir::Operation *> ops;
  std::vector<std::vector<mlir::Operation *>> opsByName;
  std::vector<mlir::func::FuncOp> functions;
};

} // namespace attune

#endif // ATTUNE_TEST_FUZZ_MODULEMUTATOR_H
