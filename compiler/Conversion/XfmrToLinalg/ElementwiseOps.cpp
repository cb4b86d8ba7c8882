//===- ElementwiseOps.cpp - Elementwise ops on tensors as linalg ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's convert-elementwise-to-linalg uses an operand as the destination, which costs a copy once the kernel is a
// function of its own. Here the destination is a new tensor.empty.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {
struct ConvertElementwise : ConversionPattern {
  ConvertElementwise(MLIRContext *context, KernelGroups &groups)
      : ConversionPattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), groups(groups) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands, ConversionPatternRewriter &rewriter) const override {
    auto type = isElementwiseOnTensors(op) ? dyn_cast<RankedTensorType>(op->getResultTypes()[0]) : RankedTensorType();
    if (!type)
      return failure();
    IndexBuilder b(op->getLoc(), rewriter);
    Value destination = tensor::EmptyOp::create(b, type, dynamicSizes(b, operands[0]));
    SmallVector<AffineMap> maps(operands.size(), rewriter.getMultiDimIdentityMap(type.getRank()));
    Value result = generic(b, operands, maps, destination, [&](ValueRange args) -> Value {
      OperationState scalar(b.getLoc(), op->getName(), args.take_front(operands.size()), {type.getElementType()}, op->getAttrs());
      return b.create(scalar)->getResult(0);
    });
    groups.mark(result.getDefiningOp(), op->getName().stripDialect());
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  KernelGroups &groups;
};
} // namespace

bool attune::isElementwiseOnTensors(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperandTypes(), isTensor) && isTensor(op->getResultTypes()[0]);
}

void attune::populateElementwisePatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertElementwise>(patterns.getContext(), groups);
}
