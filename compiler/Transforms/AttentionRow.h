//===- AttentionRow.h - Which keys a row of attention sees ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rules of `tile.attention_tile` that every way to emit it follows.
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
/// What a masked key's score is bounded to from below, so that a row with no visible key is uniform rather than NaN.
inline constexpr double kLowest = std::numeric_limits<float>::lowest();
/// Maxima up to here mean that no key is visible; masks up to here hide.
inline constexpr double kHidden = kLowest / 2;

/// A pair of a query and a head.
struct AttentionRow {
  mlir::Value query, head; // in the tile's operands
  mlir::Value position;    // among the keys; null where nothing depends on it
  mlir::Value first, end;  // visible by position are the keys [first, end); null where positions hide none
};

/// The row of |query| and |head| over |keys| keys.
AttentionRow makeAttentionRow(IndexBuilder &b, mlir::tiles::AttentionTileOp op, mlir::Value query, mlir::Value head, mlir::Value keys);

/// Index of |row| in dimension |dim| of |buffer|, which may have one element for all.
mlir::Value broadcastRow(IndexBuilder &b, mlir::Value buffer, int64_t dim, mlir::Value row);

/// Where the mask of |op| has what concerns |row| and |key|.
llvm::SmallVector<mlir::Value> maskIndices(IndexBuilder &b, mlir::tiles::AttentionTileOp op, const AttentionRow &row, mlir::Value key);

/// Whether the stage of the score that |op| is asked for is one of all keys, also of those that positions hide.
inline bool visitsAllKeys(mlir::tiles::AttentionTileOp op) {
  return op.getScoreStage() == mlir::xfmr::ScoreStage::Product || op.getScoreStage() == mlir::xfmr::ScoreStage::Capped;
}

/// What the value at |stage| of the score lacks for what is stored of it: scores are in units of log2, and scaled as late as possible.
inline double captureFactor(mlir::tiles::AttentionTileOp op, mlir::xfmr::ScoreStage stage) {
  if (stage == mlir::xfmr::ScoreStage::Masked)
    return 1 / kLog2E;
  if (stage == mlir::xfmr::ScoreStage::Capped && op.getSoftcap())
    return op.getSoftcap()->convertToDouble();
  return op.getScale().convertToDouble();
}

/// Whether rows without a visible key follow a rule that what comes out of the softmax does not.
inline bool needsMaskedRows(mlir::tiles::AttentionTileOp op) {
  return op.hidesByPosition() && op.getMaskedRows() != mlir::xfmr::MaskedRows::Zero;
}

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_ATTENTIONROW_H
