//===- AttentionTileEmitter.cpp - Blocks of keys and groups of rows -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionTileEmitter.h"
#include "compiler/Transforms/ExpandMathFunctions.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

AttentionTileEmitter::AttentionTileEmitter(tiles::AttentionTileOp op, AttentionTileSizes sizes)
    : op(op), e(op.getLoc(), op), sizes(sizes), keyBlock(op.getKeyBlock()), strip(op.getScratch()), state(op.getState()),
      result(op.getDestinations()[0]) {}

AttentionTileEmitter::Values AttentionTileEmitter::scaled(ValueRange values, ValueRange by) {
  Values result;
  for (auto [value, factor] : llvm::zip_equal(values, by))
    result.push_back(e.mulf(value, factor));
  return result;
}

void AttentionTileEmitter::run() {
  keys = e.size(op.getValue(), 0);
  heads = e.size(op.getQuery(), 1);
  Value count = e.mul(e.size(op.getQuery(), 0), heads);
  // What the first row does not see from behind and the last not from the front, no row sees. No key at all still is one empty block: it
  // writes the zeros.
  Value begin = e.index(0), end = e.max(keys, e.index(1));
  if (op.hidesByPosition()) {
    Value last = e.max(e.add(count, -1), e.index(0));
    setGroup(e.index(0), 1);
    begin = e.mul(e.div(groupFirst, keyBlock), keyBlock);
    setGroup(last, 1);
    end = e.max(groupEnd, e.index(1));
  }
  e.loop(begin, end, keyBlock, [&](Value begin) {
    e.loop(e.index(0), count, sizes.rows, [&](Value first) {
      Value left = e.min(e.sub(count, first), e.index(sizes.rows));
      e.forRows(left, sizes.rows, [&](Value base, int64_t count) { emitGroup(begin, e.add(first, base), count); });
    });
  });
  if (needsMaskedRows(op))
    emitMaskedRows();
}

AttentionTileEmitter::Row AttentionTileEmitter::rowAt(Value number) {
  bool oneHead = getConstantIntValue(OpFoldResult(heads)) == 1;
  Value query = oneHead ? number : e.div(number, heads);
  Value head = oneHead ? e.index(0) : e.rem(number, heads);
  return {makeAttentionRow(e, op, query, head, keys), number};
}

/// Makes the |count| rows from |first| on the group.
void AttentionTileEmitter::setGroup(Value first, int64_t count) {
  rows.clear();
  for (int64_t r = 0; r < count; ++r)
    rows.push_back(rowAt(e.add(first, r)));
  groupFirst = e.index(0);
  groupEnd = keys;
  if (!op.hidesByPosition() || visitsAllKeys(op))
    return;
  groupEnd = rows.back().end;
  // At least one block, also where no key is seen.
  groupFirst = e.max(e.min(rows.front().first, e.add(groupEnd, -1)), e.index(0));
}

/// The block of keys from |begin| on for |count| rows from |first| on.
void AttentionTileEmitter::emitGroup(Value begin, Value first, int64_t count) {
  setGroup(first, count);
  Block block;
  Value end = e.add(begin, keyBlock), most = e.max(groupEnd, e.index(1));
  block.begin = begin;
  block.size = e.max(e.min(e.sub(groupEnd, begin), e.index(keyBlock)), e.index(0));
  block.isLast = e.compare(arith::CmpIPredicate::sge, end, most);
  if (!op.hidesByPosition()) {
    block.isFirst = e.compare(arith::CmpIPredicate::eq, begin, 0);
    return emitBlock(block);
  }
  block.isFirst = e.compare(arith::CmpIPredicate::sle, begin, groupFirst);
  Value begins = e.compare(arith::CmpIPredicate::slt, begin, most), ends = e.compare(arith::CmpIPredicate::sgt, end, groupFirst);
  e.ifThen(e.both(begins, ends), [&] { emitBlock(block); });
}

/// Maxima, then sums, after the blocks before |block|.
AttentionTileEmitter::Values AttentionTileEmitter::restore(const Block &block) {
  Values none(rows.size(), e.f32(kLowest));
  none.append(rows.size(), e.splat(0.0));
  return e.choose(
      block.isFirst, [&] { return none; },
      [&] {
        Values former;
        for (const Row &row : rows)
          former.push_back(e.loadScalar(state, {row.number, e.index(kMaximum)}));
        for (const Row &row : rows)
          former.push_back(e.load(state, {row.number, e.index(0)}));
        return former;
      });
}

void AttentionTileEmitter::save(const Block &block, ValueRange maxima, ValueRange sums) {
  auto saveMaxima = [&] {
    for (auto [row, maximum] : llvm::zip_equal(rows, maxima))
      memref::StoreOp::create(e, maximum, state, ValueRange{row.number, e.index(kMaximum)});
  };
  if (needsMaskedRows(op))
    saveMaxima();
  Value goesOn = e.compare(arith::CmpIPredicate::slt, e.add(block.begin, keyBlock), e.max(groupEnd, e.index(1)));
  e.ifThen(goesOn, [&] {
    if (!needsMaskedRows(op))
      saveMaxima();
    for (auto [row, sum] : llvm::zip_equal(rows, sums))
      e.store(sum, state, {row.number, e.index(0)});
  });
}

void AttentionTileEmitter::emitBlock(const Block &block) {
  size_t count = rows.size();
  Values former = restore(block);
  Values largest = emitScores(block), maxima, base;
  for (size_t r = 0; r < count; ++r) {
    maxima.push_back(e.maxf(former[r], e.maxLanes(largest[r])));
    base.push_back(e.splat(maxima[r]));
  }
  Values decay = e.choose(
      block.isFirst, [&] { return Values(count, e.splat(1.0)); },
      [&] {
        Values factors;
        for (size_t r = 0; r < count; ++r)
          factors.push_back(emitExp2NonPositive(e, e.getLoc(), e.subf(e.splat(former[r]), base[r])));
        return factors;
      });
  Values sums = emitWeights(block, base, scaled(ValueRange(former).drop_front(count), decay));
  save(block, maxima, sums);
  Values factor = e.choose(block.isLast, [&] { return emitFactors(maxima, sums); }, [&] { return Values(count, e.splat(1.0)); });
  if (op.getProbabilities() && op.getScoreStage() == xfmr::ScoreStage::Softmax)
    emitProbabilities(block, scaled(decay, factor), factor);
  emitValues(block, decay, factor);
}
