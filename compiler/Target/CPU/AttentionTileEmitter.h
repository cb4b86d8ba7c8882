//===- AttentionTileEmitter.h - Attention of a few rows in registers -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Code for one `tile.attention_tile` on f32 buffers. For one block of keys after the other, and in it for a group of rows that fills
// registers:
//
//   scores    strip[r, j] = x[r, j] * log2 e                 rows x score-vectors accumulators; the largest of each row in a register
//   weights   strip[r, j] = 2^(strip[r, j] - max[r])         and their sum, in 16 lanes
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

#include "compiler/Target/CPU/VectorBuilder.h"
#include "compiler/Transforms/AttentionRow.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Sizes of the groups held in registers.
struct AttentionTileSizes {
  int64_t rows, scoreVectors, valueVectors, weightRows;
};

class AttentionTileEmitter {
public:
  AttentionTileEmitter(mlir::tiles::AttentionTileOp op, AttentionTileSizes sizes);
  void run();

private:
  using Value = mlir::Value;
  using Values = VectorBuilder::Values;
  static constexpr int64_t kLanes = VectorBuilder::kLanes;
  /// Column of `state` that has a row's maximum, after its sums.
  static constexpr int64_t kMaximum = kLanes;

  /// One row of a group.
  struct Row : AttentionRow {
    Value number; // in the tile
  };
  /// A block of keys as one group of rows sees it.
  struct Block {
    Value begin, size; // key and number of keys
    Value isFirst, isLast;
  };

  // The tile (AttentionTileEmitter.cpp).
  Row rowAt(Value number);
  void setGroup(Value first, int64_t count);
  void emitGroup(Value begin, Value first, int64_t count);
  void emitBlock(const Block &block);
  Values restore(const Block &block);
  void save(const Block &block, mlir::ValueRange maxima, mlir::ValueRange sums);

  // Scores (AttentionScores.cpp).
  Values emitScores(const Block &block);
  Values emitProducts(Value key, int64_t vectors, Value panel, Value lane);
  Values emitRelativeProducts(Value key, int64_t vectors, Value panel, Value lane);
  Value emitScore(const Row &row, Value product, Value key, Lanes lanes, Value sharedMask);
  Value loadMask(const Row &row, Value key, Lanes lanes);
  void capture(const Row &row, mlir::xfmr::ScoreStage stage, Value value, Value key, Lanes lanes);
  Value hide(const Row &row, Value score, Value key, Value hidden);
  bool hasMaskPerRow();

  // Weights and values (AttentionValues.cpp).
  Values emitWeights(const Block &block, mlir::ValueRange base, mlir::ValueRange sums);
  Values emitFactors(mlir::ValueRange maxima, mlir::ValueRange sums);
  void emitProbabilities(const Block &block, mlir::ValueRange earlier, mlir::ValueRange factor);
  void emitValues(const Block &block, mlir::ValueRange decay, mlir::ValueRange factor);
  void emitValueColumns(const Block &block, mlir::ValueRange decay, mlir::ValueRange factor, int64_t column, int64_t vectors,
                        int64_t columns);

  // Rows without a visible key (AttentionMaskedRows.cpp).
  void emitMaskedRows();
  void emitMaskedRow(const Row &row);
  Value isHiddenByMask(const Row &row, Value key);
  Value isHiddenByPosition(const Row &row, Value key);

  Values scaled(mlir::ValueRange values, mlir::ValueRange by);

  mlir::tiles::AttentionTileOp op;
  VectorBuilder e;
  AttentionTileSizes sizes;
  int64_t keyBlock;
  Value strip, state, result;
  Value keys, heads;
  /// The group's rows, and the keys that positions leave to some of them.
  llvm::SmallVector<Row> rows;
  Value groupFirst, groupEnd;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_ATTENTIONTILEEMITTER_H
