//===- AttentionScores.cpp - Scores of a block of keys --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionScores.h"
#include "compiler/Target/CPU/CacheScales.h"
#include "compiler/Transforms/ExpandMathFunctions.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using xfmr::ScoreStage;

/// Components per iteration of the product loop.
static constexpr int64_t kComponentUnroll = 4;
static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

AttentionScores::Values AttentionScores::emit(const AttentionBlock &block) {
  int64_t width = cast<MemRefType>(op.getKey().getType()).getDimSize(2), count = rows.size();
  int64_t vectors = std::gcd(width / kLanes, maxVectors), step = vectors * kLanes;
  return b.loop(b.index(0), block.size, step, Values(count, b.splat(kLowest)), [&](Value column, ValueRange carried) {
    Value key = b.add(block.begin, column), panel = b.div(key, width), lane = b.rem(key, width);
    Values products = op.hasRelativeTables() ? emitRelativeProducts(key, vectors, panel, lane) : emitProducts(vectors, panel, lane);
    // Most steps have only keys that exist and that no row's position hides; such steps need no masks.
    Value plain = b.compare(arith::CmpIPredicate::sle, b.add(column, step), block.size);
    if (op.hidesByPosition()) {
      Value before = b.compare(arith::CmpIPredicate::sle, b.add(key, step), rows.front().end);
      Value behind = b.compare(arith::CmpIPredicate::sge, key, rows.back().first);
      plain = b.both(plain, b.both(before, behind));
    }
    auto finish = [&](bool all) {
      Values largest(carried);
      for (int64_t j = 0; j < vectors; ++j) {
        Value at = b.add(column, j * kLanes), first = b.add(key, j * kLanes);
        Lanes lanes = all ? Lanes::all() : Lanes::first(b.sub(block.size, at));
        Value shared = op.getMask() && !hasMaskPerRow() ? loadMask(rows[0], first, lanes) : Value();
        for (int64_t r = 0; r < count; ++r) {
          Value score = emitScore(rows[r], products[r * vectors + j], first, lanes, shared);
          if (!all)
            score = hide(rows[r], b.keep(score, lanes, b.splat(kMinusInfinity)), first, b.splat(kMinusInfinity));
          b.store(score, op.getScratch(), {b.index(r), at});
          largest[r] = b.maxf(largest[r], score);
        }
      }
      return largest;
    };
    return b.choose(plain, [&] { return finish(true); }, [&] { return finish(false); });
  });
}

/// Emits the dot products of all rows' queries with |vectors| vectors of 16 keys, from |lane| on in |panel|. Returns
/// those of row r and vector j at r * |vectors| + j.
AttentionScores::Values AttentionScores::emitProducts(int64_t vectors, Value panel, Value lane) {
  int64_t count = rows.size();
  Values products = b.multiply(
      b.index(0), b.size(op.getQuery(), 2), count, vectors, kComponentUnroll, Values(count * vectors, b.splat(0.0)),
      [&](int64_t r, Value d) { return b.loadScalar(op.getQuery(), {rows[r].query, rows[r].head, d}); },
      [&](int64_t j, Value d) { return widen(b, b.load(op.getKey(), {panel, d, b.add(lane, j * kLanes)})); });
  if (Values scales = loadKeyScales(vectors, panel, lane); !scales.empty())
    for (auto [i, product] : llvm::enumerate(products))
      product = b.mulf(product, scales[i % vectors]);
  return products;
}

/// Returns the scales of |vectors| vectors of 16 keys, from |lane| on in |panel|; an empty list if keys are not i8.
AttentionScores::Values AttentionScores::loadKeyScales(int64_t vectors, Value panel, Value lane) {
  Values scales;
  if (!cast<MemRefType>(op.getKey().getType()).getElementType().isInteger(8))
    return scales;
  for (int64_t j = 0; j < vectors; ++j) {
    Values indices = getScaleIndices(b, op.getKey(), b.add(lane, j * kLanes));
    indices.insert(indices.begin(), panel);
    scales.push_back(loadScales(b, op.getKey(), indices, kLanes));
  }
  return scales;
}

