//===- FoldWeightExpressions.cpp - Expressions over weights become weights ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/HoistWeightExpressions.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"

using namespace mlir;
using namespace mlir::xfmr;

WeightFolder::WeightFolder(ModuleOp module, SymbolTable &symbols) : symbols(symbols) {
  for (auto weight : module.getOps<WeightOp>())
    bySource.try_emplace(weight.getSource(), weight);
}

void WeightFolder::fold(func::FuncOp function) {
  DenseMap<Value, Expression> known;
  SmallVector<Operation *> done;
  function.walk([&](Operation *op) {
    if (auto ref = dyn_cast<WeightRefOp>(op)) {
      auto weight = symbols.lookup<WeightOp>(ref.getWeight());
      known[ref] = {weight.getSource(), weight, ref.getWeight().str()};
      done.push_back(op);
    } else if (isWeightExpression(op) && llvm::all_of(op->getOperands(), [&](Value v) { return known.contains(v); })) {
      Expression &first = known[op->getOperand(0)];
      auto sources = llvm::map_to_vector(op->getOperands(), [&](Value v) { return known[v].source; });
      Expression whole{composeSource(op, sources), first.first, first.name + weightNameSuffix(op).str()};
      known[op->getResult(0)] = whole;
      done.push_back(op);
    }
  });
  for (Operation *op : done)
    if (isWeightExpression(op) &&
        llvm::any_of(op->getUsers(), [&](Operation *user) { return !isWeightExpression(user) || !known.contains(user->getResult(0)); }))
      replaceByReference(op, known[op->getResult(0)]);
  eraseDead(done);
}

void WeightFolder::replaceByReference(Operation *op, const Expression &expression) {
  WeightOp &weight = bySource[expression.source];
  if (!weight) {
    OpBuilder builder(op->getContext());
    weight = WeightOp::create(builder, op->getLoc(), expression.name, StringAttr(), getSourceType(expression.source), expression.source,
                              /*offset=*/IntegerAttr());
    symbols.insert(weight, std::next(expression.first->getIterator()));
  }
  OpBuilder builder(op);
  Value ref = WeightRefOp::create(builder, op->getLoc(), op->getResult(0).getType(), weight.getSymName());
  op->getResult(0).replaceAllUsesWith(ref);
}
