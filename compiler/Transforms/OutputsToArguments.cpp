//===- OutputsToArguments.cpp - Results of entries as output arguments ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects entry functions (`xfmr.entry`) with tensor results. Each result becomes a memref argument that the caller
// provides, with the attributes of the result. Results that are caches stay results, but they and the arguments that
// they update become buffers, too: one-shot bufferization compares every returned tensor with every tensor argument,
// and there are two or more caches for each layer.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {
#define GEN_PASS_DEF_OUTPUTSTOARGUMENTS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

/// Returns the type of a buffer for a tensor of |type|, of identity layout.
static MemRefType getBufferType(RankedTensorType type) { return MemRefType::get(type.getShape(), type.getElementType()); }

/// Converts the arguments of |function| that are caches to buffers, and replaces each of |caches|, the values of its
/// results, by a buffer. The caller changes the results and the type of the function.
static void passCachesAsBuffers(func::FuncOp function, MutableArrayRef<Value> caches) {
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !xfmr::getCache(function, argument.getArgNumber()))
      continue;
    argument.setType(getBufferType(type));
    auto tensor = bufferization::ToTensorOp::create(builder, argument.getLoc(), type, argument, /*restrict=*/true, /*writable=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
    for (Value &cache : caches)
      if (cache == argument)
        cache = tensor;
  }
  builder.setInsertionPoint(body.getTerminator());
  for (Value &cache : caches)
    cache = bufferization::ToBufferOp::create(builder, cache.getLoc(), getBufferType(cast<RankedTensorType>(cache.getType())), cache,
                                              /*read_only=*/true);
}

namespace {
struct OutputsToArguments : attune::impl::OutputsToArgumentsBase<OutputsToArguments> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!xfmr::getEntry(function))
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
      if (xfmr::getResultCache(function, index)) {
        outputs.reset(index);
        caches.push_back(result);
        continue;
      }
      auto type = cast<RankedTensorType>(result.getType());
      (void)function.insertArgument(function.getNumArguments(), getBufferType(type), function.getResultAttrDict(index), result.getLoc());
      auto copy =
          bufferization::MaterializeInDestinationOp::create(builder, result.getLoc(), Type(), result, function.getArguments().back());
      copy.setRestrict(true);
      copy.setWritable(true);
    }
    (void)function.eraseResults(outputs);
    passCachesAsBuffers(function, caches);
    terminator->setOperands(caches);
    function.setFunctionType(
        builder.getFunctionType(function.getBody().front().getArgumentTypes(), TypeRange(ValueRange(ArrayRef<Value>(caches)))));
  }
};
} // namespace
