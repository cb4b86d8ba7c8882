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
    TokenEmitter emit(rewriter, op.getLoc());
    Value input = adaptor.getInput(), destination = emit.empty(type, emit.dynamicSizes(input));
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    Value result = emit.generic(input, identity, destination, [&](TokenEmitter &body, ValueRange args) {
      return emitActivation(body.builder, body.loc, op.getKind(), args[0]);
    });
    groups.mark(result.getDefiningOp(), "activation " + Twine(xfmr::stringifyActivation(op.getKind())));
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// softmax -> row maximum, exponentials, row sum, quotient; with log: maximum, sum of exponentials, differences.
struct ConvertSoftmax : GroupedPattern<xfmr::SoftmaxOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::SoftmaxOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    TokenEmitter emit(rewriter, op.getLoc());
    Value x = adaptor.getInput();
    Operation *before = op->getPrevNode();
    Value result = op.getLog() ? logSoftmax(emit, type, x) : softmax(emit, type, x);
    SmallVector<Operation *> ops;
    for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op; made = made->getNextNode())
      if (isa<linalg::LinalgOp>(made))
        ops.push_back(made);
    groups.mark(ops, (op.getLog() ? "log_softmax " : "softmax ") + Twine(type.getDimSize(1)));
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static AffineMap full(TokenEmitter &emit) { return emit.builder.getMultiDimIdentityMap(2); }
  static AffineMap perRow(TokenEmitter &emit) { return full(emit).getMajorSubMap(1); }

  /// Reduces |inputs| over columns from |init|; the body gets the accumulator last.
  static Value reduce(TokenEmitter &emit, RankedTensorType type, ValueRange inputs, ArrayRef<AffineMap> maps, double init,
                      TokenEmitter::Body body) {
    Value rows = emit.dim(inputs[0], 0);
    RankedTensorType perRow = RankedTensorType::get(type.getShape().take_front(), type.getElementType());
    Value destination = emit.filled(perRow, type.isDynamicDim(0) ? ValueRange(rows) : ValueRange(), init);
    return emit.generic(inputs, maps, destination, body, /*reduced=*/1);
  }
  static Value rowMaximum(TokenEmitter &emit, RankedTensorType type, Value x) {
    return reduce(emit, type, x, full(emit), -std::numeric_limits<double>::infinity(), [](TokenEmitter &body, ValueRange args) -> Value {
      return arith::MaximumFOp::create(body.builder, body.loc, args[1], args[0]);
    });
  }
  static Value sub(TokenEmitter &body, Value a, Value b) { return arith::SubFOp::create(body.builder, body.loc, a, b); }
  static Value exp(TokenEmitter &body, Value x) { return math::ExpOp::create(body.builder, body.loc, x); }
  static Value add(TokenEmitter &body, Value a, Value b) { return arith::AddFOp::create(body.builder, body.loc, a, b); }

  static Value softmax(TokenEmitter &emit, RankedTensorType type, Value x) {
    SmallVector<AffineMap> fullAndRow{full(emit), perRow(emit)};
    auto destination = [&] { return emit.empty(type, emit.dynamicSizes(x)); };
    Value maximum = rowMaximum(emit, type, x);
    Value exps = emit.generic({x, maximum}, fullAndRow, destination(),
                              [](TokenEmitter &body, ValueRange args) { return exp(body, sub(body, args[0], args[1])); });
    Value sum = reduce(emit, type, exps, full(emit), 0.0, [](TokenEmitter &body, ValueRange args) { return add(body, args[1], args[0]); });
    return emit.generic({exps, sum}, fullAndRow, destination(), [](TokenEmitter &body, ValueRange args) -> Value {
      return arith::DivFOp::create(body.builder, body.loc, args[0], args[1]);
    });
  }

  static Value logSoftmax(TokenEmitter &emit, RankedTensorType type, Value x) {
    AffineMap perRow = ConvertSoftmax::perRow(emit);
    Value maximum = rowMaximum(emit, type, x);
    Value sum = reduce(emit, type, {x, maximum}, {full(emit), perRow}, 0.0,
                       [](TokenEmitter &body, ValueRange args) { return add(body, args[2], exp(body, sub(body, args[0], args[1]))); });
    Value destination = emit.empty(type, emit.dynamicSizes(x));
    return emit.generic({x, maximum, sum}, {full(emit), perRow, perRow}, destination, [](TokenEmitter &body, ValueRange args) {
      Value log = math::LogOp::create(body.builder, body.loc, args[2]);
      return sub(body, sub(body, args[0], args[1]), log);
    });
  }
};

} // namespace

void attune::populateActivationPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertActivation, ConvertSoftmax>(patterns.getContext(), groups);
}
