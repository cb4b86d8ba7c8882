//===- StacksToBuffers.cpp - Buffers for stacked tensors ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects functions on tensors. A group of outputs, such as the hidden states of all layers, is a sequence of
// `tensor.insert_slice`, one for each layer. One-shot bufferization compares every insertion with every other one,
// which takes time at least quadratic in their number. If the sequence begins at a `tensor.empty` and each result is
// used by the next insertion only, this pass replaces the sequence by a buffer to which the inserted tensors are
// copied, as bufferization would do.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attune {
#define GEN_PASS_DEF_STACKSTOBUFFERS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;

/// Returns the insertions that fill |empty|, each into the result of the one before, in the block of |empty|. The list
/// ends at a result that has several uses or no such insertion as its use.
static SmallVector<tensor::InsertSliceOp> getChain(tensor::EmptyOp empty) {
  SmallVector<tensor::InsertSliceOp> chain;
  Value whole = empty;
  while (whole.hasOneUse()) {
    OpOperand &use = *whole.use_begin();
    auto insertion = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    if (!insertion || use.get() != insertion.getDest() || insertion.getSource() == whole || insertion->getBlock() != empty->getBlock())
      break;
    chain.push_back(insertion);
    whole = insertion.getResult();
  }
  return chain;
}

namespace {
struct StacksToBuffers : attune::impl::StacksToBuffersBase<StacksToBuffers> {
  void runOnOperation() override {
    SmallVector<tensor::EmptyOp> empties;
    getOperation().walk([&](tensor::EmptyOp empty) { empties.push_back(empty); });
    for (tensor::EmptyOp empty : empties)
      // A single insertion costs bufferization little.
      if (SmallVector<tensor::InsertSliceOp> chain = getChain(empty); chain.size() > 1)
        rewrite(empty, chain);
  }

private:
  void rewrite(tensor::EmptyOp empty, ArrayRef<tensor::InsertSliceOp> chain) {
    OpBuilder builder(empty);
    RankedTensorType type = empty.getType();
    auto bufferType = MemRefType::get(type.getShape(), type.getElementType());
    auto alignment = builder.getI64IntegerAttr(bufferization::BufferizationOptions().bufferAlignment);
    Value buffer = memref::AllocOp::create(builder, empty.getLoc(), bufferType, empty.getDynamicSizes(), alignment);
    for (tensor::InsertSliceOp insertion : chain) {
      builder.setInsertionPoint(insertion);
      Location loc = insertion.getLoc();
      auto part =
          memref::SubViewOp::inferRankReducedResultType(insertion.getSourceType().getShape(), bufferType, insertion.getMixedOffsets(),
                                                        insertion.getMixedSizes(), insertion.getMixedStrides());
      Value view = memref::SubViewOp::create(builder, loc, part, buffer, insertion.getMixedOffsets(), insertion.getMixedSizes(),
                                             insertion.getMixedStrides());
      bufferization::MaterializeInDestinationOp::create(builder, loc, Type(), insertion.getSource(), view, /*restrict=*/true,
                                                        /*writable=*/true);
    }
    tensor::InsertSliceOp last = chain.back();
    builder.setInsertionPoint(last);
    last.replaceAllUsesWith(
        bufferization::ToTensorOp::create(builder, last.getLoc(), type, buffer, /*restrict=*/true, /*writable=*/true).getResult());
    for (tensor::InsertSliceOp insertion : llvm::reverse(chain))
      insertion.erase();
    empty.erase();
  }
};
} // namespace
