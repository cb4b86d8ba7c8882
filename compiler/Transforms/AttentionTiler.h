//===- AttentionTiler.h - Loops around attention tiles ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H
#define ATTUNE_COMPILER_TRANSFORMS_ATTENTIONTILER_H

#include "compiler/Transforms/TileBuilder.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// The sizes of attention tiles. A row is a query of one head. A tile has the smallest multiple of |rows| rows that is
/// divisible by the number of its heads, or, for long sequences with several blocks of |keyBlock| keys, up to
/// |longRows| rows. A key panel has |width| keys; panels of a cache have the width of the cache instead. |precision| is
/// the precision of Q K^T and P V, unless keys outside of caches are bf16 or f16 already.
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
  /// Returns the bytes of the scale that a cache of i8 has for each key and each value, beside its components; 0 for
  /// other keys.
  int64_t scaleBytes() { return op.isCached() ? mlir::xfmr::getScaleBytes(op.getKey().getType().getElementType()) : 0; }
  /// Returns true if keys stay rows instead of panels: keys of bf16 or f16 outside of caches, which tensor cores read
  /// as rows.
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
    mlir::Value first, row, count;        // the first query: its token, its index in the sequence; number of queries
    TokenRange keys;                      // the keys of the sequence
    mlir::Value position;                 // of the first query among the keys
  };
  /// Creates the tile of an iteration of |loop|, of at most |queries| queries.
  Tile tileAt(mlir::scf::ForallOp loop, mlir::Value queries);
  // Create the slices of the operands that |tile| reads.
  mlir::Value rowTile(const Tile &tile, mlir::Value tensor, int64_t size);
  mlir::Value keyTile(const Tile &tile, mlir::Value keys);
  mlir::Value valueTile(const Tile &tile);
  mlir::Value maskTile(const Tile &tile, mlir::Value mask);
  /// Returns the elements of |vector| for the heads of |tile|; null if |vector| is null. |vector| has one element for
  /// each head.
  mlir::Value headElements(const Tile &tile, mlir::Value vector);
  mlir::Value distanceBiasTile(const Tile &tile);
  mlir::Value relativeTile(const Tile &tile, mlir::Value table);
  /// Returns the text that describes the kernel in `tile.kernel` and in remarks.
  std::string describe();

  /// Returns the number of keys of |sequence| and the token of its first key, which is null if keys are in a cache.
  TokenRange keysOf(mlir::Value sequence);
  /// Returns the number of the first panel of |sequence|; |keys| are the keys of the sequence.
  mlir::Value firstPanel(const TokenRange &keys, mlir::Value sequence) {
    return b.affine({keys.begin, sequence}, b.d0.floorDiv(width) + b.d1);
  }
  mlir::OpFoldResult headsOf(const Tile &tile) { return group % tileHeads == 0 ? b.fixed(tileHeads) : mlir::OpFoldResult(tile.heads); }
  /// Returns offset and size of the slice of dimension |dim| of |tensor| for the |count| indices from |first| on. The
  /// dimension has an element for each index, or one element for all, which is then the slice.
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
