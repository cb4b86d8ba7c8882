//===- AttentionGroup.h - Rows and keys of a step of attention --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_ATTENTIONGROUP_H
#define ATTUNE_COMPILER_TARGET_CPU_ATTENTIONGROUP_H

#include "compiler/Target/CPU/VectorBuilder.h"
#include "compiler/Transforms/AttentionRow.h"

namespace attune {

/// A group of rows whose sums are in registers at the same time.
struct AttentionGroup {
  struct Row : AttentionRow {
    mlir::Value number; // in the tile
  };
  llvm::SmallVector<Row> rows;
  /// The keys [first, end) that causal masks and windows leave visible to at least one of the rows.
  mlir::Value first, end;
};

/// A block of keys as one group of rows sees it.
struct AttentionBlock {
  mlir::Value begin, size; // key and number of keys
  mlir::Value isFirst, isLast;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_ATTENTIONGROUP_H
