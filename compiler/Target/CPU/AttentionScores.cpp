//===- AttentionScores.cpp - Scores of a block of keys --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionTileEmitter.h"
#include "compiler/Transforms/ExpandMathFunctions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using xfmr::ScoreStage;

/// Steps of the product loops done at once.
static constexpr int64_t kComponentUnroll = 4;
static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
/// What follows the distances in a row of the table of relative keys.
static constexpr int64_t kTablePadding = 15;

/// Writes the scores of |block| to the strip, in units of log2; returns the largest of each row, by lanes.
AttentionTileEmitter::Values AttentionTileEmitter::emitScores(const Block &block) {
  int64_t width = cast<MemRefType>(op.getKey().getType()).getDimSize(2), count = rows.size();
  int64_t vectors = std::gcd(width / kLanes, sizes.scoreVectors), step = vectors * kLanes;
  return e.loop(e.index(0), block.size, step, Values(count, e.splat(kLowest)), [&](Value column, ValueRange carried) {
    Value key = e.add(block.begin, column), panel = e.div(key, width), lane = e.rem(key, width);
    Values products = op.getRelativeKey() ? emitRelativeProducts(key, vectors, panel, lane) : emitProducts(key, vectors, panel, lane);
    // Most steps have no key that is hidden by its position or does not exist.
    Value plain = e.compare(arith::CmpIPredicate::sle, e.add(column, step), block.size);
    if (op.hidesByPosition()) {
      Value before = e.compare(arith::CmpIPredicate::sle, e.add(key, step), rows.front().end);
      Value behind = e.compare(arith::CmpIPredicate::sge, key, rows.back().first);
      plain = e.both(plain, e.both(before, behind));
    }
    auto finish = [&](bool all) {
      Values largest(carried);
      for (int64_t j = 0; j < vectors; ++j) {
        Value at = e.add(column, j * kLanes), first = e.add(key, j * kLanes);
        Lanes lanes = all ? Lanes::all() : Lanes::first(e.sub(block.size, at));
        Value shared = op.getMask() && !hasMaskPerRow() ? loadMask(rows[0], first, lanes) : Value();
        for (int64_t r = 0; r < count; ++r) {
          Value score = emitScore(rows[r], products[r * vectors + j], first, lanes, shared);
          if (!all)
            score = hide(rows[r], e.keep(score, lanes, e.splat(kMinusInfinity)), first, e.splat(kMinusInfinity));
          e.store(score, strip, {e.index(r), at});
          largest[r] = e.maxf(largest[r], score);
        }
      }
      return largest;
    };
    return e.choose(plain, [&] { return finish(true); }, [&] { return finish(false); });
  });
}

/// query . key for |vectors| vectors of keys.
AttentionTileEmitter::Values AttentionTileEmitter::emitProducts(Value, int64_t vectors, Value panel, Value lane) {
  int64_t count = rows.size();
  return e.multiply(
      e.index(0), e.size(op.getQuery(), 2), count, vectors, kComponentUnroll, Values(count * vectors, e.splat(0.0)),
      [&](int64_t r, Value d) { return e.loadScalar(op.getQuery(), {rows[r].query, rows[r].head, d}); },
      [&](int64_t j, Value d) { return e.load(op.getKey(), {panel, d, e.add(lane, j * kLanes)}); });
}

/// query . (key + table[distance]), and key . table[distance] if asked for. The table's columns are the distances in descending order:
/// ascending keys.
AttentionTileEmitter::Values AttentionTileEmitter::emitRelativeProducts(Value key, int64_t vectors, Value panel, Value lane) {
  int64_t count = rows.size(), columns = cast<MemRefType>(op.getRelativeKey().getType()).getDimSize(2),
          origin = (columns - kTablePadding - 1) / 2;
  Values table; // column of each row's first distance, within the table also where there are no keys
  for (const Row &row : rows)
    for (int64_t j = 0; j < vectors; ++j)
      table.push_back(e.max(e.min(e.add(e.sub(key, row.position), origin + j * kLanes), e.index(columns - kLanes)), e.index(0)));
  Values initial(count * vectors, e.splat(0.0));
  return e.loop(e.index(0), e.size(op.getQuery(), 2), 1, initial, [&](Value d, ValueRange carried) {
    Values sums;
    for (int64_t r = 0; r < count; ++r) {
      Value query = e.splat(e.loadScalar(op.getQuery(), {rows[r].query, rows[r].head, d}));
      for (int64_t j = 0; j < vectors; ++j) {
        Value keys = e.load(op.getKey(), {panel, d, e.add(lane, j * kLanes)});
        Value distance = e.load(op.getRelativeKey(), {e.index(0), d, table[r * vectors + j]});
        Value sum = e.fma(query, e.addf(keys, distance), carried[r * vectors + j]);
        if (op.getRelativeTerms() == xfmr::RelativeTerms::QueryAndKey)
          sum = e.fma(keys, distance, sum);
        sums.push_back(sum);
      }
    }
    return sums;
  });
}

