//===- HoistWeightExpressions.cpp - Weight expressions into sources -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects weights as arguments marked xfmr.weight of private functions and as weight_refs. Leaves no weight expression
// over these arguments and references, except over arguments of functions whose arguments the pass must not change.
// Functions are visited callees first: the expressions that a function moves to its callers are folded, or moved
// further, when the callers are visited. Each visit reads the function's operations once and does a constant amount of
// work for each call and each expression, so the time of the pass is linear in the number of layers.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/HoistWeightExpressions.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "dialect/Xfmr/Transforms/Passes.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_HOISTWEIGHTEXPRESSIONS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;
using func::CallOp;
using func::FuncOp;

namespace {

/// Erases the weights that no operation names. Erases none if the module has an operation whose uses of symbols are
/// unknown.
void eraseUnusedWeights(ModuleOp module) {
  auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!uses) // an operation of unknown uses may name any symbol
    return;
  DenseSet<StringAttr> used;
  for (SymbolTable::SymbolUse use : *uses)
    used.insert(use.getSymbolRef().getRootReference());
  for (auto weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (!used.contains(weight.getSymNameAttr()))
      weight.erase();
}

struct HoistWeightExpressions : xfmr::impl::HoistWeightExpressionsBase<HoistWeightExpressions> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    CalleesFirst order(module, symbols);
    FunctionUsers users(module, symbols);
    WeightFolder folder(module, symbols);
    for (FuncOp function : order.functions) {
      // A recursive function, or one with a user other than a call, must keep its type.
      bool onlyCalled = !order.recursive.contains(function) && !users.hasOtherUsers(function);
      if (function.isPrivate() && !function.isDeclaration() && onlyCalled) {
        if (failed(hoistToCallers(function, users.getCalls(function))))
          return signalPassFailure();
      } else if (!function.isDeclaration() && hasExpressionsOverArguments(function)) {
        missed(function, "xfmr-hoist-weight-expressions", "HoistWeightExpressions")
            << remark::reason("'{0}' is public, recursive or used other than by calls", function.getSymName());
      }
      folder.fold(function);
    }
    eraseUnusedWeights(module);
  }
};

} // namespace
