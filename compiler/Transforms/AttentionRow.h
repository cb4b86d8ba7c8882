//===- AttentionRow.h - The keys that a row of attention sees ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rules of `tile.attention_tile` that its lowerings for CPUs and for GPUs share: the keys that a row sees, the
// indices of its mask elements, and the factor by which a computed score is multiplied before it is stored.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ATTENTIONROW_H
#define ATTUNE_COMPILER_TRANSFORMS_ATTENTIONROW_H

#include "compiler/Transforms/IndexBuilder.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <limits>

namespace attune {

inline constexpr double kLog2E = 1.44269504088896340736;
/// The initial maximum of the scores of a row, and the lower bound of scores with a mask. With -infinity instead, a row
/// whose mask is -infinity for all keys would subtract infinities and get NaN.
inline constexpr double kLowest = std::numeric_limits<float>::lowest();
/// The threshold for hidden keys: a mask value of at most this hides a key.
inline constexpr double kHidden = mlir::xfmr::kHiddenScore;
/// kHidden times log2(e), in f32: the threshold for scores that are computed times log2(e).
inline constexpr float kHiddenTimesLog2E = static_cast<float>(kHidden) * static_cast<float>(kLog2E);

/// A row of the score matrix: a pair of a query and a head.
struct AttentionRow {
  mlir::Value query, head; // indices into the operands of the tile
  mlir::Value position;    // of the query among the keys; null if the operation has no position
  mlir::Value first, end;  // the keys that positions do not hide are [first, end); null if positions hide no key
};

/// Returns the row of |query| and |head|, which has |keys| keys, and emits the computation of its position and limits.
/// If `first` is not less than `end`, positions hide all keys.
AttentionRow makeAttentionRow(IndexBuilder &b, mlir::tiles::AttentionTileOp op, mlir::Value query, mlir::Value head, mlir::Value keys);

/// Returns the index of the element for |row|, the index of a query or a head, in dimension |dim| of |buffer|: |row|,
/// or 0 if the dimension has one element for all.
mlir::Value broadcastRow(IndexBuilder &b, mlir::Value buffer, int64_t dim, mlir::Value row);

/// Returns the indices of the element of |op|'s mask for |row| and |key|.
llvm::SmallVector<mlir::Value> maskIndices(IndexBuilder &b, mlir::tiles::AttentionTileOp op, const AttentionRow &row, mlir::Value key);

/// Returns true if the score stage that |op| returns has values for all keys, even those that positions hide.
inline bool visitsAllKeys(mlir::tiles::AttentionTileOp op) {
  return op.getScoreStage() == mlir::xfmr::ScoreStage::Product || op.getScoreStage() == mlir::xfmr::ScoreStage::Capped;
}

/// Returns the factor by which lowerings multiply the value that they have computed at |stage|, a stage before the
/// softmax, to get the score that they store. For `product`, and for `capped` without a softcap, the value is a dot
/// product without the scale; for `capped` with a softcap, a hyperbolic tangent; for `masked`, a score times log2(e).
inline double captureFactor(mlir::tiles::AttentionTileOp op, mlir::xfmr::ScoreStage stage) {
  if (stage == mlir::xfmr::ScoreStage::Masked)
    return 1 / kLog2E;
  if (stage == mlir::xfmr::ScoreStage::Capped && op.getSoftcap())
    return op.getSoftcap()->convertToDouble();
  return op.getScale().convertToDouble();
}

/// Returns true if rows without a visible key need code of their own, because the softmax does not give them the
/// probabilities that `masked_rows` requires.
inline bool needsMaskedRows(mlir::tiles::AttentionTileOp op) {
  return op.hidesByPosition() && op.getMaskedRows() != mlir::xfmr::MaskedRows::Zero;
}

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ATTENTIONROW_H
