//===- WarpAttention.cpp - Attention, a warp per row -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attention for every shape and option. A warp computes a row (a query and a head) in steps of 64 keys, with running
// maximum, sum and result. Lane l computes the scores of keys l and l + 32 of a step, and columns l, l + 32, … of the result:
//
//   score[i]  = query . key[i]                                     panels have keys side by side, so lanes read neighbors
//   p[i]      = 2^(score[i] - maximum)                             maximum over lanes by shuffles
//   result[e] = result[e] decay + sum_i p[i] value[i, e]           probabilities are broadcast by shuffles
//   decay     = 2^(maximum before the step - maximum)
//
// Steps begin at multiples of 64, and a lane adds its two probabilities of a step to its own sum, first that of key l,
// then that of key l + 32; ThreadAttention does the same.
//
// No shared memory and no barrier: warps do not wait for each other, which suits decoding with its few rows and many
// keys.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/WarpAttention.h"
#include "compiler/Target/NVVM/CacheLoads.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

WarpAttention::WarpAttention(tiles::AttentionTileOp op, ThreadBuilder &e)
    : op(op), e(e), rows(op, e), columns(op.getValueDim()), perLane(llvm::divideCeil(columns, kWarp)),
      target(op.getScoreStage() == xfmr::ScoreStage::Softmax ? op.getProbabilities() : Value()) {}

void WarpAttention::run(const ThreadLoops &loops) {
  Value count = e.mul(e.size(op.getQuery(), 0), rows.heads);
  loops.forEachWarp(e, count, [&](Value number, Value laneNumber) {
    lane = laneNumber;
    row = rows.rowAt(number);
    emitRow();
  });
}

Values WarpAttention::addValues(Value begin, Value end, Value weight, Values sums) {
  Value value = op.getValue(), last = e.sub(end, e.index(1));
  if (hasScales(value))
    weight = e.mulf(weight, loadValueScale(e, value, e.min(e.add(begin, lane), last)));
  // More loads at once would not fit into registers.
  int64_t together = std::max<int64_t>(1, kWarp / llvm::PowerOf2Ceil(llvm::divideCeil(perLane, 2)));
  return e.loop(e.index(0), e.index(kWarp), e.index(together), sums, [&](Value first, ValueRange carried) {
    Values sums(carried);
    for (int64_t j = 0; j < together; ++j) {
      // Keys past the last one have the probability 0; the value of the last key is read instead.
      Value number = e.add(first, j), key = e.min(e.add(begin, number), last), w = e.broadcastLane(weight, number);
      if (skipsKeys()) // Values before the window are not read.
        key = e.max(key, e.min(row.first, last));
      for (int64_t part = 0; part < perLane; ++part)
        sums[part] = e.fma(w, e.loadWide(value, {key, column(part)}), sums[part]);
    }
    return sums;
  });
}

/// Emits the step of the 64 keys from |begin| on, without those from |end| on. |carried| and the result are the
/// maximum, the lane's part of the sum, and the lane's columns of the result.
Values WarpAttention::step(Value begin, Value end, ValueRange carried) {
  Value scores[2], middle = e.add(begin, kWarp);
  for (int64_t half = 0; half < 2; ++half) {
    Value key = e.add(e.add(begin, half * kWarp), lane), exists = e.compare(arith::CmpIPredicate::slt, key, end);
    if (skipsKeys())
      exists = e.both(exists, e.compare(arith::CmpIPredicate::sge, key, row.first));
    scores[half] = e.choose(
        exists,
        [&] {
          Value score = rows.score(row, key, rows.product(row, key));
          if (target)
            e.store(score, target, {row.head, row.query, key});
          return Values{score};
        },
        [&] { return Values{e.f32(-std::numeric_limits<double>::infinity())}; })[0];
  }
  Value largest = e.reduceLanes(e.maxf(scores[0], scores[1]), [&](Value a, Value b) { return e.maxf(a, b); });
  Value maximum = e.maxf(carried[0], largest), decay = e.exp2(e.subf(carried[0], maximum));
  Value near = e.exp2(e.subf(scores[0], maximum)), far = e.exp2(e.subf(scores[1], maximum));
  Values sums;
  for (Value sum : carried.drop_front(2))
    sums.push_back(e.mulf(sum, decay));
  sums = addValues(begin, end, near, sums);
  sums =
      e.choose(e.compare(arith::CmpIPredicate::slt, middle, end), [&] { return addValues(middle, end, far, sums); }, [&] { return sums; });
  Values next{maximum, e.addf(e.fma(carried[1], decay, near), far)};
  next.append(sums);
  return next;
}