/// Returns, for each row and each of |vectors| vectors of 16 keys from |key| on, the column of |table| for the first
/// key of the vector. A distance is the position of the row minus the key. A table has a column for each distance, from
/// the largest to the smallest, with 0 in the middle; the columns of the largest and of the smallest distance are there
/// 16 times, so that 16 neighboring columns can be loaded at either end. Columns are clamped to the table. If |inside|,
/// no column needs clamping, and all columns are computed from that of the first row: the position of row r is that of
/// the first row plus r.
AttentionScores::Values AttentionScores::emitColumns(Value table, Value key, int64_t vectors, bool inside) {
  int64_t columns = cast<MemRefType>(table.getType()).getDimSize(2), count = rows.size();
  auto columnOf = [&](const Row &row, int64_t offset) { return b.add(b.sub(key, row.position), columns / 2 + offset); };
  Value first = columnOf(rows.front(), 0);
  Values result;
  for (int64_t r = 0; r < count; ++r)
    for (int64_t j = 0; j < vectors; ++j) {
      Value kept = inside ? b.add(first, j * kLanes - r) : b.min(columnOf(rows[r], j * kLanes), b.index(columns - kLanes));
      result.push_back(inside ? kept : b.max(kept, b.index(0)));
    }
  return result;
}

/// Emits query . (key + relative_key[distance]) + key . relative_query[distance]; the term of a missing table is
/// omitted. If the tile has one head, its rows are consecutive queries. Then, if no distance is beyond the tables, one
/// column plus constants gives the columns of all rows; the code decides this at run time.
AttentionScores::Values AttentionScores::emitRelativeProducts(Value key, int64_t vectors, Value panel, Value lane) {
  int64_t count = rows.size();
  if (count == 1 || cast<MemRefType>(op.getQuery().getType()).getDimSize(1) != 1)
    return emitRelativeProducts(key, vectors, panel, lane, /*inside=*/false);
  Value isInside;
  for (Value table : {op.getRelativeKey(), op.getRelativeQuery()}) {
    if (!table)
      continue;
    int64_t columns = cast<MemRefType>(table.getType()).getDimSize(2), reach = vectors * kLanes;
    Value first = b.add(b.sub(key, rows.front().position), columns / 2);
    Value fits =
        b.both(b.compare(arith::CmpIPredicate::sge, first, count - 1), b.compare(arith::CmpIPredicate::sle, first, columns - reach));
    isInside = isInside ? b.both(isInside, fits) : fits;
  }
  return b.choose(
      isInside, [&] { return emitRelativeProducts(key, vectors, panel, lane, /*inside=*/true); },
      [&] { return emitRelativeProducts(key, vectors, panel, lane, /*inside=*/false); });
}

AttentionScores::Values AttentionScores::emitRelativeProducts(Value key, int64_t vectors, Value panel, Value lane, bool inside) {
  int64_t count = rows.size();
  Value keyTable = op.getRelativeKey(), queryTable = op.getRelativeQuery();
  Values keyColumns = keyTable ? emitColumns(keyTable, key, vectors, inside) : Values();
  Values queryColumns = queryTable && queryTable != keyTable ? emitColumns(queryTable, key, vectors, inside) : keyColumns;
  Values initial(count * vectors, b.splat(0.0)), scales = loadKeyScales(vectors, panel, lane);
  return b.loop(b.index(0), b.size(op.getQuery(), 2), 1, initial, [&](Value d, ValueRange carried) {
    Values sums;
    for (int64_t r = 0; r < count; ++r) {
      Value query = b.splat(b.loadScalar(op.getQuery(), {rows[r].query, rows[r].head, d}));
      for (int64_t j = 0; j < vectors; ++j) {
        auto load = [&](Value table, ArrayRef<Value> columns) {
          return b.load(table, {broadcastRow(b, table, 0, rows[r].head), d, columns[r * vectors + j]});
        };
        Value keys = widen(b, b.load(op.getKey(), {panel, d, b.add(lane, j * kLanes)}));
        if (!scales.empty())
          keys = b.mulf(keys, scales[j]);
        Value relative = keyTable ? load(keyTable, keyColumns) : Value();
        Value sum = b.fma(query, relative ? b.addf(keys, relative) : keys, carried[r * vectors + j]);
        if (queryTable)
          sum = b.fma(keys, queryTable == keyTable ? relative : load(queryTable, queryColumns), sum);
        sums.push_back(sum);
      }
    }
    return sums;
  });
}

