//===- AttentionTileEmitter.cpp - Blocks of keys and groups of rows -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionTileEmitter.h"
#include "compiler/Target/CPU/AttentionScores.h"
#include "compiler/Target/CPU/AttentionValues.h"
#include "compiler/Transforms/ExpandMathFunctions.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

AttentionTileEmitter::AttentionTileEmitter(tiles::AttentionTileOp op, AttentionTileSizes sizes)
    : op(op), b(op.getLoc(), op), sizes(sizes), keyBlock(op.getKeyBlock()), state(op.getState()), result(op.getDestinations()[0]) {}

AttentionTileEmitter::Values AttentionTileEmitter::scaled(ValueRange values, ValueRange by) {
  Values result;
  for (auto [value, factor] : llvm::zip_equal(values, by))
    result.push_back(b.mulf(value, factor));
  return result;
}

void AttentionTileEmitter::run() {
  keys = b.size(op.getValue(), 0);
  heads = b.size(op.getQuery(), 1);
  Value count = b.mul(b.size(op.getQuery(), 0), heads);
  // The first row sees the earliest keys of all rows, the last row the latest. Without any key, one empty block still
  // runs, which writes zeros.
  Value begin = b.index(0), end = b.max(keys, b.index(1));
  if (op.hidesByPosition()) {
    Value last = b.max(b.add(count, -1), b.index(0));
    begin = b.mul(b.div(groupAt(b.index(0), 1).first, keyBlock), keyBlock);
    end = b.max(groupAt(last, 1).end, b.index(1));
  }
  b.loop(begin, end, keyBlock, [&](Value begin) {
    b.loop(b.index(0), count, sizes.rows, [&](Value first) {
      Value left = b.min(b.sub(count, first), b.index(sizes.rows));
      b.forRows(left, sizes.rows, [&](Value base, int64_t count) { emitGroup(begin, b.add(first, base), count); });
    });
  });
  if (needsMaskedRows(op))
    emitMaskedRows();
}

AttentionTileEmitter::Row AttentionTileEmitter::rowAt(Value number) {
  bool oneHead = getConstantIntValue(OpFoldResult(heads)) == 1;
  Value query = oneHead ? number : b.div(number, heads);
  Value head = oneHead ? b.index(0) : b.rem(number, heads);
  return {makeAttentionRow(b, op, query, head, keys), number};
}

/// Returns the group of |count| rows from |first| on.
AttentionGroup AttentionTileEmitter::groupAt(Value first, int64_t count) {
  AttentionGroup group;
  for (int64_t r = 0; r < count; ++r)
    group.rows.push_back(rowAt(b.add(first, r)));
  group.first = b.index(0);
  group.end = keys;
  if (!op.hidesByPosition() || visitsAllKeys(op))
    return group;
  group.end = group.rows.back().end;
  // The range touches at least one block, even if no key is visible.
  group.first = b.max(b.min(group.rows.front().first, b.add(group.end, -1)), b.index(0));
  return group;
}

/// Emits the block of keys from |begin| on for the |count| rows from |first| on, with a condition that skips it if
/// positions hide all of its keys from these rows. Rows without a visible key have one block, which writes their
/// results.
void AttentionTileEmitter::emitGroup(Value begin, Value first, int64_t count) {
  AttentionGroup group = groupAt(first, count);
  AttentionBlock block;
  Value end = b.add(begin, keyBlock), most = b.max(group.end, b.index(1));
  block.begin = begin;
  block.size = b.max(b.min(b.sub(group.end, begin), b.index(keyBlock)), b.index(0));
  block.isLast = b.compare(arith::CmpIPredicate::sge, end, most);
  if (!op.hidesByPosition()) {
    block.isFirst = b.compare(arith::CmpIPredicate::eq, begin, 0);
    return emitBlock(group, block);
  }
  block.isFirst = b.compare(arith::CmpIPredicate::sle, begin, group.first);
  Value begins = b.compare(arith::CmpIPredicate::slt, begin, most), ends = b.compare(arith::CmpIPredicate::sgt, end, group.first);
  b.ifThen(b.both(begins, ends), [&] { emitBlock(group, block); });
}