/// The score of |row| for 16 keys from |key| on, in units of log2, from their |product|.
Value AttentionTileEmitter::emitScore(const Row &row, Value product, Value key, Lanes lanes, Value sharedMask) {
  double scale = op.getScale().convertToDouble();
  capture(row, ScoreStage::Product, product, key, lanes);
  // Factor from |product| to units of log2: what is added is fused with it.
  double unit = scale * kLog2E;
  if (op.getSoftcap()) {
    double cap = op.getSoftcap()->convertToDouble();
    product = emitTanh(e, e.getLoc(), e.mulf(product, e.splat(scale / cap)));
    unit = cap * kLog2E;
  }
  capture(row, ScoreStage::Capped, product, key, lanes);
  Value added;
  if (Value table = op.getDistanceBias()) {
    Value origin = e.div(e.size(table, 1), 2); // an odd number of distances
    Value at = e.add(e.sub(key, row.position), origin);
    added = e.mulf(e.load(table, {broadcastRow(e, table, 0, row.head), at}, lanes), e.splat(kLog2E));
  }
  Value mask = sharedMask ? sharedMask : op.getMask() ? loadMask(row, key, lanes) : Value();
  if (mask && !op.getMaskFill())
    added = added ? e.maxf(e.splat(kLowest), e.addf(mask, added)) : mask;
  Value score = added ? e.fma(product, e.splat(unit), added) : e.mulf(product, e.splat(unit));
  if (op.getMaskFill())
    score =
        e.select(e.compare(arith::CmpFPredicate::OLT, mask, e.splat(0.0)), e.splat(op.getMaskFill()->convertToDouble() * kLog2E), score);
  capture(row, ScoreStage::Masked, score, key, lanes);
  return score;
}

/// What the mask adds to the scores of |row|, in units of log2 and finite; with `mask_fill` as it is.
Value AttentionTileEmitter::loadMask(const Row &row, Value key, Lanes lanes) {
  Value values = e.load(op.getMask(), maskIndices(e, op, row, key), lanes);
  return op.getMaskFill() ? values : e.maxf(e.splat(kLowest), e.mulf(values, e.splat(kLog2E)));
}

bool AttentionTileEmitter::hasMaskPerRow() {
  auto type = cast<MemRefType>(op.getMask().getType());
  return llvm::any_of(type.getShape().drop_back(), [](int64_t size) { return size != 1; });
}

/// Stores |value| if |stage| is what the caller asks for. |value| has the factor of that stage still to come.
void AttentionTileEmitter::capture(const Row &row, ScoreStage stage, Value value, Value key, Lanes lanes) {
  Value target = op.getProbabilities();
  if (!target || op.getScoreStage() != stage)
    return;
  Value stored = e.mulf(value, e.splat(captureFactor(op, stage)));
  if (stage == ScoreStage::Masked) {
    // What the mask hides is bounded in units of log2.
    stored = e.select(e.compare(arith::CmpFPredicate::OLE, value, e.splat(kHidden)), e.splat(kLowest), stored);
    if (!lanes.areAll())
      stored = hide(row, stored, key, e.splat(kLowest));
  }
  e.store(stored, target, {row.head, row.query, key}, lanes);
}

/// |score|, or |hidden| for those of the 16 keys from |key| on that |row|'s position hides.
Value AttentionTileEmitter::hide(const Row &row, Value score, Value key, Value hidden) {
  if (!op.hidesByPosition())
    return score;
  score = e.keep(score, Lanes::first(e.sub(row.end, key)), hidden);
  if (op.getWindowLeft())
    score = e.keep(hidden, Lanes::first(e.sub(row.first, key)), score);
  return score;
}
