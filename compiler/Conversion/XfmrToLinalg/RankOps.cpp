//===- RankOps.cpp - Shards of tensors as slices and collectives ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "dialect/Rt/IR/RtOps.h"

using namespace mlir;
using namespace attune;

namespace {

/// Converts all_gather to `rt.all_gather` into new tensors: the whole tensor and the scratch memory.
Values convertAllGather(IndexBuilder &b, xfmr::AllGatherOp op, xfmr::AllGatherOp::Adaptor adaptor, KernelGroups &) {
  RankedTensorType type = op.getType(), shard = op.getInput().getType();
  SmallVector<int64_t> parts(shard.getShape());
  parts.insert(parts.begin(), op.getBegins().size());
  SmallVector<Value> sizes = dynamicSizes(b, adaptor.getInput());
  Value whole = tensor::EmptyOp::create(b, type, sizes), scratch = tensor::EmptyOp::create(b, shard.clone(parts), sizes);
  auto gather = rt::AllGatherOp::create(b, TypeRange{whole.getType(), scratch.getType()}, adaptor.getInput(), ValueRange{whole, scratch},
                                        op.getAxis(), op.getBegins());
  return {gather.getResult(0)};
}

/// Converts rank_slice to a slice that begins at the index that `begins` has for the rank of this process.
Values convertRankSlice(IndexBuilder &b, xfmr::RankSliceOp op, xfmr::RankSliceOp::Adaptor adaptor, KernelGroups &) {
  RankedTensorType type = op.getType();
  Value rank = rt::RankOp::create(b), begin = b.index(op.getBegins().front());
  for (auto [number, first] : llvm::enumerate(op.getBegins().drop_front()))
    begin = b.select(b.compare(arith::CmpIPredicate::eq, rank, static_cast<int64_t>(number) + 1), b.index(first), begin);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t dim = 0; dim != type.getRank(); ++dim)
    sizes.push_back(type.isDynamicDim(dim) ? OpFoldResult(b.size(adaptor.getInput(), dim)) : b.getIndexAttr(type.getDimSize(dim)));
  offsets[op.getAxis()] = begin;
  return {tensor::ExtractSliceOp::create(b, type, adaptor.getInput(), offsets, sizes, strides)};
}

} // namespace

void attune::populateRankPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertAllGather);
  addConversion(patterns, groups, convertRankSlice);
}
