//===- CountFlops.cpp - Arithmetic of every entry -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects xfmr.linear and xfmr.attention (composites decomposed) in entries and in functions that they call. Gives
// entries the attribute `xfmr.flops` and changes nothing else.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/Work.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune {
#define GEN_PASS_DEF_COUNTFLOPS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

namespace {

struct CountFlops : attune::impl::CountFlopsBase<CountFlops> {
  CountFlops() = default;
  /// Copies the options and none of the counts.
  CountFlops(const CountFlops &other) : CountFlopsBase(other) {}
  void runOnOperation() override;

private:
  using Count = std::optional<SizeExpr>;
  Count countOp(Operation *op);
  Count countFunction(func::FuncOp function);

  SymbolTableCollection symbols;
  DimBounds bounds;
  DenseMap<Operation *, SizeExpr> counted;
};

} // namespace

/// Returns the arithmetic operations of |op|; nullopt if they do not follow from the dims.
CountFlops::Count CountFlops::countOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, Count>(op)
      .Case([&](func::CallOp call) -> Count {
        auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
        if (!callee || callee.isExternal())
          return SizeExpr(0);
        Count inside = countFunction(callee);
        return inside ? bounds.atCall(call, *inside) : std::nullopt;
      })
      .Case<LinearOp, AttentionOp>([&](Operation *product) { return countFlops(product, bounds); })
      .Default([](Operation *) { return SizeExpr(0); });
}

CountFlops::Count CountFlops::countFunction(func::FuncOp function) {
  if (auto it = counted.find(function); it != counted.end())
    return it->second;
  counted[function] = SizeExpr(0); // the count within a recursion
  SizeExpr total;
  WalkResult walk = function.walk([&](Operation *op) -> WalkResult {
    if (isa<MultiHeadAttentionOp, FfnOp, ExpertsOp>(op))
      return op->emitOpError("must be decomposed before its arithmetic is counted");
    Count count = countOp(op);
    if (!count)
      return op->emitError("the arithmetic of this operation does not follow from the dims of the entry");
    total = total + *count;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  return counted[function] = total;
}

void CountFlops::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!getEntry(function))
      continue;
    Count count = countFunction(function);
    if (!count)
      return signalPassFailure();
    function->setAttr(kFlopsAttr, count->toFormula(&getContext()));
  }
}
