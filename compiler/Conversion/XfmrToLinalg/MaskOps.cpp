//===- MaskOps.cpp - Attention masks as linalg ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "dialect/Tile/IR/TileOps.h"

#include <limits>

using namespace mlir;
using namespace attune;

namespace {

/// Converts additive_mask to (1 - mask) * the lowest f32, in f32, as Hugging Face's models compute it.
Values convertAdditiveMask(IndexBuilder &b, xfmr::AdditiveMaskOp op, xfmr::AdditiveMaskOp::Adaptor adaptor, KernelGroups &groups) {
  Value mask = adaptor.getMask(), destination = tensor::EmptyOp::create(b, op.getType(), dynamicSizes(b, mask));
  Type f32 = b.getF32Type();
  Value one = b.f32(1.0), lowest = b.f32(std::numeric_limits<float>::lowest());
  AffineMap identity = b.getMultiDimIdentityMap(op.getType().getRank());
  Value result = generic(b, mask, identity, destination, [&](ValueRange args) -> Value {
    Value visible = arith::SIToFPOp::create(b, f32, args[0]);
    Value hidden = b.subf(one, visible);
    return b.mulf(hidden, lowest);
  });
  groups.mark(result.getDefiningOp(), "additive mask");
  return {result};
}

/// Converts visible_before to a loop over sequences in parallel; each iteration scans the keys of its sequence and
/// writes for each key the number of earlier keys that the mask does not hide.
Values convertVisibleBefore(IndexBuilder &b, xfmr::VisibleBeforeOp op, xfmr::VisibleBeforeOp::Adaptor adaptor, KernelGroups &) {
  Value mask = adaptor.getMask(), batch = b.size(mask, 0), length = b.size(mask, 1), zero = b.index(0);
  Value result = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), mask), b.getI64Type());
  Value threshold = b.f32(std::numeric_limits<float>::lowest() / 2);
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), tensor::getMixedSize(b, b.getLoc(), result, 1)}, strides(2, b.getIndexAttr(1));
  auto countInSequence = [&](OpBuilder &, Location, ValueRange arguments) {
    Value sequence = arguments[0];
    SmallVector<OpFoldResult> offsets{sequence, b.getIndexAttr(0)};
    Value row = tensor::ExtractSliceOp::create(b, arguments[1], offsets, sizes, strides);
    Value counted = b.loop(zero, length, 1, {row, zero}, [&](Value key, ValueRange carried) -> Values {
      Value isHidden = b.compare(arith::CmpFPredicate::OLE, extract(b, mask, {sequence, key}), threshold);
      Value next = b.select(isHidden, carried[1], b.add(carried[1], 1));
      return {insert(b, b.toI64(carried[1]), carried[0], {zero, key}), next};
    })[0];
    auto end = scf::InParallelOp::create(b);
    b.setInsertionPointToStart(end.getBody());
    tensor::ParallelInsertSliceOp::create(b, counted, arguments[1], offsets, sizes, strides);
  };
  auto loop = scf::ForallOp::create(b, OpFoldResult(batch), result, std::nullopt, countInSequence);
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), "count visible keys"));
  return Values(loop.getResults());
}

} // namespace

void attune::populateMaskPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertAdditiveMask);
  addConversion(patterns, groups, convertVisibleBefore);
}