void WarpAttention::storeResult(ValueRange sums, Value factor) {
  for (int64_t part = 0; part < perLane; ++part) {
    Value at = e.add(lane, part * kWarp);
    e.ifThen(e.compare(arith::CmpIPredicate::slt, at, columns),
             [&] { e.store(e.mulf(sums[part], factor), op.getDestinations()[0], {row.query, row.head, at}); });
  }
}

void WarpAttention::forLaneKeys(Value begin, Value end, llvm::function_ref<void(Value)> body) {
  e.loop(e.add(begin, lane), end, kWarp, [&](Value key) { body(key); });
}

void WarpAttention::emitRow() {
  std::pair<Value, Value> visited = rows.keysOf(row);
  Value begin = e.mul(e.div(visited.first, kAttentionKeys), kAttentionKeys), end = visited.second;
  Values initial(2 + perLane, e.f32(0.0));
  initial[0] = e.f32(kLowest);
  Values carried =
      e.loop(begin, end, e.index(kAttentionKeys), initial, [&](Value key, ValueRange carried) { return step(key, end, carried); });
  Value maximum = carried[0], sum = e.reduceLanes(carried[1], [&](Value a, Value b) { return e.addf(a, b); });
  Value factor = rows.factor(row, maximum, sum);
  storeResult(ValueRange(carried).drop_front(2), factor);
  if (target)
    // A lane reads only scores that it has stored itself, since this loop begins at the first key of the steps.
    forLaneKeys(begin, end, [&](Value key) {
      Value at[] = {row.head, row.query, key};
      e.ifThen(e.compare(arith::CmpIPredicate::sge, key, visited.first),
               [&] { e.store(e.mulf(e.exp2(e.subf(e.load(target, at), maximum)), factor), target, at); });
    });
  if (!needsMaskedRows(op))
    return;
  // emitMaskedRow may overwrite results and probabilities that other lanes have stored.
  NVVM::SyncWarpOp::create(e, arith::ConstantIntOp::create(e, -1, 32));
  Value some = e.compare(arith::CmpIPredicate::sgt, rows.keys, 0);
  e.ifThen(e.both(rows.seesNone(maximum, sum), some), [&] { emitMaskedRow(row, lane); });
}

void WarpAttention::emitMaskedRow(const RowAttention::Row &which, Value laneNumber) {
  row = which;
  lane = laneNumber;
  Value zero = e.f32(0.0), one = e.f32(1.0), none = e.index(0);
  Value part = e.loop(lane, rows.keys, e.index(kWarp), zero,
                      [&](Value key, ValueRange carried) -> Values { return {e.addf(carried[0], rows.maskedWeight(row, key))}; })[0];
  Value named = e.reduceLanes(part, [&](Value a, Value b) { return e.addf(a, b); });
  Value all = arith::SIToFPOp::create(e, e.getF32Type(), e.toI64(rows.keys));
  Value isEmpty = e.compare(arith::CmpFPredicate::OEQ, named, zero);
  Value factor = e.divf(one, e.select(isEmpty, all, named));
  if (op.getHeadScale())
    factor = e.mulf(factor, e.load(op.getHeadScale(), row.head));
  auto weightOf = [&](Value key) { return e.select(isEmpty, one, rows.maskedWeight(row, key)); };
  Values sums = e.loop(none, rows.keys, e.index(1), Values(perLane, zero), [&](Value key, ValueRange carried) -> Values {
    Value weight = weightOf(key);
    if (hasScales(op.getValue()))
      weight = e.mulf(weight, loadValueScale(e, op.getValue(), key));
    Values next;
    for (int64_t part = 0; part < perLane; ++part)
      next.push_back(e.fma(weight, e.loadWide(op.getValue(), {key, column(part)}), carried[part]));
    return next;
  });
  storeResult(sums, factor);
  if (target)
    forLaneKeys(none, rows.keys, [&](Value key) { e.store(e.mulf(weightOf(key), factor), target, {row.head, row.query, key}); });
}

void WarpAttention::emitMaskedRows(Value first, Value laneNumber, llvm::function_ref<std::pair<Value, Value>(Value)> stateOf) {
  Value count = e.mul(e.size(op.getQuery(), 0), rows.heads), hasKeys = e.compare(arith::CmpIPredicate::sgt, rows.keys, 0);
  e.loop(e.index(0), e.index(16), 1, [&](Value local) {
    auto [maximum, sum] = stateOf(local);
    Value number = e.add(first, local), exists = e.both(hasKeys, e.compare(arith::CmpIPredicate::slt, number, count));
    e.ifThen(e.both(rows.seesNone(maximum, sum), exists), [&] { emitMaskedRow(rows.rowAt(number), laneNumber); });
  });
}

void attune::emitAttentionRows(tiles::AttentionTileOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  WarpAttention(op, e).run(loops);
}
