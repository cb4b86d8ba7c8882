//===- RowAttention.cpp - Scores of attention, one at a time ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/RowAttention.h"
#include "compiler/Target/NVVM/CacheLoads.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attune;
using xfmr::ScoreStage;
using Values = ThreadBuilder::Values;

/// The components of a dot product in an iteration of its loop, so that the loads of several components can start
/// before the first of them is multiplied.
static constexpr int64_t kUnroll = 4;

RowAttention::RowAttention(tiles::AttentionTileOp op, ThreadBuilder &e)
    : keys(e.size(op.getValue(), 0)), heads(e.size(op.getQuery(), 1)), op(op), e(e) {}

RowAttention::Row RowAttention::rowAt(Value number) { return makeAttentionRow(e, op, e.div(number, heads), e.rem(number, heads), keys); }

std::pair<Value, Value> RowAttention::keysOf(const Row &row) {
  if (!op.hidesByPosition() || visitsAllKeys(op))
    return {e.index(0), keys};
  return {row.first, row.end};
}

std::pair<Value, Value> RowAttention::visitedKeys(Value first, Value last) {
  return {keysOf(rowAt(first)).first, keysOf(rowAt(last)).second};
}

std::pair<Value, Value> RowAttention::seenKeys(Value first, Value last, std::pair<Value, Value> visited, int64_t step) {
  auto [begin, end] = visited;
  AttentionRow upper = rowAt(first), lower = rowAt(last);
  Value from = begin, to = e.min(end, keys);
  if (op.hidesByPosition()) {
    // The first and the last visible key do not decrease from one row to the next.
    to = e.min(to, upper.end);
    if (op.getWindowLeft())
      from = e.min(e.add(begin, e.mul(e.div(e.add(e.max(e.sub(lower.first, begin), e.index(0)), step - 1), step), step)), end);
  }
  Value whole = e.mul(e.div(e.max(e.sub(to, from), e.index(0)), step), step);
  return {from, e.add(from, whole)};
}

RowAttention::Limits RowAttention::limitsFrom(const Row &row, Value key) {
  auto distance = [&](Value other) -> Value { return arith::IndexCastOp::create(e, e.getI32Type(), e.sub(other, key)); };
  Limits limits{{}, distance(op.hidesByPosition() ? e.min(row.end, keys) : keys)};
  if (op.getWindowLeft())
    limits.first = distance(row.first);
  return limits;
}

Value RowAttention::hide(Value score, int64_t distance, const Limits &limits) {
  Value at = arith::ConstantIntOp::create(e, distance, 32), sees = e.compare(arith::CmpIPredicate::slt, at, limits.end);
  if (limits.first)
    sees = e.both(sees, e.compare(arith::CmpIPredicate::sge, at, limits.first));
  return e.select(sees, score, e.f32(-std::numeric_limits<double>::infinity()));
}

Value RowAttention::keyComponent(Value key, Value d) {
  if (op.hasKeyRows())
    return e.loadWide(op.getKey(), {key, d});
  int64_t width = cast<MemRefType>(op.getKey().getType()).getDimSize(2);
  return e.loadWide(op.getKey(), {e.div(key, width), d, e.rem(key, width)});
}

/// Returns the factor of the components of |key|; null if keys are rows or have no scales.
Value RowAttention::keyScale(Value key) {
  if (op.hasKeyRows() || !hasScales(op.getKey()))
    return {};
  int64_t width = cast<MemRefType>(op.getKey().getType()).getDimSize(2);
  return loadKeyScale(e, op.getKey(), e.div(key, width), e.rem(key, width));
}

/// Returns the column of |table| for the distance from |row|'s position to |key|. The distance 0 is in the middle of
/// the table; a distance beyond the table has its first or its last column. If |table| is null, so is the result's
/// table.
RowAttention::RelativeRow RowAttention::relativeRow(const Row &row, Value key, Value table) {
  if (!table)
    return {};
  int64_t columns = cast<MemRefType>(table.getType()).getDimSize(2);
  Value column = e.max(e.min(e.add(e.sub(key, row.position), columns / 2), e.index(columns - 1)), e.index(0));
  return {table, broadcastRow(e, table, 0, row.head), column};
}

/// Returns component |d| of the column |place| of a table, or null if |place| has no table.
Value RowAttention::relativeComponent(const RelativeRow &place, Value d) {
  return place.table ? e.load(place.table, {place.head, d, place.column}) : Value();
}

Value RowAttention::product(const Row &row, Value key) {
  Value query = op.getQuery();
  int64_t size = cast<MemRefType>(query.getType()).getDimSize(2);
  RelativeRow relativeKey = relativeRow(row, key, op.getRelativeKey());
  RelativeRow relativeQuery = op.getRelativeQuery() == op.getRelativeKey() ? relativeKey : relativeRow(row, key, op.getRelativeQuery());
  // With relative positions, terms are added to the components of the key, so each component is scaled before its term
  // is added. Otherwise the sum of products is scaled.
  Value scale = keyScale(key);
  bool scalesComponents = scale && op.hasRelativeTables();
  auto step = [&](Value d, Value sum) {
    Value q = e.loadWide(query, {row.query, row.head, d}), k = keyComponent(key, d), r = relativeComponent(relativeKey, d);
    if (scalesComponents)
      k = e.mulf(k, scale);
    sum = e.fma(q, r ? e.addf(k, r) : k, sum);
    Value s = op.getRelativeQuery() == op.getRelativeKey() ? r : relativeComponent(relativeQuery, d);
    return s ? e.fma(k, s, sum) : sum;
  };
  Value sum =
      e.loop(e.index(0), e.index(size / kUnroll * kUnroll), e.index(kUnroll), e.f32(0.0), [&](Value d, ValueRange carried) -> Values {
        Value partial = carried[0];
        for (int64_t i = 0; i < kUnroll; ++i)
          partial = step(e.add(d, i), partial);
        return {partial};
      })[0];
  for (int64_t d = size / kUnroll * kUnroll; d < size; ++d)
    sum = step(e.index(d), sum);
  return scale && !scalesComponents ? e.mulf(sum, scale) : sum;
}

