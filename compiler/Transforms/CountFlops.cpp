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

namespace attune {
#define GEN_PASS_DEF_COUNTFLOPS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

namespace {
struct CountFlops : attune::impl::CountFlopsBase<CountFlops> {
  using CountFlopsBase::CountFlopsBase;
  void runOnOperation() override;
};
} // namespace

void CountFlops::runOnOperation() {
  WalkResult walk = getOperation().walk([](Operation *op) -> WalkResult {
    if (isa<MultiHeadAttentionOp, FfnOp, ExpertsOp>(op))
      return op->emitOpError("must be decomposed before its arithmetic is counted");
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return signalPassFailure();
  CallSum flops("arithmetic", [](Operation *op, DimBounds &bounds) -> std::optional<SizeExpr> {
    if (!isa<LinearOp, AttentionOp>(op))
      return SizeExpr(0);
    std::optional<SizeExpr> once = countFlops(op, bounds);
    return once ? std::optional(*once * SizeExpr(countRowsPerToken(op))) : once;
  });
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!getEntry(function))
      continue;
    std::optional<SizeExpr> count = flops.count(function);
    if (!count)
      return signalPassFailure();
    function->setAttr(kFlopsAttr, count->toFormula(&getContext()));
  }
}
