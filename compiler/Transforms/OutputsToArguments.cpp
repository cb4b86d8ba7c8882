//===- OutputsToArguments.cpp - Results of entries as output arguments ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects entry functions (`xfmr.entry`) with tensor results. Leaves them without results: each becomes a memref argument marked
// `xfmr.output` that the caller provides, with the result's attributes. Results that are caches stay: each becomes the buffer of the
// argument it is an update of.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "dialect/IR/XfmrOps.h"

namespace attune {
#define GEN_PASS_DEF_OUTPUTSTOARGUMENTS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

namespace {
struct OutputsToArguments : attune::impl::OutputsToArgumentsBase<OutputsToArguments> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(xfmr::kEntryAttr) || function.isExternal())
      return;
    Operation *terminator = function.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
      if (!isa<RankedTensorType>(type)) {
        function.emitError("expects ranked tensors as results of an entry, but result ") << index << " is " << type;
        return signalPassFailure();
      }
    llvm::BitVector outputs(function.getNumResults(), true);
    SmallVector<Value> caches;
    for (auto [index, result] : llvm::enumerate(terminator->getOperands())) {
      if (function.getResultAttr(index, xfmr::kCacheAttr)) {
        outputs.reset(index);
        caches.push_back(result);
        continue;
      }
      auto type = cast<RankedTensorType>(result.getType());
      DictionaryAttr attrs = function.getResultAttrDict(index);
      NamedAttrList list(attrs);
      list.set(attune::kOutputAttr, builder.getUnitAttr());
      (void)function.insertArgument(function.getNumArguments(), MemRefType::get(type.getShape(), type.getElementType()),
                                    list.getDictionary(&getContext()), result.getLoc());
      auto copy =
          bufferization::MaterializeInDestinationOp::create(builder, result.getLoc(), Type(), result, function.getArguments().back());
      copy.setRestrict(true);
      copy.setWritable(true);
    }
    terminator->setOperands(caches);
    (void)function.eraseResults(outputs);
  }
};
} // namespace
