//===- AttentionRow.h - Which keys a row of attention sees ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rules of `tile.attention_tile` that every way to emit it follows, for emitters of vectors and of threads alike: |Emitter| has index,
// add, min, max and size on indices.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_ATTENTIONROW_H
#define ATTUNE_COMPILER_TRANSFORMS_ATTENTIONROW_H

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
template <typename Emitter>
AttentionRow makeAttentionRow(Emitter &e, mlir::tiles::AttentionTileOp op, mlir::Value query, mlir::Value head, mlir::Value keys) {
  AttentionRow row{query, head, {}, {}, {}};
  if (!op.getPosition())
    return row;
  row.position = e.add(op.getPosition(), row.query);
  if (!op.hidesByPosition())
    return row;
  row.first = e.index(0);
  row.end = keys;
  if (op.getCausal() || op.getWindowRight()) {
    int64_t ahead = op.getCausal() ? 0 : static_cast<int64_t>(*op.getWindowRight());
    row.end = e.max(e.min(e.add(row.position, ahead + 1), keys), e.index(0));
  }
  if (op.getWindowLeft())
    row.first = e.max(e.add(row.position, -static_cast<int64_t>(*op.getWindowLeft())), e.index(0));
  return row;
}

/// Index of |row| in dimension |dim| of |buffer|, which may have one element for all.
template <typename Emitter>
mlir::Value broadcastRow(Emitter &e, mlir::Value buffer, int64_t dim, mlir::Value row) {
  auto type = mlir::cast<mlir::MemRefType>(buffer.getType());
  if (type.getDimSize(dim) == 1)
    return e.index(0);
  return type.isDynamicDim(dim) ? e.min(row, e.add(e.size(buffer, dim), -1)) : row;
}

/// Where the mask of |op| has what concerns |row| and |key|.
template <typename Emitter>
llvm::SmallVector<mlir::Value> maskIndices(Emitter &e, mlir::tiles::AttentionTileOp op, const AttentionRow &row, mlir::Value key) {
  mlir::Value mask = op.getMask();
  int64_t rank = mlir::cast<mlir::MemRefType>(mask.getType()).getRank();
  llvm::SmallVector<mlir::Value> at{key};
  if (rank > 1)
    at.insert(at.begin(), broadcastRow(e, mask, rank - 2, row.query));
  if (rank > 2)
    at.insert(at.begin(), broadcastRow(e, mask, 0, row.head));
  return at;
}

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
