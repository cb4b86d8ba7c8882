//===- LinearOps.cpp - Linear projections as linalg -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/LinearEpilogue.h"
#include "compiler/Conversion/XfmrToLinalg/WeightPanels.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {

using utils::IteratorType;

/// Converts a projection in f32 to a fill with zeros, a contraction over panels, and an epilogue. The contraction
/// widens the elements of panels of bf16 or f16.
struct ConvertLinear : GroupedPattern<xfmr::LinearOp> {
  ConvertLinear(MLIRContext *context, KernelGroups &groups, int64_t width) : GroupedPattern(context, groups), width(width) {}

  LogicalResult matchAndRewrite(xfmr::LinearOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getPrecision() != xfmr::Precision::F32)
      return rewriter.notifyMatchFailure(op, "of lower precision");
    std::optional<xfmr::WeightFormatAttr> format = op.getFormat();
    if (format && !format->getValue().isFloat())
      return rewriter.notifyMatchFailure(op, "with groups of weights");
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<Value> rows;
    if (type.isDynamicDim(0))
      rows.push_back(tensor::DimOp::create(rewriter, loc, adaptor.getInput(), 0));
    auto destination = [&]() -> Value { return tensor::EmptyOp::create(rewriter, loc, type, rows); };
    SmallVector<Operation *> ops;
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    auto fill = linalg::FillOp::create(rewriter, loc, zero, destination());
    ops.push_back(fill);
    IndexBuilder b(loc, rewriter);
    Value weight = format ? roundWeight(b, adaptor.getWeight(), format->getValue()) : adaptor.getWeight();
    ops.push_back(contract(rewriter, loc, adaptor.getInput(), weight, fill.getResult(0)));
    if (hasEpilogue(op))
      ops.push_back(epilogue(rewriter, op, adaptor, ops.back()->getResult(0), destination()));
    std::string element = format ? format->getValue().str() : "f32", text = describeLinear(op) + (format ? ", " + element : "");
    groups.mark(ops, text);
    xfmr::passed(op, "convert-xfmr-to-linalg", "PackWeights")
        << remark::metric(xfmr::kRemarkKernel, text) << remark::add("{0} weights in panels of {1} columns", element, width);
    rewriter.replaceOp(op, ops.back()->getResults());
    return success();
  }

private:
  /// Creates `result[m, n] += sum_k input[m, k] * panels[n / width, k, n mod width]`.
  Operation *contract(OpBuilder &builder, Location loc, Value input, Value weight, Value init) const {
    AffineExpr m, n, k;
    bindDims(builder.getContext(), m, n, k);
    auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(3, 0, results, builder.getContext()); };
    Value panels = xfmr::WeightPackOp::create(builder, loc, weight, width);
    return linalg::GenericOp::create(builder, loc, init.getType(), ValueRange{input, panels}, init,
                                     ArrayRef<AffineMap>{map({m, k}), map({n.floorDiv(width), k, n % width}), map({m, n})},
                                     ArrayRef<IteratorType>{IteratorType::parallel, IteratorType::parallel, IteratorType::reduction},
                                     [](OpBuilder &b, Location loc, ValueRange args) {
                                       Value w = args[1];
                                       if (w.getType() != args[2].getType())
                                         w = arith::ExtFOp::create(b, loc, args[2].getType(), w);
                                       Value product = arith::MulFOp::create(b, loc, args[0], w);
                                       linalg::YieldOp::create(b, loc, arith::AddFOp::create(b, loc, args[2], product).getResult());
                                     });
  }

  /// Creates `activation(x + bias) * multiplier + residual`, without the parts that |op| does not have.
  Operation *epilogue(OpBuilder &builder, xfmr::LinearOp op, OpAdaptor adaptor, Value x, Value destination) const {
    AffineMap identity = builder.getMultiDimIdentityMap(2);
    SmallVector<Value> inputs{x};
    SmallVector<AffineMap> maps{identity};
    addEpilogueOperands(op, adaptor, inputs, maps);
    maps.push_back(identity);
    return linalg::GenericOp::create(builder, op.getLoc(), destination.getType(), inputs, destination, maps,
                                     SmallVector<IteratorType>(2, IteratorType::parallel),
                                     [&](OpBuilder &b, Location loc, ValueRange args) {
                                       linalg::YieldOp::create(b, loc, emitEpilogue(b, loc, op, args[0], args.drop_front()));
                                     });
  }

  int64_t width;
};

Values convertSplitHeads(IndexBuilder &b, xfmr::SplitHeadsOp op, xfmr::SplitHeadsOp::Adaptor adaptor, KernelGroups &) {
  SmallVector<ReassociationIndices> split{{0}, {1, 2}};
  return {tensor::ExpandShapeOp::create(b, op.getType(), adaptor.getInput(), split)};
}

Values convertMergeHeads(IndexBuilder &b, xfmr::MergeHeadsOp op, xfmr::MergeHeadsOp::Adaptor adaptor, KernelGroups &) {
  SmallVector<ReassociationIndices> merge{{0}, {1, 2}};
  return {tensor::CollapseShapeOp::create(b, op.getType(), adaptor.getInput(), merge)};
}

} // namespace

void attune::populateLinearPatterns(RewritePatternSet &patterns, KernelGroups &groups, int64_t panelWidth) {
  patterns.add<ConvertLinear>(patterns.getContext(), groups, panelWidth);
  addConversion(patterns, groups, convertSplitHeads);
  addConversion(patterns, groups, convertMergeHeads);
}
