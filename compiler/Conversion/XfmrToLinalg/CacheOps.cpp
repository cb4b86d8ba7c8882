//===- CacheOps.cpp - Masks of caches as linalg ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {

using Values = TokenEmitter::Values;

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

/// Each sequence writes behind what its slot holds.
struct ConvertMaskCacheUpdate : OpConversionPattern<xfmr::MaskCacheUpdateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(xfmr::MaskCacheUpdateOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value zero = emit.index(0), one = emit.index(1), none = emit.real(rewriter.getF32Type(), 0.0);
    auto update = [&](TokenEmitter &body, Value sequence, ValueRange carried) -> Values {
      auto at = [&](Value values, Value index) { return body.toIndex(body.extract(values, index)); };
      Value slot = at(adaptor.getSlots(), sequence), past = at(adaptor.getPast(), sequence);
      Value tokens = body.sub(at(adaptor.getOffsets(), body.add(sequence, one)), at(adaptor.getOffsets(), sequence));
      return body.loop(zero, tokens, carried, [&](TokenEmitter &body, Value i, ValueRange carried) -> Values {
        Value added = adaptor.getMask() ? body.extract(adaptor.getMask(), {sequence, i}) : none;
        return {body.insert(added, carried[0], {slot, body.add(past, i)})};
      });
    };
    rewriter.replaceOp(op, emit.loop(zero, emit.dim(adaptor.getSlots(), 0), adaptor.getCache(), update));
    return success();
  }
};

} // namespace

void attune::populateCachePatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertMaskCacheRead>(patterns.getContext(), groups);
  patterns.add<ConvertMaskCacheUpdate>(patterns.getContext());
}
