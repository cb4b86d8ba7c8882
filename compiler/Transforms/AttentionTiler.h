//===- AttentionTiler.h - Loops around attention tiles ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H
#define ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H

#include "compiler/Transforms/TileBuilder.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// The sizes of attention tiles. A row is a query of one head. A tile has a multiple of |rows| rows, or up to
/// |longRows| if it reads several blocks of |keyBlock| keys each. A key panel has |width| keys; panels of a cache have
/// the width of the cache instead. |precision| is the precision of both products, unless keys are bf16 or f16 already.
struct AttentionSizes {
  int64_t rows, longRows, width, keyBlock;
  mlir::xfmr::Precision precision;
};

/// The rewrite of one attention op.
class AttentionTiler {
public:
  AttentionTiler(mlir::xfmr::AttentionOp op, AttentionSizes sizes);
  /// Replaces the op by loops around attention tiles and erases it.
  void run();

private:
  void report();
  /// Returns the bytes of a scale, which follow the components of each key or value in a cache of i8; else 0.
  int64_t scaleBytes() { return op.isCached() ? mlir::xfmr::getScaleBytes(op.getKey().getType().getElementType()) : 0; }
  /// Returns true if keys stay rows instead of panels: keys of bf16 or f16, which tensor cores read as rows.
  bool hasKeyRows() { return !op.isCached() && !op.getKey().getType().getElementType().isF32(); }
  mlir::Value maskOfF32(mlir::Value mask);
  mlir::Value packKeys(mlir::Value batch);
  mlir::Value destinationOfProbabilities(mlir::Value batch);
  mlir::scf::ForallOp attend(mlir::Value batch, mlir::Value mask, mlir::Value keys);
  mlir::Value queriesPerTile();
  mlir::xfmr::Precision getPrecision();

  /// The part of attention that one iteration computes.
  struct Tile {
    mlir::Value sequence, slot;           // slot: the cache slot of the sequence, used if keys are a cache
    mlir::Value firstHead, heads, kvHead; // heads firstHead ... firstHead + heads - 1 share the keys of kvHead
    mlir::Value first, row, count;        // the first query as a token and as an index in its sequence; number of queries
    TokenRange keys;
    mlir::Value position;
  };
  /// Creates the tile of an iteration of |loop|, of at most |queries| queries.
  Tile tileAt(mlir::scf::ForallOp loop, mlir::Value queries);
  // Create the slices of the operands that |tile| reads.
  mlir::Value rowTile(const Tile &tile, mlir::Value tensor, int64_t size);
  mlir::Value keyTile(const Tile &tile, mlir::Value keys);
  mlir::Value valueTile(const Tile &tile);
  mlir::Value maskTile(const Tile &tile, mlir::Value mask);
  /// Returns the elements of |vector|, one for each head, that belong to the heads of |tile|; null for null.
  mlir::Value headElements(const Tile &tile, mlir::Value vector);
  mlir::Value distanceBiasTile(const Tile &tile);
  mlir::Value relativeTile(const Tile &tile, mlir::Value table);
  /// Returns the text that describes the kernel in `tile.kernel` and in remarks.
  std::string describe();

  /// Returns the number of keys of |sequence| and, unless they are in a cache, the token of the first key.
  TokenRange keysOf(mlir::Value sequence);
  /// Returns the number of the first panel of |sequence|, whose keys are |keys|.
  mlir::Value firstPanel(const TokenRange &keys, mlir::Value sequence) {
    return b.affine({keys.begin, sequence}, b.d0.floorDiv(width) + b.d1);
  }
  mlir::OpFoldResult headsOf(const Tile &tile) { return group % tileHeads == 0 ? b.fixed(tileHeads) : mlir::OpFoldResult(tile.heads); }
  /// Returns offset and size of a slice of dimension |dim| of |tensor| that has either an element for each index from
  /// |first| to |first| + |count| - 1 or one element for all.
  std::pair<mlir::OpFoldResult, mlir::OpFoldResult> broadcast(mlir::Value tensor, int64_t dim, mlir::Value first, mlir::OpFoldResult count);

  mlir::xfmr::AttentionOp op;
  TileBuilder b;
  AttentionSizes sizes;
  int64_t heads, kvHeads, headDim, valueDim, width;
  /// Query heads for each key head, query heads in one tile (at most), and tiles for each key head.
  int64_t group, tileHeads, headTiles;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H
