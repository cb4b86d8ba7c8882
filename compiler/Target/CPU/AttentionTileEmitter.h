//===- AttentionTileEmitter.h - Attention of a few rows in registers -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Code for one `tile.attention_tile` on f32 buffers. For one block of keys after the other, and in it for a group of rows that fills
// registers:
//
//   scores    strip[r, j] = x[r, j] * log2 e                 rows x score-vectors accumulators; the largest of each row in a register
//   softmax   strip[r, j] = 2^(strip[r, j] - max[r])         and their sum, in 16 lanes
//   values    result[r]   = result[r] * decay + strip[r] V   rows x value-vectors accumulators
//
// Up to one block of keys (512) this is the exact softmax in two passes over a strip in the first-level cache, which measured faster than
// any smaller online block. Beyond, maxima and sums wait in `state` for the next block, and the result, the sums and the probabilities
// already written decay by 2^(old max - new max). Blocks that positions hide from all rows of a group are skipped; keys that they hide get
// -infinity.
//
// Letters: R queries, H heads, S keys, D head size of queries and keys, E of values, W panel width. A row is a pair (query, head), heads
// innermost.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_ATTENTIONTILEEMITTER_H
#define ATTUNE_COMPILER_TARGET_CPU_ATTENTIONTILEEMITTER_H

#include "compiler/Target/CPU/AttentionGroup.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Sizes of the groups held in registers.
struct AttentionTileSizes {
  int64_t rows, scoreVectors, valueVectors, softmaxRows;
};

/// Emits one tile, in the order of blocks of keys and groups of rows.
class AttentionTileEmitter {
public:
  AttentionTileEmitter(mlir::tiles::AttentionTileOp op, AttentionTileSizes sizes);
  void run();

private:
  using Value = mlir::Value;
  using Values = VectorBuilder::Values;
  using Row = AttentionGroup::Row;
  /// Column of `state` that has a row's maximum, after its sums.
  static constexpr int64_t kMaximum = VectorBuilder::kLanes;

  Row rowAt(Value number);
  AttentionGroup groupAt(Value first, int64_t count);
  void emitGroup(Value begin, Value first, int64_t count);
  void emitBlock(const AttentionGroup &group, const AttentionBlock &block);
  Values restore(const AttentionGroup &group, const AttentionBlock &block);
  void save(const AttentionGroup &group, const AttentionBlock &block, mlir::ValueRange maxima, mlir::ValueRange sums);
  Values scaled(mlir::ValueRange values, mlir::ValueRange by);

  // Rows without a visible key.
  void emitMaskedRows();
  void emitMaskedRow(const Row &row);
  Value isHiddenByMask(const Row &row, Value key);
  Value isHiddenByPosition(const Row &row, Value key);

  mlir::tiles::AttentionTileOp op;
  VectorBuilder b;
  AttentionTileSizes sizes;
  int64_t keyBlock;
  Value state, result, keys, heads;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_ATTENTIONTILEEMITTER_H
