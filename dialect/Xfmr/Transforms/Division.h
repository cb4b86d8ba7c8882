//===- Division.h - The shards into which ranks divide a dimension --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_DIVISION_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_DIVISION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::xfmr {

/// A division of a dimension into a shard for each rank. All shards have |size| indices, since all ranks run the same
/// code. If the shards have more indices in all than the dimension, some of them overlap.
struct Division {
  int64_t size;
  /// The first index of the shard of each rank. The indices do not decrease; neighboring ranks may have equal shards.
  llvm::SmallVector<int64_t> begins;

  bool operator==(const Division &other) const { return size == other.size && begins == other.begins; }
  bool operator!=(const Division &other) const { return !(*this == other); }
  /// Returns the division of a dimension that has |unit| neighboring indices for each index of this one: of features,
  /// if this division is one of heads.
  Division times(int64_t unit) const;
  /// Returns true if every shard consists of whole groups of |unit| neighboring indices.
  bool isDivisibleBy(int64_t unit) const;
  /// Returns the division of the groups of |unit| indices: of heads, if this division is one of features. Expects
  /// isDivisibleBy(unit).
  Division dividedBy(int64_t unit) const;
};

/// Divides |whole| indices into |ranks| shards of one size: |whole| / |ranks|, rounded up. Expects |whole| to be at
/// least |ranks|. A size of 64 or more is then rounded up to a multiple of 16, but not above |whole|, so that shards
/// fill vectors and cache lines. A shard that would end behind the last index is moved to end with it.
Division divideIndices(int64_t whole, int64_t ranks);

/// The divisions of the heads of one attention.
struct HeadDivisions {
  Division query, keyValue;
};

/// Divides |kvHeads| heads of keys and values, and the |heads| query heads that read them; |heads| is a multiple of
/// |kvHeads|. The query heads of a shard read the heads of keys and values of the same shard. If there are fewer of
/// these than ranks, several ranks have the same one and divide its query heads. The division of the heads of keys and
/// values depends only on |kvHeads| and |ranks|.
HeadDivisions divideHeads(int64_t heads, int64_t kvHeads, int64_t ranks);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_DIVISION_H
