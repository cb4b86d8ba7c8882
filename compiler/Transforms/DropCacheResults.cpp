//===- DropCacheResults.cpp - Caches are updated in place -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects bufferized entries whose results are caches (`xfmr.cache`). Each must be the argument of that name, which then holds the update:
// the result is dropped. Anything else means that bufferization has copied a cache, and is an error.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune {
#define GEN_PASS_DEF_DROPCACHERESULTS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

namespace {
struct DropCacheResults : attune::impl::DropCacheResultsBase<DropCacheResults> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(xfmr::kEntryAttr) || function.isExternal() || function.getNumResults() == 0)
      return;
    Operation *terminator = function.getBody().front().getTerminator();
    for (auto [index, result] : llvm::enumerate(terminator->getOperands())) {
      auto name = function.getResultAttrOfType<StringAttr>(index, xfmr::kCacheAttr);
      auto argument = dyn_cast<BlockArgument>(result);
      if (name && argument && function.getArgAttr(argument.getArgNumber(), xfmr::kCacheAttr) == name)
        continue;
      InFlightDiagnostic error = function.emitError("expects result ") << index << " to be a cache that is updated in place";
      if (name)
        error << ", but " << name << " is copied";
      return signalPassFailure();
    }
    terminator->setOperands({});
    (void)function.eraseResults(llvm::BitVector(function.getNumResults(), true));
  }
};
} // namespace
