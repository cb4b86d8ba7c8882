//===- FunctionUsers.cpp - The calls of each function of a module ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

FunctionUsers::FunctionUsers(ModuleOp module, const SymbolTable &symbols) {
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        calls[callee].push_back(call);
      return;
    }
    // A weight_ref names a weight, never a function. Skipping weight_refs saves time: an entry has several for every
    // layer.
    if (isa<WeightRefOp>(op) || (op->isRegistered() && !isa<SymbolUserOpInterface>(op)))
      return;
    op->getAttrDictionary().walk([&](SymbolRefAttr attr) {
      if (auto function = symbols.lookup<func::FuncOp>(attr.getRootReference()))
        named.insert(function);
    });
  });
}

ArrayRef<func::CallOp> FunctionUsers::getCalls(func::FuncOp function) const {
  auto found = calls.find(function);
  return found == calls.end() ? ArrayRef<func::CallOp>() : ArrayRef<func::CallOp>(found->second);
}

CalleesFirst::CalleesFirst(ModuleOp module, const SymbolTable &symbols) : symbols(symbols) {
  for (auto function : module.getOps<func::FuncOp>())
    visit(function);
}

void CalleesFirst::visit(func::FuncOp function) {
  if (!entered.insert(function).second)
    return;
  function.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee)
      return;
    visit(callee);
    if (!functions.contains(callee)) // still being visited, so it is recursive
      recursive.insert(callee);
  });
  functions.insert(function);
}
