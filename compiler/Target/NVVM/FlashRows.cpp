//===- FlashRows.cpp - Rows of attention in a warp -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/FlashRows.h"
#include "compiler/Target/NVVM/WarpAttention.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

static Type typeOf(xfmr::Precision precision, OpBuilder &builder) {
  return precision == xfmr::Precision::F16 ? Type(builder.getF16Type()) : Type(builder.getBF16Type());
}

FlashRows::FlashRows(tiles::AttentionTileOp op, ThreadBuilder &e, Value lane)
    : headDim(cast<MemRefType>(op.getQuery().getType()).getDimSize(2)), valueDim(op.getValueDim()), cores(e, typeOf(op.getPrecision(), e)),
      rows(op, e), op(op), e(e), lane(lane) {
  count = e.mul(e.size(op.getQuery(), 0), rows.heads);
}

void FlashRows::take(Value from, Value stores) {
  first = from;
  Value last = e.max(e.add(count, -1), e.index(0));
  for (int64_t r = 0; r < 2; ++r) {
    Value number = e.add(e.add(first, e.div(lane, 4)), 8 * r);
    exists[r] = e.compare(arith::CmpIPredicate::slt, number, count);
    if (stores)
      exists[r] = e.both(exists[r], stores);
    row[r] = rows.rowAt(e.min(number, last));
  }
  queries.clear();
  for (int64_t d = 0; d < headDim; d += 16)
    for (int64_t part = 0; part < 4; ++part)
      queries.push_back(queryWord(row[part % 2], d + part / 2 * 8));
}

/// Returns two components of the query of |row| as one word: of the 8 components from |d| on, the two that belong to
/// this lane.
Value FlashRows::queryWord(const AttentionRow &row, int64_t d) {
  Value pair = e.add(e.mul(e.rem(lane, 4), 2), d);
  if (Type element = cast<MemRefType>(op.getQuery().getType()).getElementType(); !element.isF32()) {
    // Head sizes of 16-bit elements are multiples of 8, so either all 8 components from |d| on exist or none.
    if (d >= headDim)
      return arith::ConstantIntOp::create(e, 0, 32);
    Value two = vector::LoadOp::create(e, VectorType::get({2}, element), op.getQuery(), ValueRange{row.query, row.head, pair});
    auto word = VectorType::get({1}, e.getI32Type());
    return vector::ExtractOp::create(e, vector::BitCastOp::create(e, word, two), int64_t(0));
  }
  auto component = [&](int64_t i) {
    Value at = e.add(pair, i);
    auto load = [&] { return Values{e.load(op.getQuery(), {row.query, row.head, at})}; };
    if (d + 8 <= headDim)
      return load()[0];
    return e.choose(e.compare(arith::CmpIPredicate::slt, at, headDim), load, [&] { return Values{e.f32(0.0)}; })[0];
  };
  Value low = component(0);
  return cores.pack(low, component(1));
}

Values FlashRows::initialState() { return {e.f32(kLowest), e.f32(kLowest), e.f32(0.0), e.f32(0.0)}; }
Values FlashRows::initialResults() { return Values(llvm::alignTo(valueDim, 16) / 2, e.f32(0.0)); }

/// Returns which of the lane's two rows, 0 or 1, accumulator |i| belongs to.
static size_t rowOf(size_t i) { return i % 4 / 2; }

std::pair<Value, Value> FlashRows::weigh(Value begin, bool areSeen, MutableArrayRef<Value> scores, MutableArrayRef<Value> state) {
  Value last = e.add(rows.keys, -1), mine = e.add(begin, e.mul(e.rem(lane, 4), 2)), decays[2];
  RowAttention::Limits limits[2];
  if (!areSeen)
    for (int64_t r = 0; r < 2; ++r)
      limits[r] = rows.limitsFrom(row[r], mine);
  for (auto [i, score] : llvm::enumerate(scores)) {
    size_t r = rowOf(i);
    auto number = static_cast<int64_t>(i / 4 * 8 + i % 2);
    Value key = e.add(mine, number);
    score = rows.score(row[r], areSeen ? key : e.min(key, last), score, /*isSeen=*/true);
    if (!areSeen)
      score = rows.hide(score, number, limits[r]);
  }
  for (size_t r = 0; r < 2; ++r) {
    Value largest;
    for (auto [i, score] : llvm::enumerate(scores))
      if (rowOf(i) == r)
        largest = largest ? e.maxf(largest, score) : score;
    for (int64_t mask : {1, 2})
      largest = e.maxf(largest, e.shuffleXor(largest, mask));
    Value maximum = e.maxf(state[r], largest), decay = e.exp2(e.subf(state[r], maximum)), sum = e.mulf(state[2 + r], decay);
    for (auto [i, score] : llvm::enumerate(scores))
      if (rowOf(i) == r) {
        score = e.exp2(e.subf(score, maximum));
        sum = e.addf(sum, score);
      }
    state[r] = maximum, state[2 + r] = sum, decays[r] = decay;
  }
  return {decays[0], decays[1]};
}

void FlashRows::rescale(MutableArrayRef<Value> results, std::pair<Value, Value> factors) {
  for (auto [i, result] : llvm::enumerate(results))
    result = e.mulf(result, rowOf(i) == 0 ? factors.first : factors.second);
}

Values FlashRows::operand(ArrayRef<Value> weights, int64_t key) {
  ArrayRef<Value> near = weights.slice(key / 8 * 4, 4), far = weights.slice((key / 8 + 1) * 4, 4);
  return {cores.pack(near[0], near[1]), cores.pack(near[2], near[3]), cores.pack(far[0], far[1]), cores.pack(far[2], far[3])};
}

void FlashRows::finish(ValueRange state, ValueRange results, llvm::function_ref<void()> barrier) {
  Value totals[2];
  for (int64_t r = 0; r < 2; ++r) {
    Value sum = state[2 + r];
    for (int64_t mask : {1, 2})
      sum = e.addf(sum, e.shuffleXor(sum, mask));
    totals[r] = sum;
    Value factor = rows.factor(row[r], state[r], sum);
    e.ifThen(exists[r], [&] {
      for (int64_t column = 0; column < valueDim; column += 8)
        for (int64_t i = 0; i < 2; ++i) {
          Value at = e.add(e.mul(e.rem(lane, 4), 2), column + i), value = results[column / 8 * 4 + 2 * r + i];
          auto store = [&] { e.store(e.mulf(value, factor), op.getDestinations()[0], {row[r].query, row[r].head, at}); };
          if (column + 8 <= valueDim)
            store();
          else
            e.ifThen(e.compare(arith::CmpIPredicate::slt, at, valueDim), store);
        }
    });
  }
  if (!needsMaskedRows(op))
    return;
  barrier();
  WarpAttention(op, e).emitMaskedRows(first, lane, [&](Value local) {
    Value from = e.mul(e.rem(local, 8), 4), isUpper = e.compare(arith::CmpIPredicate::slt, local, 8);
    auto ofRow = [&](Value upper, Value lower) { return e.select(isUpper, e.broadcastLane(upper, from), e.broadcastLane(lower, from)); };
    Value maximum = ofRow(state[0], state[1]);
    return std::pair(maximum, ofRow(totals[0], totals[1]));
  });
}
