//===- PositionOps.cpp - Distance biases, and layouts of attention --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Transforms/DialectConversion.h"

#include <cmath>

using namespace mlir;
using namespace attune;

namespace {

/// Builds `[H, 2 length - 1]` with |body| of the head and the distance as elements.
Value emitDistances(TokenEmitter &emit, Type type, Value length,
                    llvm::function_ref<Value(TokenEmitter &, Value head, Value distance)> body) {
  Value last = emit.sub(length, emit.index(1)), count = emit.add(length, last);
  return emit.generic({}, {}, emit.empty(type, count), [&](TokenEmitter &inner, ValueRange) {
    Value head = linalg::IndexOp::create(inner.builder, inner.loc, 0), column = linalg::IndexOp::create(inner.builder, inner.loc, 1);
    return body(inner, head, inner.sub(column, last));
  });
}

Value select(TokenEmitter &emit, arith::CmpIPredicate predicate, Value a, Value b, Value yes, Value no) {
  Value condition = arith::CmpIOp::create(emit.builder, emit.loc, predicate, a, b);
  return arith::SelectOp::create(emit.builder, emit.loc, condition, yes, no);
}

/// The smallest distances that have each of the buckets after |exact|, of |buckets| in all.
SmallVector<int64_t> bucketBegins(int64_t buckets, int64_t exact, int64_t maxDistance) {
  SmallVector<int64_t> begins;
  // As the reference computes it, in f32: a distance at a power may fall on either side in exact arithmetic.
  auto bucketOf = [&](int64_t distance) {
    float ratio = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                  static_cast<float>(std::log(static_cast<double>(maxDistance) / static_cast<double>(exact)));
    return std::min(buckets - 1, exact + static_cast<int64_t>(ratio * static_cast<float>(buckets - exact)));
  };
  for (int64_t distance = exact, bucket = exact; bucket < buckets && distance <= maxDistance; ++distance)
    for (; bucket <= bucketOf(distance); ++bucket)
      begins.push_back(distance);
  return begins;
}

/// relative_position_bias -> a lookup whose row is the number of bucket beginnings up to the distance.
struct ConvertRelativePositionBias : OpConversionPattern<xfmr::RelativePositionBiasOp> {
  ConvertRelativePositionBias(MLIRContext *context, KernelGroups &groups) : OpConversionPattern(context), groups(groups) {}

  LogicalResult matchAndRewrite(xfmr::RelativePositionBiasOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    int64_t all = op.getTable().getType().getDimSize(0), buckets = op.getBidirectional() ? all / 2 : all, exact = buckets / 2;
    SmallVector<int64_t> begins = bucketBegins(buckets, exact, op.getMaxDistance());
    Value result = emitDistances(emit, op.getType(), adaptor.getLength(), [&](TokenEmitter &body, Value head, Value distance) {
      Value zero = body.index(0), one = body.index(1), backwards = body.sub(zero, distance);
      Value forward = op.getBidirectional() ? distance : zero;
      Value size = select(body, arith::CmpIPredicate::sgt, distance, zero, forward, backwards);
      Value bucket = body.index(exact - 1);
      for (int64_t begin : begins)
        bucket = select(body, arith::CmpIPredicate::sge, size, body.index(begin), body.add(bucket, one), bucket);
      bucket = select(body, arith::CmpIPredicate::slt, size, body.index(exact), size, bucket);
      if (op.getBidirectional())
        bucket = select(body, arith::CmpIPredicate::sgt, distance, zero, body.add(bucket, body.index(buckets)), bucket);
      return body.extract(adaptor.getTable(), {bucket, head});
    });
    groups.mark(result.getDefiningOp(), "relative position bias of " + Twine(all) + " buckets");
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  KernelGroups &groups;
};

struct ConvertAlibiBias : OpConversionPattern<xfmr::AlibiBiasOp> {
  ConvertAlibiBias(MLIRContext *context, KernelGroups &groups) : OpConversionPattern(context), groups(groups) {}

  LogicalResult matchAndRewrite(xfmr::AlibiBiasOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value result = emitDistances(emit, op.getType(), adaptor.getLength(), [&](TokenEmitter &body, Value head, Value distance) -> Value {
      Value zero = body.index(0);
      Value backwards = select(body, arith::CmpIPredicate::sgt, distance, zero, body.sub(zero, distance), distance); // -|d|
      Value number = arith::SIToFPOp::create(body.builder, body.loc, body.builder.getF32Type(), body.toI64(backwards));
      return arith::MulFOp::create(body.builder, body.loc, body.extract(adaptor.getSlopes(), {head}), number);
    });
    groups.mark(result.getDefiningOp(), "alibi bias");
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  KernelGroups &groups;
};

/// Gives the table of relative keys the layout that loads along keys need.
struct LayOutRelativeKey : OpConversionPattern<xfmr::AttentionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(xfmr::AttentionOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Value table = adaptor.getRelativeKey();
    auto type = table ? cast<RankedTensorType>(table.getType()) : RankedTensorType();
    if (!type || type.getRank() != 2)
      return failure();
    Value reversed = xfmr::WeightReverseOp::create(rewriter, op.getLoc(), table);
    Value panel = xfmr::WeightPackOp::create(rewriter, op.getLoc(), reversed, type.getDimSize(0) + 15);
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(adaptor.getOperands());
      op.getRelativeKeyMutable().assign(panel);
    });
    return success();
  }
};

/// One pass over each sequence, counting.
struct ConvertCountedPositions : OpConversionPattern<xfmr::CountedPositionsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::CountedPositionsOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value ids = adaptor.getIds(), batch = emit.dim(ids, 0), length = emit.dim(ids, 1), zero = emit.index(0);
    Value padding = arith::ConstantIntOp::create(rewriter, op.getLoc(), op.getPadding(), 64);
    Value one = arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 64);
    Value positions = tensor::EmptyOp::create(rewriter, op.getLoc(), tensor::getMixedSizes(rewriter, op.getLoc(), ids), one.getType());
    auto countSequence = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> TokenEmitter::Values {
      TokenEmitter::Values counted =
          body.loop(zero, length, {carried[0], padding}, [&](TokenEmitter &body, Value i, ValueRange carried) -> TokenEmitter::Values {
            Value token =
                arith::CmpIOp::create(body.builder, body.loc, arith::CmpIPredicate::ne, body.extract(ids, {sequence, i}), padding);
            Value next = body.add(carried[1], one);
            Value position = arith::SelectOp::create(body.builder, body.loc, token, next, padding);
            Value last = arith::SelectOp::create(body.builder, body.loc, token, next, carried[1]);
            return {body.insert(position, carried[0], {sequence, i}), last};
          });
      return {counted[0]};
    };
    rewriter.replaceOp(op, emit.loop(zero, batch, positions, countSequence));
    return success();
  }
};

} // namespace

void attune::populatePositionPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertRelativePositionBias, ConvertAlibiBias>(patterns.getContext(), groups);
  patterns.add<ConvertCountedPositions, LayOutRelativeKey>(patterns.getContext());
}