Value RowAttention::mask(const Row &row, Value key) { return e.load(op.getMask(), maskIndices(e, op, row, key)); }

/// Stores |value| times captureFactor if the operation returns the scores of |stage|.
void RowAttention::capture(const Row &row, ScoreStage stage, Value value, Value key) {
  Value target = op.getProbabilities();
  if (!target || op.getScoreStage() != stage)
    return;
  Value stored = e.mulf(value, e.f32(captureFactor(op, stage)));
  if (stage == ScoreStage::Masked) // The score of a hidden key is exactly the lowest float.
    stored = e.select(e.compare(arith::CmpFPredicate::OLE, value, e.f32(kHiddenTimesLog2E)), e.f32(kLowest), stored);
  e.store(stored, target, {row.head, row.query, key});
}

Value RowAttention::score(const Row &row, Value key, Value product, bool isSeen) {
  double scale = op.getScale().convertToDouble();
  capture(row, ScoreStage::Product, product, key);
  double unit = scale * kLog2E;
  if (op.getSoftcap()) {
    double cap = op.getSoftcap()->convertToDouble();
    product = math::TanhOp::create(e, e.mulf(product, e.f32(scale / cap)));
    unit = cap * kLog2E;
  }
  capture(row, ScoreStage::Capped, product, key);
  Value added, masked = op.getMask() ? mask(row, key) : Value();
  // Not e.maxf(x, lowest), which would replace NaN, too.
  auto replaceInfinity = [&](Value x) {
    Value lowest = e.f32(kLowest);
    return e.select(e.compare(arith::CmpFPredicate::OLT, x, lowest), lowest, x);
  };
  if (Value table = op.getDistanceBias()) {
    Value origin = e.div(e.size(table, 1), 2); // an odd number of distances
    Value at = e.add(e.sub(key, row.position), origin);
    added = e.mulf(e.load(table, {broadcastRow(e, table, 0, row.head), at}), e.f32(kLog2E));
  }
  if (masked && !op.getMaskFill()) {
    Value term = replaceInfinity(e.mulf(masked, e.f32(kLog2E)));
    added = added ? replaceInfinity(e.addf(term, added)) : term;
  }
  Value score = added ? e.fma(product, e.f32(unit), added) : e.mulf(product, e.f32(unit));
  if (op.getMaskFill())
    score = e.select(e.compare(arith::CmpFPredicate::OLT, masked, e.f32(0.0)), e.f32(op.getMaskFill()->convertToDouble() * kLog2E), score);
  capture(row, ScoreStage::Masked, score, key);
  if (op.hidesByPosition() && !isSeen)
    score = e.select(isHiddenByPosition(row, key), e.f32(-std::numeric_limits<double>::infinity()), score);
  return score;
}

Value RowAttention::factor(const Row &row, Value maximum, Value sum) {
  Value zero = e.f32(0.0), numerator = e.f32(1.0), total = sum;
  if (op.getSinks()) {
    // Both terms are relative to the larger of sink and maximum, so that neither overflows.
    Value sink = e.mulf(e.load(op.getSinks(), row.head), e.f32(kLog2E)), largest = e.maxf(maximum, sink);
    numerator = e.exp2(e.subf(maximum, largest));
    total = e.fma(sum, numerator, e.exp2(e.subf(sink, largest)));
  }
  Value factor = e.divf(numerator, total);
  if (op.getHeadScale())
    factor = e.mulf(factor, e.load(op.getHeadScale(), row.head));
  factor = e.select(e.compare(arith::CmpFPredicate::OEQ, sum, zero), zero, factor);
  if (op.getMaskedRows() == xfmr::MaskedRows::Zero)
    factor = e.select(seesNone(maximum, sum), zero, factor);
  return factor;
}

Value RowAttention::seesNone(Value maximum, Value sum) {
  Value isLow = e.compare(arith::CmpFPredicate::OLE, maximum, e.f32(kHiddenTimesLog2E));
  return e.both(isLow, e.compare(arith::CmpFPredicate::ORD, sum, sum));
}

Value RowAttention::isHiddenByPosition(const Row &row, Value key) {
  return e.either(e.compare(arith::CmpIPredicate::sge, key, row.end), e.compare(arith::CmpIPredicate::slt, key, row.first));
}

Value RowAttention::isHiddenByMask(const Row &row, Value key) {
  if (!op.getMask() || op.getMaskFill())
    return arith::ConstantIntOp::create(e, 0, 1);
  return e.compare(arith::CmpFPredicate::OLE, mask(row, key), e.f32(kHidden));
}

Value RowAttention::maskedWeight(const Row &row, Value key) {
  if (op.getMaskedRows() == xfmr::MaskedRows::Uniform)
    return e.f32(1.0);
  Value named = arith::XOrIOp::create(e, isHiddenByMask(row, key), isHiddenByPosition(row, key));
  if (op.getMaskedRows() == xfmr::MaskedRows::LeastMaskedPast)
    named = e.both(named, e.compare(arith::CmpIPredicate::slt, key, row.end));
  return e.select(named, e.f32(1.0), e.f32(0.0));
}
