//===- AttentionTileEmitter.h - Attention of a few rows in registers -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Code for one `tile.attention_tile` on buffers. Attention is two matrix products, queries by keys and probabilities by
// values, with a softmax of whole rows between them. The scores, rows x keys, are too large for a cache. So keys are
// processed in blocks whose scores fit in the L1 cache, and rows in groups whose sums fit in registers.
//
// A row r is a pair (query, head), heads innermost. x[r, j] is the score of row r and key j. V are the values, [keys,
// E], with E components each. The figure has groups of 8 rows, as code for AVX-512 does.
//
//                    block 0 of 512 keys             block 1
//   group 0, 8 rows  | strip 8 x 512, 16 KiB |  ->   the same strip again  ..      result[r], [E], in memory
//   group 1, 8 rows  | the same strip again  |  ..                                 state[r]: 16 lanes of sums, maximum
//      ..            all groups of a block before the next block
//
// For each block of keys, for each group of rows:
//
//   scores    strip[r, j] = x[r, j] * log2 e                 rows x score-vectors accumulators; max[r] in registers
//   softmax   strip[r, j] = 2^(strip[r, j] - max[r])         and their sum, in 16 lanes
//   values    result[r]   = result[r] * decay + strip[r] V   rows x value-vectors accumulators
//
// Invariants. With one block of keys this is the exact softmax, in two passes over the strip. With more blocks, maxima
// and sums are kept in `state` for the next block, and the result, the sums and the probabilities of earlier blocks are
// multiplied by the decay, 2^(old max - new max). A group skips blocks that causal masks or windows hide from all its
// rows, unless the operation returns the scores of hidden keys. In the other blocks, keys that causal masks or windows
// hide get the score -infinity. The first block of a group writes its results even if there is no key. The bits of a
// row's result do not depend on its group.
//
// Cost. Keys and values are read once for each group of 8 rows, from the L2 cache for all groups but the first. Each
// worker has 16.5 KiB of scratch for scores, padding included, and 128 bytes of state per row.
//
// Smaller blocks of keys, with the online softmax after each, were slower than blocks of 512 in measurements.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_ATTENTIONTILEEMITTER_H
#define ATTUNE_COMPILER_TARGET_CPU_ATTENTIONTILEEMITTER_H

#include "compiler/Target/CPU/AttentionGroup.h"
#include "dialect/Tile/IR/TileOps.h"

namespace attune {

/// Sizes of the groups held in registers: rows (pairs of a query and a head), vectors of 16 keys, vectors of 16 value
/// columns, and rows whose exponentials are computed together.
struct AttentionTileSizes {
  int64_t rows, scoreVectors, valueVectors, softmaxRows;
};

/// Emits one attention tile: for each block of keys, each group of rows.
class AttentionTileEmitter {
public:
  AttentionTileEmitter(mlir::tiles::AttentionTileOp op, AttentionTileSizes sizes);
  void run();

private:
  using Value = mlir::Value;
  using Values = VectorBuilder::Values;
  using Row = AttentionGroup::Row;
  /// The column of `state` that holds a row's maximum; its sums are in the columns before.
  static constexpr int64_t kMaximum = VectorBuilder::kLanes;

  Row rowAt(Value number);
  AttentionGroup groupAt(Value first, int64_t count);
  void emitGroup(Value begin, Value first, int64_t count);
  void emitBlock(const AttentionGroup &group, const AttentionBlock &block);
  Values restore(const AttentionGroup &group, const AttentionBlock &block);
  void save(const AttentionGroup &group, const AttentionBlock &block, mlir::ValueRange maxima, mlir::ValueRange sums);
  Values scaled(mlir::ValueRange values, mlir::ValueRange by);

  // Fully masked rows.
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
