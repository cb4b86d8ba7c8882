//===- ShardedValues.h - Tensors of which a rank has a shard ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDEDVALUES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDEDVALUES_H

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "dialect/Xfmr/Transforms/Division.h"
#include "mlir/IR/Builders.h"

namespace mlir::xfmr {

/// A division of the dimension |axis| of a tensor.
struct Sharding {
  int64_t axis;
  Division division;

  bool operator==(const Sharding &other) const { return axis == other.axis && division == other.division; }
};

/// The tensors of a function of which a rank computes a shard, and their shards. If a user needs a whole tensor, one
/// `xfmr.all_gather` makes it for all users.
class ShardedValues {
public:
  /// Records that this rank computes |shard|, its part of |whole| by |sharding|. The caller must replace |whole| in all
  /// users by the shard or by getWhole(), and then erase the operation that computes |whole|.
  void add(Value whole, Value shard, Sharding sharding) { shards[whole] = {shard, std::move(sharding), nullptr}; }
  /// Returns the sharding of |value|; null if every rank computes all of it. The pointer is valid until the next add().
  const Sharding *find(Value value) const;
  /// Returns the shard of |value|, which has a sharding.
  Value getShard(Value value) const { return shards.find(value)->second.shard; }
  /// Returns the whole tensor |value|: the result of an all_gather if |value| has a sharding, else |value|. Returns
  /// null for null.
  Value getWhole(Value value);
  /// Returns the shard of |value| by |sharding|. If there is no recorded one with this sharding, creates it before
  /// |user|: by `xfmr.weight_shard` for a weight, by `xfmr.rank_slice` of the whole tensor for another value. Returns
  /// null for null.
  Value getShard(Operation *user, Value value, const Sharding &sharding);

private:
  struct Shard {
    Value shard;
    Sharding sharding;
    Value whole; // the result of all_gather; null before it is needed
  };
  DenseMap<Value, Shard> shards;
};

/// Returns |type| with the size of a shard in the dimension that |sharding| divides.
RankedTensorType getShardType(RankedTensorType type, const Sharding &sharding);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDEDVALUES_H
