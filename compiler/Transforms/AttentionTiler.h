//===- AttentionTiler.h - Attention in key-block form -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H
#define ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H

#include "compiler/Transforms/TileBuilder.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// Rows of a tile, and of one over several blocks of keys; columns of a key panel; keys of a block; the precision of both products.
struct AttentionSizes {
  int64_t rows, longRows, width, keyBlock;
  mlir::xfmr::Precision precision;
};

/// Rewrites one attention op. Loops are in AttentionTiler.cpp, the slices of their iterations in AttentionTileOperands.cpp.
class AttentionTiler {
public:
  AttentionTiler(mlir::xfmr::AttentionOp op, AttentionSizes sizes);
  /// Leaves loops around tiles in the place of the op, which is erased.
  void run();

private:
  /// Keys that are rounded already stay rows: tensor cores read them as they are.
  bool hasKeyRows() { return !op.isCached() && !op.getKey().getType().getElementType().isF32(); }
  mlir::Value maskOfF32(mlir::Value mask);
  mlir::Value packKeys(mlir::Value batch);
  mlir::Value destinationOfProbabilities(mlir::Value batch);
  mlir::scf::ForallOp attend(mlir::Value batch, mlir::Value mask, mlir::Value keys);
  mlir::Value queriesPerTile();
  mlir::xfmr::Precision getPrecision();

  /// What one iteration works on.
  struct Tile {
    mlir::Value sequence, slot;           // where keys are a cache, those of the sequence are in this slot
    mlir::Value firstHead, heads, kvHead; // heads firstHead ... firstHead + heads - 1 share the keys of kvHead
    mlir::Value first, row, count;        // token, number in the sequence, and number of the queries
    TokenRange keys;
    mlir::Value position;
  };
  /// The tile of an iteration of |loop|, which has |queries| queries at most.
  Tile tileAt(mlir::scf::ForallOp loop, mlir::Value queries);
  // The slices of the operands that |tile| reads.
  mlir::Value rowTile(const Tile &tile, mlir::Value tensor, int64_t size);
  mlir::Value keyTile(const Tile &tile, mlir::Value keys);
  mlir::Value valueTile(const Tile &tile);
  mlir::Value maskTile(const Tile &tile, mlir::Value mask);
  mlir::Value headScaleTile(const Tile &tile);
  mlir::Value distanceBiasTile(const Tile &tile);
  /// What the kernel is called in tables.
  std::string describe();

  /// The number of keys of |sequence| and, unless they are a cache, where they begin.
  TokenRange keysOf(mlir::Value sequence);
  /// First panel of a sequence.
  mlir::Value firstPanel(const TokenRange &keys, mlir::Value sequence) {
    return b.affine({keys.begin, sequence}, b.d0.floorDiv(width) + b.d1);
  }
  mlir::OpFoldResult headsOf(const Tile &tile) { return group % tileHeads == 0 ? b.fixed(tileHeads) : mlir::OpFoldResult(tile.heads); }
  /// First index and size for a dimension of |size| elements that has an element for each of |count| from |first| on, or one for all.
  std::pair<mlir::OpFoldResult, mlir::OpFoldResult> broadcast(mlir::Value tensor, int64_t dim, mlir::Value first, mlir::OpFoldResult count);

  mlir::xfmr::AttentionOp op;
  TileBuilder b;
  AttentionSizes sizes;
  int64_t heads, kvHeads, headDim, valueDim, width;
  /// Query heads per key head, the most of them in one tile, and tiles they make.
  int64_t group, tileHeads, headTiles;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H