/// Returns the state after the blocks before |block|: the maximum of each row, then a vector of sums for each row.
/// Before the first block, these are the lowest f32 and zeros.
AttentionTileEmitter::Values AttentionTileEmitter::restore(const AttentionGroup &group, const AttentionBlock &block) {
  Values none(group.rows.size(), b.f32(kLowest));
  none.append(group.rows.size(), b.splat(0.0));
  return b.choose(
      block.isFirst, [&] { return none; },
      [&] {
        Values former;
        for (const Row &row : group.rows)
          former.push_back(b.loadScalar(state, {row.number, b.index(kMaximum)}));
        for (const Row &row : group.rows)
          former.push_back(b.load(state, {row.number, b.index(0)}));
        return former;
      });
}

void AttentionTileEmitter::save(const AttentionGroup &group, const AttentionBlock &block, ValueRange maxima, ValueRange sums) {
  auto saveMaxima = [&] {
    for (auto [row, maximum, sum] : llvm::zip_equal(group.rows, maxima, sums)) {
      Value saved = maximum;
      if (needsMaskedRows(op)) {
        // A maximum can lose a NaN (VectorBuilder::maxf), and a sum cannot. A row with a score of NaN must not be taken
        // for a row without a visible key.
        Value total = b.sumLanes(sum);
        saved = b.select(b.compare(arith::CmpFPredicate::UNO, total, total), total, maximum);
      }
      memref::StoreOp::create(b, saved, state, ValueRange{row.number, b.index(kMaximum)});
    }
  };
  if (needsMaskedRows(op))
    saveMaxima();
  Value goesOn = b.compare(arith::CmpIPredicate::slt, b.add(block.begin, keyBlock), b.max(group.end, b.index(1)));
  b.ifThen(goesOn, [&] {
    if (!needsMaskedRows(op))
      saveMaxima();
    for (auto [row, sum] : llvm::zip_equal(group.rows, sums))
      b.store(sum, state, {row.number, b.index(0)});
  });
}

void AttentionTileEmitter::emitBlock(const AttentionGroup &group, const AttentionBlock &block) {
  size_t count = group.rows.size();
  AttentionScores scores(op, b, group, sizes.scoreVectors);
  AttentionValues values(op, b, group, sizes.softmaxRows, sizes.valueVectors);
  Values former = restore(group, block);
  Values largest = scores.emit(block), maxima, base;
  for (size_t r = 0; r < count; ++r) {
    maxima.push_back(b.maxf(former[r], b.maxLanes(largest[r])));
    base.push_back(b.splat(maxima[r]));
  }
  Values decay = b.choose(
      block.isFirst, [&] { return Values(count, b.splat(1.0)); },
      [&] {
        Values factors;
        for (size_t r = 0; r < count; ++r)
          factors.push_back(emitExp2NonPositive(b, b.getLoc(), b.subf(b.splat(former[r]), base[r])));
        return factors;
      });
  Values sums = values.emitExponentials(block, base, scaled(ValueRange(former).drop_front(count), decay));
  save(group, block, maxima, sums);
  Values factor = b.choose(block.isLast, [&] { return values.emitFactors(maxima, sums); }, [&] { return Values(count, b.splat(1.0)); });
  if (op.getProbabilities() && op.getScoreStage() == xfmr::ScoreStage::Softmax)
    values.emitProbabilities(block, scaled(decay, factor), factor);
  values.emitValues(block, decay, factor);
}

