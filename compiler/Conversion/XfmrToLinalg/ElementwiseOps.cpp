//===- ElementwiseOps.cpp - Sums of tensors as linalg ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's convert-elementwise-to-linalg makes an operand the destination, which costs a copy once the kernel is a function of its own: here the
// sum gets an empty one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/TokenEmitter.h"
#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {
struct ConvertTensorAdd : OpConversionPattern<arith::AddFOp> {
  ConvertTensorAdd(MLIRContext *context, KernelGroups &groups) : OpConversionPattern(context), groups(groups) {}

  LogicalResult matchAndRewrite(arith::AddFOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    TokenEmitter emit(rewriter, op.getLoc());
    Value destination = emit.empty(type, emit.dynamicSizes(adaptor.getLhs()));
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    Value sum = emit.generic(adaptor.getOperands(), {identity, identity}, destination, [](TokenEmitter &body, ValueRange args) -> Value {
      return arith::AddFOp::create(body.builder, body.loc, args[0], args[1]);
    });
    groups.mark(sum.getDefiningOp(), "add");
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  KernelGroups &groups;
};
} // namespace

void attune::populateElementwisePatterns(RewritePatternSet &patterns, KernelGroups &groups) { patterns.add<ConvertTensorAdd>(patterns.getContext(), groups); }
