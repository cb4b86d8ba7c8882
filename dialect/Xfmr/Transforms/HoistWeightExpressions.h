//===- HoistWeightExpressions.h - The two ways of an expression -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_TRANSFORMS_HOISTWEIGHTEXPRESSIONS_H
#define XFMR_TRANSFORMS_HOISTWEIGHTEXPRESSIONS_H

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::xfmr {

/// Whether |function| has expressions over its weight arguments that something other than an expression uses.
bool hasExpressionsOverArguments(func::FuncOp function);

/// Turns the expressions of |function| over its arguments into new arguments, each where the first argument it uses stands, and computes
/// them at |callers|, which are all its uses. Fails, with an error, where the function cannot take or drop arguments.
LogicalResult hoistToCallers(func::FuncOp function, ArrayRef<func::CallOp> callers);

/// Declares weights for expressions over references.
class WeightFolder {
public:
  WeightFolder(ModuleOp module, SymbolTable &symbols);

  /// Replaces every expression over references in |function| that is used by something else by a reference.
  void fold(func::FuncOp function);

private:
  /// An expression as a source, the weight of its first leaf, and a name for it.
  struct Expression {
    Attribute source;
    WeightOp first;
    std::string name;
  };

  void replaceByReference(Operation *op, const Expression &expression);

  SymbolTable &symbols;
  DenseMap<Attribute, WeightOp> bySource;
};

/// Erases those of |expressions|, in the order of the function, that have no uses.
inline void eraseDead(ArrayRef<Operation *> expressions) {
  for (Operation *op : llvm::reverse(expressions))
    if (op->use_empty())
      op->erase();
}

} // namespace mlir::xfmr

#endif // XFMR_TRANSFORMS_HOISTWEIGHTEXPRESSIONS_H