//===----------------------------------------------------------------------===//
// Fully masked rows
//
// All keys of such a row are hidden, by the mask or by positions (causal masks, windows). The code above gives such a
// row the mean of the values of the keys that only the mask hides, since these have the largest scores. If positions
// hide keys as well, the rules `uniform`, `least_masked` and `least_masked_past` of `masked_rows` require the mean over
// other keys, so the code of this section computes such rows again. In all known models such rows are padding, so this
// code is short rather than fast.
//===----------------------------------------------------------------------===//

void AttentionTileEmitter::emitMaskedRows() {
  Value count = b.mul(b.size(op.getQuery(), 0), heads);
  b.loop(b.index(0), count, 1, [&](Value number) {
    Value maximum = b.loadScalar(state, {number, b.index(kMaximum)});
    Value seesNone = b.compare(arith::CmpFPredicate::OLE, maximum, b.f32(kHiddenTimesLog2E));
    Value some = b.compare(arith::CmpIPredicate::sgt, keys, 0);
    b.ifThen(b.both(seesNone, some), [&] { emitMaskedRow(rowAt(number)); });
  });
}

Value AttentionTileEmitter::isHiddenByPosition(const Row &row, Value key) {
  Value behind = b.compare(arith::CmpIPredicate::sge, key, row.end), before = b.compare(arith::CmpIPredicate::slt, key, row.first);
  return b.either(behind, before);
}

Value AttentionTileEmitter::isHiddenByMask(const Row &row, Value key) {
  Value mask = op.getMask();
  if (!mask || op.getMaskFill())
    return b.no();
  return b.compare(arith::CmpFPredicate::OLE, b.loadScalar(mask, maskIndices(b, op, row, key)), b.f32(kHidden));
}

/// Writes the mean of the values of the keys that the rule `masked_rows` names, or of all keys if the rule names none,
/// times the head scale if there is one. Also writes the probabilities if the operation returns them.
void AttentionTileEmitter::emitMaskedRow(const Row &row) {
  Value one = b.f32(1.0), zero = b.f32(0.0);
  bool isUniform = op.getMaskedRows() == xfmr::MaskedRows::Uniform;
  auto probabilityOf = [&](Value key) -> Value {
    if (isUniform)
      return one;
    Value named = arith::XOrIOp::create(b, isHiddenByMask(row, key), isHiddenByPosition(row, key));
    if (op.getMaskedRows() == xfmr::MaskedRows::LeastMaskedPast)
      named = b.both(named, b.compare(arith::CmpIPredicate::slt, key, row.end));
    return b.select(named, one, zero);
  };
  Value count = b.loop(b.index(0), keys, 1, {zero},
                       [&](Value key, ValueRange carried) -> Values { return {b.addf(carried[0], probabilityOf(key))}; })[0];
  Value none = b.compare(arith::CmpFPredicate::OEQ, count, zero);
  Value all = arith::SIToFPOp::create(b, b.getF32Type(), b.toI64(keys));
  Value factor = b.divf(one, b.select(none, all, count));
  if (op.getHeadScale())
    factor = b.mulf(factor, b.loadScalar(op.getHeadScale(), row.head));
  auto finalProbability = [&](Value key) -> Value { return b.select(none, one, probabilityOf(key)); };

  int64_t columns = op.getValueDim();
  VectorBuilder::forChunks(columns, [&](int64_t column, Lanes lanes) {
    Value sum = b.loop(b.index(0), keys, 1, {b.splat(0.0)}, [&](Value key, ValueRange carried) -> Values {
      return {b.fma(b.splat(finalProbability(key)), loadValue(b, op, key, b.index(column), lanes), carried[0])};
    })[0];
    b.store(b.mulf(sum, b.splat(factor)), result, {row.query, row.head, b.index(column)}, lanes);
  });
  Value probabilities = op.getProbabilities();
  if (!probabilities || op.getScoreStage() != xfmr::ScoreStage::Softmax)
    return;
  b.loop(b.index(0), keys, 1, [&](Value key) {
    memref::StoreOp::create(b, b.mulf(finalProbability(key), factor), probabilities, ValueRange{row.head, row.query, key});
  });
}
