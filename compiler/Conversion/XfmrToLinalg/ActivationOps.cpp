//===- TokenOps.cpp - Embeddings, masks and rows as linalg ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every op here is one linalg.generic over its result (softmax: a few over rows), so tiling can treat it like any other kernel. Lookups
// read the table inside the body.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/Activations.h"
#include "compiler/Conversion/XfmrToLinalg/TokenEmitter.h"
#include "mlir/Transforms/DialectConversion.h"
#include <limits>

using namespace mlir;
using namespace attune;

namespace {

/// A pattern that gives what it creates a kernel number.
template <typename Op>
struct GroupedPattern : OpConversionPattern<Op> {
  GroupedPattern(MLIRContext *context, KernelGroups &groups) : OpConversionPattern<Op>(context), groups(groups) {}
  KernelGroups &groups;
};

struct ConvertSequenceOffsets : OpConversionPattern<xfmr::SequenceOffsetsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::SequenceOffsetsOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value destination = emit.empty(op.getType(), emit.add(adaptor.getBatch(), emit.index(1)));
    rewriter.replaceOp(op, emit.generic({}, {}, destination, [&](TokenEmitter &body, ValueRange) {
      Value sequence = linalg::IndexOp::create(body.builder, body.loc, 0);
      return body.toI64(body.mul(sequence, adaptor.getLength()));
    }));
    return success();
  }
};

/// (1 - mask) * lowest, as the reference models round it.
struct ConvertAdditiveMask : GroupedPattern<xfmr::AdditiveMaskOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::AdditiveMaskOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value mask = adaptor.getMask(), destination = emit.empty(op.getType(), emit.dynamicSizes(mask));
    Type f32 = rewriter.getF32Type();
    Value one = emit.real(f32, 1.0), lowest = emit.real(f32, std::numeric_limits<float>::lowest());
    AffineMap identity = rewriter.getMultiDimIdentityMap(op.getType().getRank());
    Value result = emit.generic(mask, identity, destination, [&](TokenEmitter &body, ValueRange args) -> Value {
      Value visible = arith::SIToFPOp::create(body.builder, body.loc, f32, args[0]);
      Value hidden = arith::SubFOp::create(body.builder, body.loc, one, visible);
      return arith::MulFOp::create(body.builder, body.loc, hidden, lowest);
    });
    groups.mark(result.getDefiningOp(), "additive mask");
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// result[t, ...] = |table|[|rows|[t], ...]; any row of the table for a negative one if |someNegative|.
Value gatherRows(TokenEmitter &emit, RankedTensorType type, Value table, Value rows, bool someNegative = false) {
  Value destination = emit.empty(type, emit.dim(rows, 0));
  AffineMap perRow = AffineMap::get(type.getRank(), 0, emit.builder.getAffineDimExpr(0));
  return emit.generic(rows, perRow, destination, [&](TokenEmitter &body, ValueRange args) {
    SmallVector<Value> at{body.toIndex(args[0])};
    if (someNegative)
      at[0] = arith::MaxSIOp::create(body.builder, body.loc, at[0], body.index(0));
    for (int64_t i = 1; i < type.getRank(); ++i)
      at.push_back(linalg::IndexOp::create(body.builder, body.loc, i));
    return body.extract(table, at);
  });
}

struct ConvertEmbedding : GroupedPattern<xfmr::EmbeddingOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::EmbeddingOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value result = gatherRows(emit, op.getType(), adaptor.getTable(), adaptor.getIds());
    auto table = op.getTable().getType();
    groups.mark(result.getDefiningOp(), "embedding " + Twine(table.getDimSize(0)) + " x " + Twine(table.getDimSize(1)));
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConvertGatherTokens : GroupedPattern<xfmr::GatherTokensOp> {
  ConvertGatherTokens(MLIRContext *context, KernelGroups &groups, bool knownCounts)
      : GroupedPattern(context, groups), knownCounts(knownCounts) {}

  LogicalResult matchAndRewrite(xfmr::GatherTokensOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (type.getRank() > 1 && type.getNumDynamicDims() > 1)
      return rewriter.notifyMatchFailure(op, "expects static sizes after the first");
    TokenEmitter emit(rewriter, op.getLoc());
    Value result = gatherRows(emit, type, adaptor.getInput(), adaptor.getPositions(), knownCounts);
    groups.mark(result.getDefiningOp(), "gather tokens");
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  bool knownCounts;
};

struct ConvertMaskCacheRead : GroupedPattern<xfmr::MaskCacheReadOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::MaskCacheReadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value slots = adaptor.getSlots(), destination = emit.empty(op.getType(), {emit.dim(slots, 0), adaptor.getLength()});
    AffineMap perRow = rewriter.getMultiDimIdentityMap(2).getMajorSubMap(1);
    Value result = emit.generic(slots, perRow, destination, [&](TokenEmitter &body, ValueRange args) {
      Value key = linalg::IndexOp::create(body.builder, body.loc, 1);
      return body.extract(adaptor.getCache(), {body.toIndex(args[0]), key});
    });
    groups.mark(result.getDefiningOp(), "mask of cached keys");
    rewriter.replaceOp(op, result);
    return success();
  }
};

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

void attune::populateTokenOpPatterns(RewritePatternSet &patterns, KernelGroups &groups, bool knownCounts) {
  patterns.add<ConvertSequenceOffsets>(patterns.getContext());
  patterns.add<ConvertAdditiveMask, ConvertEmbedding, ConvertMaskCacheRead, ConvertActivation, ConvertSoftmax>(patterns.getContext(),
                                                                                                               groups);
  patterns.add<ConvertGatherTokens>(patterns.getContext(), groups, knownCounts);
  populateTokenPackingPatterns(patterns, groups, knownCounts);
}
