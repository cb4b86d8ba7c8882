//===- PersistentTiles.h - Query tiles of a persistent block ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PERSISTENTTILES_H
#define ATTUNE_COMPILER_TARGET_NVVM_PERSISTENTTILES_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// Two neighboring query tiles: the indices of their sequence, of their group of heads and of the first tile. If the
/// number of tiles of a group is odd, the second tile of the group's last pair does not exist.
struct QueryTilePair {
  mlir::Value sequence, heads, first;
};

/// The persistent tile scheduler of one kernel: gives each block an ordered series of pairs of query tiles.
///
/// Concurrent pairs should read the same keys, and the pairs with the most keys should begin first. So as many
/// (sequence, group of heads) as fit into the GPU's L2 cache with their keys and values form a section, and sections
/// follow each other. Within a section the last pair of each (sequence, group of heads), which sees the most keys under
/// a causal mask, comes first. Consecutive pairs go to the blocks 0 1 2 2 1 0 0 1 .. if there are three, which evens
/// out the work. PersistentTiles.cpp has a figure.
class PersistentTiles {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// Computes the schedule's sizes on the host. Each of |sequences| has |heads| groups of heads, each of these groups
  /// has |tiles| query tiles. |groupsInL2| combinations (sequence, group of heads), at least 1, form a section;
  /// |workers| blocks run at a time.
  PersistentTiles(ThreadBuilder &host, Value sequences, Value heads, Value tiles, Value groupsInL2, Value workers);
  /// Emits the loop over the pairs of block |block|, a number from 0 to `blocks` - 1. Carries |initial| through |body|;
  /// returns the last values.
  Values forEach(ThreadBuilder &e, Value block, mlir::ValueRange initial,
                 llvm::function_ref<Values(QueryTilePair pair, mlir::ValueRange carried)> body) const;

  /// The number of blocks to launch.
  Value blocks;

private:
  QueryTilePair pairAt(ThreadBuilder &e, Value number) const;

  Value heads, pairs, groups, groupsInL2, count, step, rounds;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PERSISTENTTILES_H
