//===- PersistentTiles.h - Query tiles of a persistent block ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PERSISTENTTILES_H
#define ATTUNE_COMPILER_TARGET_NVVM_PERSISTENTTILES_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// Two neighboring tiles of queries: their sequence, their group of heads and the number of the first one.
struct QueryTilePair {
  mlir::Value sequence, heads, first;
};

/// The persistent tile scheduler of one kernel: which pairs of query tiles its blocks take, and in which order.
///
/// Pairs that run together should read the same keys, and those that take longest should begin first. So the (sequence, heads) whose keys
/// and values fit into the GPU's L2 cache are a section, one section follows the other, and within one the last pairs, which under a causal
/// mask see most keys, come before the others. Blocks take turns forth and back, 0 1 2 2 1 0 0 1 .., which evens out what they have to do.
class PersistentTiles {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// |tiles| of each of |heads| groups of heads of |sequences|, of which |groupsInL2| (sequence, heads) are a section, for blocks of which
  /// |workers| run at a time. Made by the host.
  PersistentTiles(ThreadBuilder &host, Value sequences, Value heads, Value tiles, Value groupsInL2, Value workers);
  /// A loop over the pairs of |block|, one of |blocks|.
  Values forEach(ThreadBuilder &e, Value block, mlir::ValueRange initial,
                 llvm::function_ref<Values(QueryTilePair pair, mlir::ValueRange carried)> body) const;

  Value blocks;

private:
  QueryTilePair pairAt(ThreadBuilder &e, Value number) const;

  Value heads, pairs, groups, groupsInL2, count, step, rounds;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PERSISTENTTILES_H
