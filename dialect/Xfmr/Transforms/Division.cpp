//===- Division.cpp - The shards into which ranks divide a dimension ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/Division.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir::xfmr;

Division Division::times(int64_t unit) const {
  return {size * unit, llvm::to_vector(llvm::map_range(begins, [&](int64_t begin) { return begin * unit; }))};
}

bool Division::isDivisibleBy(int64_t unit) const {
  return size % unit == 0 && llvm::all_of(begins, [&](int64_t begin) { return begin % unit == 0; });
}

Division Division::dividedBy(int64_t unit) const {
  return {size / unit, llvm::to_vector(llvm::map_range(begins, [&](int64_t begin) { return begin / unit; }))};
}

/// Divides |whole| indices into |ranks| shards of |size| indices. A shard that would end behind the last index is moved
/// to end with it.
static Division divideInto(int64_t whole, int64_t size, int64_t ranks) {
  Division division{size, {}};
  for (int64_t rank = 0; rank != ranks; ++rank)
    division.begins.push_back(std::min(rank * size, whole - size));
  return division;
}

Division mlir::xfmr::divideIndices(int64_t whole, int64_t ranks) {
  int64_t size = llvm::divideCeil(whole, ranks);
  if (size >= 64)
    size = std::min<int64_t>(llvm::alignTo(size, 16), whole);
  return divideInto(whole, size, ranks);
}

HeadDivisions mlir::xfmr::divideHeads(int64_t heads, int64_t kvHeads, int64_t ranks) {
  int64_t group = heads / kvHeads;
  if (kvHeads >= ranks) {
    Division keyValue = divideInto(kvHeads, llvm::divideCeil(kvHeads, ranks), ranks);
    return {keyValue.times(group), keyValue};
  }
  // |sharing| ranks divide the query heads of each head of keys and values. Ranks from kvHeads * sharing on repeat the
  // last shard.
  int64_t sharing = ranks / kvHeads, size = llvm::divideCeil(group, sharing);
  HeadDivisions divisions{{size, {}}, {1, {}}};
  for (int64_t rank = 0; rank != ranks; ++rank) {
    int64_t head = std::min(rank / sharing, kvHeads - 1), part = std::min(rank - head * sharing, sharing - 1);
    divisions.keyValue.begins.push_back(head);
    divisions.query.begins.push_back(head * group + std::min(part * size, group - size));
  }
  return divisions;
}