/// Returns the scores of |row| for 16 keys from |key| on, times log2(e), from |product|, the dot products. |sharedMask|
/// is the result of loadMask if all rows have the same mask; if it is null, loads the mask of |row|, if there is one.
/// Ignores which keys positions hide: the caller hides those.
Value AttentionScores::emitScore(const Row &row, Value product, Value key, Lanes lanes, Value sharedMask) {
  double scale = op.getScale().convertToDouble();
  storeStage(row, ScoreStage::Product, product, key, lanes);
  // The factor from |product| to scores times log2(e). One FMA multiplies by it and adds the mask and the distance
  // bias.
  double unit = scale * kLog2E;
  if (op.getSoftcap()) {
    double cap = op.getSoftcap()->convertToDouble();
    product = emitTanh(b, b.getLoc(), b.mulf(product, b.splat(scale / cap)));
    unit = cap * kLog2E;
  }
  storeStage(row, ScoreStage::Capped, product, key, lanes);
  Value added;
  if (Value table = op.getDistanceBias()) {
    Value origin = b.div(b.size(table, 1), 2); // the column of distance 0, the middle one of an odd number
    Value at = b.add(b.sub(key, row.position), origin);
    added = b.mulf(b.load(table, {broadcastRow(b, table, 0, row.head), at}, lanes), b.splat(kLog2E));
  }
  Value mask = sharedMask ? sharedMask : op.getMask() ? loadMask(row, key, lanes) : Value();
  if (mask && !op.getMaskFill())
    added = added ? b.maxf(b.splat(kLowest), b.addf(mask, added)) : mask;
  Value score = added ? b.fma(product, b.splat(unit), added) : b.mulf(product, b.splat(unit));
  if (op.getMaskFill())
    score =
        b.select(b.compare(arith::CmpFPredicate::OLT, mask, b.splat(0.0)), b.splat(op.getMaskFill()->convertToDouble() * kLog2E), score);
  storeStage(row, ScoreStage::Masked, score, key, lanes);
  return score;
}

/// Returns the mask of |row| for 16 keys from |key| on: times log2(e) and at least the lowest float if it is added to
/// scores; unchanged with `mask_fill`.
Value AttentionScores::loadMask(const Row &row, Value key, Lanes lanes) {
  Value values = b.load(op.getMask(), maskIndices(b, op, row, key), lanes);
  return op.getMaskFill() ? values : b.maxf(b.splat(kLowest), b.mulf(values, b.splat(kLog2E)));
}

bool AttentionScores::hasMaskPerRow() {
  auto type = cast<MemRefType>(op.getMask().getType());
  return llvm::any_of(type.getShape().drop_back(), [](int64_t size) { return size != 1; });
}

/// Stores |value| times captureFactor(|stage|) if the operation returns scores of that stage.
void AttentionScores::storeStage(const Row &row, ScoreStage stage, Value value, Value key, Lanes lanes) {
  Value target = op.getProbabilities();
  if (!target || op.getScoreStage() != stage)
    return;
  Value stored = b.mulf(value, b.splat(captureFactor(op, stage)));
  if (stage == ScoreStage::Masked) {
    // |value| is a score times log2(e), so the score of a hidden key, the lowest float, would become another number
    // when the factor divides it by log2(e). It is stored as the lowest float instead.
    stored = b.select(b.compare(arith::CmpFPredicate::OLE, value, b.splat(kHiddenTimesLog2E)), b.splat(kLowest), stored);
    if (!lanes.areAll())
      stored = hide(row, stored, key, b.splat(kLowest));
  }
  b.store(stored, target, {row.head, row.query, key}, lanes);
}

/// Returns |score|, the scores of 16 keys from |key| on, with |hidden| in the lanes of keys that |row|'s position
/// hides.
Value AttentionScores::hide(const Row &row, Value score, Value key, Value hidden) {
  if (!op.hidesByPosition())
    return score;
  score = b.keep(score, Lanes::first(b.sub(row.end, key)), hidden);
  if (op.getWindowLeft())
    score = b.keep(hidden, Lanes::first(b.sub(row.first, key)), score);
  return score;
}
