//===- CountGathers.cpp - Gathers of every entry, and their bytes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects xfmr.all_gather in entries and in functions that they call. Gives entries the attributes `xfmr.gathers` and
// `xfmr.gather_bytes` if the module is for several ranks, and changes nothing else.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/Work.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {
#define GEN_PASS_DEF_COUNTGATHERS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

namespace {
struct CountGathers : attune::impl::CountGathersBase<CountGathers> {
  using CountGathersBase::CountGathersBase;
  void runOnOperation() override;
};
} // namespace

/// Returns the number of executions of |op| in a call of its function if |op| is a gather, else 0. A loop whose number
/// of iterations is not a constant counts as one iteration. In the loop over experts the number is an upper bound,
/// since experts without rows gather nothing.
static std::optional<SizeExpr> countGathers(Operation *op, DimBounds &) {
  return isa<AllGatherOp>(op) ? SizeExpr(countRuns(op)) : SizeExpr(0);
}

/// Returns the bytes that a rank receives from the other ranks by |op| if |op| is a gather, else 0; nullopt if a size
/// has no bound. In a loop only one run counts. In the loop over experts it stands for all runs: if rows are sorted by
/// expert, the bound of the rows in one run is the number of rows of all experts; if experts have lists of tokens, the
/// bound is the number of tokens, and the bytes are multiplied by the number of rows that a token has in all runs.
static std::optional<SizeExpr> countGatherBytes(Operation *op, DimBounds &bounds) {
  auto gather = dyn_cast<AllGatherOp>(op);
  if (!gather)
    return SizeExpr(0);
  std::optional<SizeExpr> bytes = countBytes(gather.getInput(), bounds);
  int64_t others = static_cast<int64_t>(gather.getBegins().size()) - 1;
  return bytes ? std::optional(*bytes * SizeExpr(others * countRowsPerToken(op))) : std::nullopt;
}

void CountGathers::runOnOperation() {
  if (getRanks(getOperation()) == 1)
    return;
  CallSum gathers("number of gathers", countGathers), bytes("number of bytes", countGatherBytes);
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!getEntry(function))
      continue;
    std::optional<SizeExpr> gatherCount = gathers.count(function), byteCount = bytes.count(function);
    if (!gatherCount || !byteCount)
      return signalPassFailure();
    function->setAttr(kGathersAttr, gatherCount->toFormula(&getContext()));
    function->setAttr(kGatherBytesAttr, byteCount->toFormula(&getContext()));
  }
}
