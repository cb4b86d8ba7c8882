//===- AttentionGroup.h - Rows and keys of a step of attention --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_ATTENTIONGROUP_H
#define ATTUNE_COMPILER_TARGET_CPU_ATTENTIONGROUP_H

#include "compiler/Target/CPU/VectorBuilder.h"
#include "compiler/Transforms/AttentionRow.h"

namespace attune {

/// A group of rows whose sums are in registers at the same time. A row is a pair of a query and a head.
struct AttentionGroup {
  struct Row : AttentionRow {
    mlir::Value number; // the index of the row in the tile: query * heads + head
  };
  llvm::SmallVector<Row> rows;
  /// A range [first, end) with all keys that causal masks and windows leave visible to at least one of the rows; all
  /// keys if the operation returns the scores of hidden keys, too (score stages `product` and `capped`).
  mlir::Value first, end;
};

/// The keys of a block that are before AttentionGroup::end of one group of rows; there may be none.
struct AttentionBlock {
  mlir::Value begin, size;     // the first key and the number of keys
  mlir::Value isFirst, isLast; // i1: true for the first, for the last block that the group computes
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_ATTENTIONGROUP_H
