//===- RankOps.cpp - Verifiers of shards of tensors -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/ShardVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult xfmr::verifyShards(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t whole, int64_t size,
                                 ArrayRef<int64_t> begins) {
  if (begins.empty() || begins.front() != 0)
    return emitError() << "expects the shards to begin at 0, but got " << (begins.empty() ? -1 : begins.front());
  int64_t previous = 0;
  for (int64_t begin : begins) {
    if (begin < previous || begin - previous > size)
      return emitError() << "expects a shard to begin from " << previous << " to " << previous << " + " << size << ", but got " << begin;
    previous = begin;
  }
  if (previous > whole - size || previous + size != whole)
    return emitError() << "expects the last shard to end at " << whole << ", but got " << previous << " + " << size;
  return success();
}

LogicalResult xfmr::verifyShardTypes(Operation *op, ShapedType whole, ShapedType shard, int64_t axis, ArrayRef<int64_t> begins,
                                     int64_t lastAxis) {
  if (!whole.hasRank() || axis < 0 || axis > lastAxis || axis >= whole.getRank()) // C1
    return op->emitOpError("expects an axis from 0 to ") << std::min(lastAxis, whole.hasRank() ? whole.getRank() - 1 : 0) << ", but got "
                                                         << axis;
  bool same = shard.hasRank() && shard.getRank() == whole.getRank() && shard.getElementType() == whole.getElementType();
  for (int64_t dim = 0; same && dim != whole.getRank(); ++dim)
    same = dim == axis ? !whole.isDynamicDim(dim) && !shard.isDynamicDim(dim) : whole.getDimSize(dim) == shard.getDimSize(dim);
  if (!same)
    return op->emitOpError("expects types that differ only in the static size of dimension ")
           << axis << ", but got " << whole << " and " << shard;
  return verifyShards([&] { return op->emitOpError(); }, whole.getDimSize(axis), shard.getDimSize(axis), begins); // C2
}

LogicalResult AllGatherOp::verify() {
  return verifyShardTypes(*this, getResult().getType(), getInput().getType(), getAxis(), getBegins(), /*lastAxis=*/1);
}

LogicalResult RankSliceOp::verify() {
  return verifyShardTypes(*this, getInput().getType(), getResult().getType(), getAxis(), getBegins(), /*lastAxis=*/1);
}

LogicalResult WeightShardOp::verify() {
  return verifyShardTypes(*this, getInput().getType(), getResult().getType(), getAxis(), getBegins(),
                          /*lastAxis=*/getInput().getType().getRank() - 1);
}
