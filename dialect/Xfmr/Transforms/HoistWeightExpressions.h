//===- HoistWeightExpressions.h - Weight expressions into sources -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_TRANSFORMS_HOISTWEIGHTEXPRESSIONS_H
#define XFMR_TRANSFORMS_HOISTWEIGHTEXPRESSIONS_H

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::xfmr {

/// Returns true if |function| has an expression over its weight arguments that has a user other than an expression.
bool hasExpressionsOverArguments(func::FuncOp function);

/// Turns the expressions of |function| over its weight arguments into new arguments, and computes them at |callers|,
/// which are all uses of the function. A new argument comes before the first argument among the leaves of its
/// expression, from left to right. Then removes the weight arguments without uses from the function and from |callers|.
/// Fails, with an error, if the arguments of the function cannot be changed.
LogicalResult hoistToCallers(func::FuncOp function, ArrayRef<func::CallOp> callers);

/// The weights of a module by source, to which new ones are added for expressions over references.
class WeightFolder {
public:
  WeightFolder(ModuleOp module, SymbolTable &symbols);

  /// Replaces every expression over references in |function| that has a user other than an expression by a reference to
  /// a weight whose source is the expression, and erases the expressions and references that are left without users.
  void fold(func::FuncOp function);

private:
  /// The source of an expression, the weight of its first leaf, and the name of the weight that may replace the
  /// expression.
  struct Expression {
    Attribute source;
    WeightOp first;
    std::string name;
  };

  void replaceByReference(Operation *op, const Expression &expression);

  SymbolTable &symbols;
  DenseMap<Attribute, WeightOp> bySource;
};

/// Erases those of |expressions|, weight expressions and references in the order of the function, that have no uses or
/// are used only by erased ones.
inline void eraseDead(ArrayRef<Operation *> expressions) {
  for (Operation *op : llvm::reverse(expressions))
    if (op->use_empty())
      op->erase();
}

} // namespace mlir::xfmr

#endif // XFMR_TRANSFORMS_HOISTWEIGHTEXPRESSIONS_H
