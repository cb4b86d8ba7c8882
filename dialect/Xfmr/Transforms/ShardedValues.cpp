//===- ShardedValues.cpp - Tensors of which a rank has a shard ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/ShardedValues.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"

using namespace mlir;
using namespace mlir::xfmr;

RankedTensorType mlir::xfmr::getShardType(RankedTensorType type, const Sharding &sharding) {
  SmallVector<int64_t> shape(type.getShape());
  shape[sharding.axis] = sharding.division.size;
  return type.clone(shape);
}

const Sharding *ShardedValues::find(Value value) const {
  auto found = shards.find(value);
  return found == shards.end() ? nullptr : &found->second.sharding;
}

Value ShardedValues::getWhole(Value value) {
  auto found = shards.find(value);
  if (found == shards.end())
    return value;
  Shard &shard = found->second;
  if (!shard.whole) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(shard.shard);
    shard.whole = AllGatherOp::create(builder, value.getLoc(), value.getType(), shard.shard, shard.sharding.axis,
                                      shard.sharding.division.begins);
  }
  return shard.whole;
}

/// Creates and returns the shard of |weight| by |sharding|. If |weight| is selected from a stack at run time, shards
/// the stack and selects from the shard, since shards of weights are computed when weights are packed.
static Value shardWeight(OpBuilder &builder, Value weight, const Sharding &sharding) {
  if (auto select = weight.getDefiningOp<WeightSelectOp>()) {
    Value stack = shardWeight(builder, select.getStack(), {sharding.axis + 1, sharding.division});
    return WeightSelectOp::create(builder, weight.getLoc(), stack, select.getIndex());
  }
  auto type = getShardType(cast<RankedTensorType>(weight.getType()), sharding);
  return WeightShardOp::create(builder, weight.getLoc(), type, weight, sharding.axis, sharding.division.begins);
}

Value ShardedValues::getShard(Operation *user, Value value, const Sharding &sharding) {
  if (!value)
    return value;
  if (const Sharding *known = find(value); known && *known == sharding)
    return getShard(value);
  OpBuilder builder(user);
  if (isWeight(value))
    return shardWeight(builder, value, sharding);
  Value whole = getWhole(value);
  auto type = getShardType(cast<RankedTensorType>(whole.getType()), sharding);
  return RankSliceOp::create(builder, user->getLoc(), type, whole, sharding.axis, sharding.division.begins);
}
