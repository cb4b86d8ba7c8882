//===- CacheOps.cpp - Masks of caches as linalg ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

using namespace mlir;
using namespace attune;

namespace {

Values convertMaskCacheRead(IndexBuilder &b, xfmr::MaskCacheReadOp op, xfmr::MaskCacheReadOp::Adaptor adaptor, KernelGroups &groups) {
  Value slots = adaptor.getSlots(), destination = tensor::EmptyOp::create(b, op.getType(), {b.size(slots, 0), adaptor.getLength()});
  AffineMap perRow = b.getMultiDimIdentityMap(2).getMajorSubMap(1);
  Value result = generic(b, slots, perRow, destination, [&](ValueRange args) {
    Value key = linalg::IndexOp::create(b, 1);
    return extract(b, adaptor.getCache(), {b.toIndex(args[0]), key});
  });
  groups.mark(result.getDefiningOp(), "mask of cached keys");
  return {result};
}

/// Converts mask_cache_update to a loop over sequences. It writes the mask of a sequence's new tokens, zeros if the op
/// has no mask, into the sequence's slot behind the mask of the `past` tokens there.
Values convertMaskCacheUpdate(IndexBuilder &b, xfmr::MaskCacheUpdateOp op, xfmr::MaskCacheUpdateOp::Adaptor adaptor, KernelGroups &) {
  Value zero = b.index(0), one = b.index(1), none = b.f32(0.0);
  auto update = [&](Value sequence, ValueRange carried) -> Values {
    auto at = [&](Value values, Value index) { return b.extractIndex(values, index); };
    Value slot = at(adaptor.getSlots(), sequence), past = at(adaptor.getPast(), sequence);
    Value tokens = b.sub(at(adaptor.getOffsets(), b.add(sequence, one)), at(adaptor.getOffsets(), sequence));
    return b.loop(zero, tokens, 1, carried, [&](Value i, ValueRange carried) -> Values {
      Value added = adaptor.getMask() ? extract(b, adaptor.getMask(), {sequence, i}) : none;
      return {insert(b, added, carried[0], {slot, b.add(past, i)})};
    });
  };
  return b.loop(zero, b.size(adaptor.getSlots(), 0), 1, adaptor.getCache(), update);
}

} // namespace

void attune::populateCachePatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertMaskCacheRead);
  addConversion(patterns, groups, convertMaskCacheUpdate);
}
