//===- ActivationOps.cpp - Activations and softmax as linalg --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/Activations.h"
#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Transforms/DialectConversion.h"

#include <limits>

using namespace mlir;
using namespace attune;

namespace {

struct ConvertActivation : GroupedPattern<xfmr::ActivationOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::ActivationOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    IndexBuilder b(op.getLoc(), rewriter);
    Value input = adaptor.getInput(), destination = tensor::EmptyOp::create(b, type, dynamicSizes(b, input));
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    Value result =
        generic(b, input, identity, destination, [&](ValueRange args) { return emitActivation(b, b.getLoc(), op.getKind(), args[0]); });
    groups.mark(result.getDefiningOp(), "activation " + Twine(xfmr::stringifyActivation(op.getKind())));
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConvertClampedGlu : GroupedPattern<xfmr::ClampedGluOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::ClampedGluOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    IndexBuilder b(op.getLoc(), rewriter);
    AffineMap identity = rewriter.getMultiDimIdentityMap(2);
    Value destination = tensor::EmptyOp::create(b, type, dynamicSizes(b, adaptor.getGate()));
    Value result = generic(b, {adaptor.getGate(), adaptor.getUp()}, {identity, identity}, destination, [&](ValueRange args) -> Value {
      auto constant = [&](double value) -> Value { return arith::ConstantOp::create(b, b.getFloatAttr(type.getElementType(), value)); };
      double limit = op.getLimit().convertToDouble();
      Value gate = arith::MinimumFOp::create(b, args[0], constant(limit));
      Value up = arith::MaximumFOp::create(b, arith::MinimumFOp::create(b, args[1], constant(limit)), constant(-limit));
      // exp(-x) = inf yields the right limit.
      Value exponential = math::ExpOp::create(b, b.mulf(gate, constant(-op.getAlpha().convertToDouble())));
      Value gated = b.divf(gate, b.addf(constant(1), exponential));
      return b.mulf(b.addf(up, constant(1)), gated);
    });
    groups.mark(result.getDefiningOp(), "clamped glu");
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// softmax -> row maximum, exponentials, row sum, quotient; with log: maximum, sum of exponentials, differences.
struct ConvertSoftmax : GroupedPattern<xfmr::SoftmaxOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::SoftmaxOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    IndexBuilder b(op.getLoc(), rewriter);
    Value x = adaptor.getInput();
    Operation *before = op->getPrevNode();
    Value result = op.getLog() ? logSoftmax(b, type, x) : softmax(b, type, x);
    SmallVector<Operation *> ops;
    for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op; made = made->getNextNode())
      if (isa<linalg::LinalgOp>(made))
        ops.push_back(made);
    groups.mark(ops, (op.getLog() ? "log_softmax " : "softmax ") + Twine(type.getDimSize(1)));
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static AffineMap full(IndexBuilder &b) { return b.getMultiDimIdentityMap(2); }
  static AffineMap perRow(IndexBuilder &b) { return full(b).getMajorSubMap(1); }

  /// Reduces |inputs| over columns, starting from |init|; the body gets the accumulator as its last argument.
  static Value reduce(IndexBuilder &b, RankedTensorType type, ValueRange inputs, ArrayRef<AffineMap> maps, double init, ElementBody body) {
    Value rows = b.size(inputs[0], 0);
    RankedTensorType perRow = RankedTensorType::get(type.getShape().take_front(), type.getElementType());
    Value destination = filled(b, perRow, type.isDynamicDim(0) ? ValueRange(rows) : ValueRange(), init);
    return generic(b, inputs, maps, destination, body, /*reduced=*/1);
  }
  static Value rowMaximum(IndexBuilder &b, RankedTensorType type, Value x) {
    return reduce(b, type, x, full(b), -std::numeric_limits<double>::infinity(),
                  [&](ValueRange args) -> Value { return arith::MaximumFOp::create(b, args[1], args[0]); });
  }
  static Value softmax(IndexBuilder &b, RankedTensorType type, Value x) {
    SmallVector<AffineMap> fullAndRow{full(b), perRow(b)};
    auto destination = [&] { return tensor::EmptyOp::create(b, type, dynamicSizes(b, x)); };
    Value maximum = rowMaximum(b, type, x);
    Value exps = generic(b, {x, maximum}, fullAndRow, destination(),
                         [&](ValueRange args) { return math::ExpOp::create(b, b.subf(args[0], args[1])); });
    Value sum = reduce(b, type, exps, full(b), 0.0, [&](ValueRange args) { return b.addf(args[1], args[0]); });
    return generic(b, {exps, sum}, fullAndRow, destination(), [&](ValueRange args) -> Value { return b.divf(args[0], args[1]); });
  }

  static Value logSoftmax(IndexBuilder &b, RankedTensorType type, Value x) {
    AffineMap perRow = ConvertSoftmax::perRow(b);
    Value maximum = rowMaximum(b, type, x);
    Value sum = reduce(b, type, {x, maximum}, {full(b), perRow}, 0.0,
                       [&](ValueRange args) { return b.addf(args[2], math::ExpOp::create(b, b.subf(args[0], args[1]))); });
    Value destination = tensor::EmptyOp::create(b, type, dynamicSizes(b, x));
    return generic(b, {x, maximum, sum}, {full(b), perRow, perRow}, destination, [&](ValueRange args) {
      Value log = math::LogOp::create(b, args[2]);
      return b.subf(b.subf(args[0], args[1]), log);
    });
  }
};

} // namespace

void attune::populateActivationPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertActivation, ConvertClampedGlu, ConvertSoftmax>(patterns.getContext(), groups);
}
