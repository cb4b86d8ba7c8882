//===- PositionOps.cpp - Distance biases, and layouts of attention --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Transforms/DialectConversion.h"

#include <cmath>

using namespace mlir;
using namespace attune;

namespace {

/// Creates a tensor `[H, 2 length - 1]` whose elements are |body|(head, distance), for distances from -(length - 1) to
/// length - 1.
Value emitDistances(IndexBuilder &b, Type type, Value length, llvm::function_ref<Value(Value head, Value distance)> body) {
  Value last = b.sub(length, b.index(1)), count = b.add(length, last);
  return generic(b, {}, {}, tensor::EmptyOp::create(b, type, count), [&](ValueRange) {
    Value head = linalg::IndexOp::create(b, 0), column = linalg::IndexOp::create(b, 1);
    return body(head, b.sub(column, last));
  });
}

/// Returns, for each of the buckets |exact| to |buckets| - 1, the smallest magnitude of a distance in it; for an empty
/// bucket, that of the next bucket. Each of the buckets 0 to |exact| - 1 has one magnitude, its number; the last bucket
/// has all magnitudes from |maxDistance| on.
SmallVector<int64_t> bucketBegins(int64_t buckets, int64_t exact, int64_t maxDistance) {
  SmallVector<int64_t> begins;
  // Computes in f32, as Hugging Face's models do: exact arithmetic may put a distance at a boundary into another
  // bucket.
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

/// Converts relative_position_bias to a lookup in the table, which has a row for each bucket. If bidirectional,
/// distances above 0 use the second half of the rows, all others the first half; otherwise distances above 0 count as
/// 0. Of the n buckets that a distance can be in, those before m = floor(n / 2) have their number as their only
/// magnitude. The bucket of a larger magnitude is m - 1 plus the number of buckets from m on that begin at or below the
/// magnitude.
Values convertRelativePositionBias(IndexBuilder &b, xfmr::RelativePositionBiasOp op, xfmr::RelativePositionBiasOp::Adaptor adaptor,
                                   KernelGroups &groups) {
  int64_t all = op.getTable().getType().getDimSize(0), buckets = op.getBidirectional() ? all / 2 : all, exact = buckets / 2;
  SmallVector<int64_t> begins = bucketBegins(buckets, exact, op.getMaxDistance());
  Value result = emitDistances(b, op.getType(), adaptor.getLength(), [&](Value head, Value distance) {
    Value zero = b.index(0), one = b.index(1), backwards = b.sub(zero, distance);
    Value forward = op.getBidirectional() ? distance : zero;
    Value size = b.select(b.compare(arith::CmpIPredicate::sgt, distance, zero), forward, backwards);
    Value bucket = b.index(exact - 1);
    for (int64_t begin : begins)
      bucket = b.select(b.compare(arith::CmpIPredicate::sge, size, b.index(begin)), b.add(bucket, one), bucket);
    bucket = b.select(b.compare(arith::CmpIPredicate::slt, size, b.index(exact)), size, bucket);
    if (op.getBidirectional())
      bucket = b.select(b.compare(arith::CmpIPredicate::sgt, distance, zero), b.add(bucket, b.index(buckets)), bucket);
    return extract(b, adaptor.getTable(), {bucket, head});
  });
  groups.mark(result.getDefiningOp(), "relative position bias of " + Twine(all) + " buckets");
  return {result};
}

Values convertAlibiBias(IndexBuilder &b, xfmr::AlibiBiasOp op, xfmr::AlibiBiasOp::Adaptor adaptor, KernelGroups &groups) {
  Value result = emitDistances(b, op.getType(), adaptor.getLength(), [&](Value head, Value distance) -> Value {
    Value zero = b.index(0);
    Value backwards = b.select(b.compare(arith::CmpIPredicate::sgt, distance, zero), b.sub(zero, distance), distance); // -|d|
    Value number = arith::SIToFPOp::create(b, b.getF32Type(), b.toI64(backwards));
    return b.mulf(extract(b, adaptor.getSlopes(), {head}), number);
  });
  groups.mark(result.getDefiningOp(), "alibi bias");
  return {result};
}

/// Changes the layout of the tables of relative positions of attention to that of `xfmr.weight_distance_panels`, so
/// that vectors of neighboring keys read neighboring elements.
struct LayOutRelativeTables : OpConversionPattern<xfmr::AttentionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(xfmr::AttentionOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (hasRelativePanels(op))
      return failure();
    auto layOut = [&](Value table) -> Value {
      if (!table || cast<RankedTensorType>(table.getType()).getRank() == 3)
        return table;
      int64_t heads = cast<RankedTensorType>(table.getType()).getDimSize(1) / op.getHeadDim();
      return xfmr::WeightDistancePanelsOp::create(rewriter, op.getLoc(), table, heads);
    };
    Value key = layOut(adaptor.getRelativeKey());
    Value query = adaptor.getRelativeQuery() == adaptor.getRelativeKey() ? key : layOut(adaptor.getRelativeQuery());
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(adaptor.getOperands());
      if (key)
        op.getRelativeKeyMutable().assign(key);
      if (query)
        op.getRelativeQueryMutable().assign(query);
    });
    return success();
  }
};

/// Converts counted_positions to a loop over each sequence that counts the tokens other than padding. The first such
/// token has the position `padding` + 1, where `padding` is the padding id; padding itself has the position `padding`.
Values convertCountedPositions(IndexBuilder &b, xfmr::CountedPositionsOp op, xfmr::CountedPositionsOp::Adaptor adaptor, KernelGroups &) {
  Value ids = adaptor.getIds(), batch = b.size(ids, 0), length = b.size(ids, 1), zero = b.index(0);
  Value padding = arith::ConstantIntOp::create(b, op.getPadding(), 64);
  Value one = arith::ConstantIntOp::create(b, 1, 64);
  Value positions = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), ids), one.getType());
  auto countSequence = [&](Value sequence, ValueRange carried) -> Values {
    Values counted = b.loop(zero, length, 1, {carried[0], padding}, [&](Value i, ValueRange carried) -> Values {
      Value token = b.compare(arith::CmpIPredicate::ne, extract(b, ids, {sequence, i}), padding);
      Value next = b.add(carried[1], one);
      Value position = b.select(token, next, padding);
      Value last = b.select(token, next, carried[1]);
      return {insert(b, position, carried[0], {sequence, i}), last};
    });
    return {counted[0]};
  };
  return b.loop(zero, batch, 1, positions, countSequence);
}

} // namespace

bool attune::hasRelativePanels(xfmr::AttentionOp op) {
  return llvm::all_of(ValueRange{op.getRelativeKey(), op.getRelativeQuery()},
                      [](Value table) { return !table || cast<RankedTensorType>(table.getType()).getRank() == 3; });
}

void attune::populatePositionPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertRelativePositionBias);
  addConversion(patterns, groups, convertAlibiBias);
  addConversion(patterns, groups, convertCountedPositions);
  patterns.add<LayOutRelativeTables>(patterns.getContext());
}
