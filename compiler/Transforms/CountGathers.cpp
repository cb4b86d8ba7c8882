//===- CountGathers.cpp - Messages and bytes of every entry ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects xfmr.all_gather in entries and in functions that they call. Gives entries the attributes `xfmr.gathers` and
// `xfmr.gather_bytes` and changes nothing else.
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
  CountGathers() = default;
  /// Copies the options and none of the counts.
  CountGathers(const CountGathers &other) : CountGathersBase(other) {}
  void runOnOperation() override;

private:
  struct Count {
    SizeExpr gathers, bytes;
  };
  std::optional<Count> countOp(Operation *op);
  std::optional<Count> countFunction(func::FuncOp function);

  SymbolTableCollection symbols;
  DimBounds bounds;
  DenseMap<Operation *, Count> counted;
};

} // namespace

/// Returns the gathers of |op| in one execution; nullopt if their bytes do not follow from the dims.
std::optional<CountGathers::Count> CountGathers::countOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return Count();
    std::optional<Count> inside = countFunction(callee);
    std::optional<SizeExpr> gathers = inside ? bounds.atCall(call, inside->gathers) : std::nullopt;
    std::optional<SizeExpr> bytes = inside ? bounds.atCall(call, inside->bytes) : std::nullopt;
    return gathers && bytes ? std::optional(Count{*gathers, *bytes}) : std::nullopt;
  }
  auto gather = dyn_cast<AllGatherOp>(op);
  if (!gather)
    return Count();
  std::optional<SizeExpr> bytes = countBytes(gather.getInput(), bounds);
  if (!bytes)
    return std::nullopt;
  return Count{SizeExpr(1), *bytes * SizeExpr(static_cast<int64_t>(gather.getBegins().size()) - 1)};
}

std::optional<CountGathers::Count> CountGathers::countFunction(func::FuncOp function) {
  if (auto it = counted.find(function); it != counted.end())
    return it->second;
  counted[function] = Count(); // the count within a recursion
  Count total;
  WalkResult walk = function.walk([&](Operation *op) -> WalkResult {
    std::optional<Count> count = countOp(op);
    if (!count)
      return op->emitError("the bytes of this operation do not follow from the dims of the entry");
    SizeExpr runs = countRuns(op);
    total.gathers = total.gathers + count->gathers * runs;
    total.bytes = total.bytes + count->bytes * runs;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  return counted[function] = total;
}

void CountGathers::runOnOperation() {
  if (getRanks(getOperation()) == 1)
    return;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!getEntry(function))
      continue;
    std::optional<Count> count = countFunction(function);
    if (!count)
      return signalPassFailure();
    function->setAttr(kGathersAttr, count->gathers.toFormula(&getContext()));
    function->setAttr(kGatherBytesAttr, count->bytes.toFormula(&getContext()));
  }
}
