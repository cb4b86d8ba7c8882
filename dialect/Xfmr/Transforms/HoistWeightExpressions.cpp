//===- HoistWeightExpressions.cpp - Weight expressions into sources -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects weights as arguments marked xfmr.weight of private functions and as weight_refs; leaves no expression over
// either, except in functions whose arguments are not ours to change. Functions are visited callees first: what a
// function hands to its callers is folded or handed on when their turn comes. Each visit looks at the function's
// operations once and does a constant amount of work per call and expression, so the whole is linear in the number of
// layers.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/HoistWeightExpressions.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_HOISTWEIGHTEXPRESSIONS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;
using func::CallOp;
using func::FuncOp;

namespace {

/// The functions of a module, callees first, and who calls them.
struct Calls {
  explicit Calls(ModuleOp module, SymbolTable &symbols) {
    for (auto function : module.getOps<FuncOp>())
      visit(function, symbols);
    // A function that is named other than by a call, from anywhere, must keep its type.
    module.walk([&](Operation *op) {
      if (isa<CallOp>(op))
        return;
      op->getAttrDictionary().walk([&](SymbolRefAttr attr) {
        if (auto function = symbols.lookup<FuncOp>(attr.getRootReference()))
          fixed.insert(function);
      });
    });
  }

  /// Whether all uses of |function| are calls that this pass can rewrite.
  bool isClosed(FuncOp function) const { return function.isPrivate() && !function.isDeclaration() && !fixed.contains(function); }

  llvm::SetVector<FuncOp> postorder;
  DenseMap<FuncOp, SmallVector<CallOp>> callers;

private:
  void visit(FuncOp function, SymbolTable &symbols) {
    if (!entered.insert(function).second)
      return;
    function.walk([&](CallOp call) {
      auto callee = symbols.lookup<FuncOp>(call.getCallee());
      if (!callee)
        return;
      callers[callee].push_back(call);
      visit(callee, symbols);
      if (!postorder.contains(callee)) // still being visited: a recursion
        fixed.insert(callee);
    });
    postorder.insert(function);
  }

  DenseSet<FuncOp> entered, fixed;
};

/// Erases the weights that no op names.
void eraseUnusedWeights(ModuleOp module) {
  auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!uses) // an unknown op may use anything
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
    Calls calls(module, symbols);
    WeightFolder folder(module, symbols);
    for (FuncOp function : calls.postorder) {
      if (calls.isClosed(function)) {
        if (failed(hoistToCallers(function, calls.callers.lookup(function))))
          return signalPassFailure();
      } else if (!function.isDeclaration() && hasExpressionsOverArguments(function)) {
        remark::missed(function.getLoc(), remark::RemarkOpts::name("HoistWeightExpressions").category("xfmr-hoist-weight-expressions"))
            << remark::reason("'{0}' has uses other than calls from outside it", function.getSymName());
      }
      folder.fold(function);
    }
    eraseUnusedWeights(module);
  }
};

} // namespace
