//===- DropCacheResults.cpp - Caches are updated in place -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects bufferized entries whose results are caches (`xfmr.cache`). Each result must be the argument with the same
// cache, which the function has updated in place; then the result is dropped. Any other result is an error: if it is
// marked as a cache, bufferization has copied this cache.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
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
    if (!xfmr::getEntry(function) || function.getNumResults() == 0)
      return;
    Operation *terminator = function.getBody().front().getTerminator();
    for (auto [index, result] : llvm::enumerate(terminator->getOperands())) {
      xfmr::CacheAttr cache = xfmr::getResultCache(function, index);
      auto argument = dyn_cast<BlockArgument>(result);
      if (cache && argument && xfmr::getCache(function, argument.getArgNumber()) == cache)
        continue;
      InFlightDiagnostic error = function.emitError("expects result ") << index << " to be a cache that is updated in place";
      if (cache)
        error << ", but " << cache.getName() << " is copied";
      return signalPassFailure();
    }
    terminator->setOperands({});
    (void)function.eraseResults(llvm::BitVector(function.getNumResults(), true));
  }
};
} // namespace
