//===- WarpgroupConsumer.cpp - A tile of queries by a warpgroup -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The software pipeline of one consumer. The softmax of a stage needs the stage's scores, and the product with the
// values needs the softmax; one after the other, the tensor cores would wait for every exponential. So the products for
// the scores of the next stage and the product with the values of this stage are started together, and the softmax of
// the next stage runs while the product with the values is in flight.
//
//   S = Q K^T of the first stage; P = softmax probabilities of S; then for each stage that follows
//     start S' = Q K'^T and O += P V      K' of this stage, V of the one before
//     wait for S'                         release K'
//     p' = probabilities of S'            O += P V is in flight
//     wait for O                          release V
//     P' = p' rounded; O = O 2^(m - m')   m, m': the row's maximum before and now
//   O += P V of the last stage
//
//   tensor cores   | S' ||    O += P V    || S'' ||    O += P' V'   |
//   this warpgroup        | softmax of S' |  round  | softmax of S'' |
//
// Queries are in shared memory, probabilities in registers. The product O += P V reads the registers of P until the
// wait for O, so P' is rounded only after that wait. After the first stage, stages whose keys are all visible to every
// row run in a loop of their own, without mask tests.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/WarpgroupConsumer.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

Values WarpgroupConsumer::join(const Carried &carried) {
  Values values(carried.state);
  values.append(carried.results), values.append(carried.weights);
  values.push_back(tma.pack(carried.place));
  return values;
}

WarpgroupConsumer::Carried WarpgroupConsumer::split(ValueRange all) {
  size_t results = own.valueDim / 2;
  ValueRange rest = all.drop_front(4).drop_back();
  return {Values(all.take_front(4)), Values(rest.take_front(results)), Values(rest.drop_front(results)), tma.unpack(all.back())};
}

/// Writes the queries, which are operands in registers, to swizzled rows of shared memory.
void WarpgroupConsumer::keepQueries() {
  Value lane = e.rem(inGroup, kWarp), local = e.div(lane, 4), row = e.add(e.mul(e.div(inGroup, kWarp), 16), local);
  for (auto [i, word] : llvm::enumerate(own.queries)) {
    int64_t part = static_cast<int64_t>(i % 4), d = static_cast<int64_t>(i / 4) * kProductDepth + part / 2 * kChunk;
    Value chunk = arith::XOrIOp::create(e, e.index(d % kRowComponents / kChunk), local);
    Value at = e.add(e.mul(e.add(row, part % 2 * 8), kRowBytes), d / kRowComponents * kConsumerRows * kRowBytes);
    at = e.add(at, e.add(e.mul(chunk, kChunkBytes), e.mul(e.rem(lane, 4), 4)));
    e.store(word, stages.words, e.div(e.add(queriesAt, at), 4));
  }
  tma.fenceAsyncProxy();
}

/// Waits for the keys at |place| and starts the products with the queries; returns the scores, valid after a wait.
Values WarpgroupConsumer::startScores(PipelineState place) {
  SharedMatrix keys = stages.waitForKeys(products, place);
  SharedMatrix rows = products.matrix(e.advance(e.sharedAddress(stages.words), queriesAt), {/*isTransposed=*/false, /*isSwizzled=*/true});
  Values scores;
  products.fence();
  for (int64_t d = 0; d < own.headDim; d += kProductDepth) {
    SharedMatrix a = rows.advance(d / kRowComponents * kConsumerRows * kRowBytes + d % kRowComponents * 2);
    SharedMatrix b = keys.advance(stages.bytesToComponent(d));
    scores = d == 0 ? products.multiply(stages.schedule.keys, a, b, stages.areKeysTransposed())
                    : products.add(scores, a, b, stages.areKeysTransposed());
  }
  products.commit();
  return scores;
}

/// Waits for the values at |place| and starts their products with the probabilities |weights|, which are added to
/// |results|.
Values WarpgroupConsumer::startResults(ValueRange results, ValueRange weights, PipelineState place) {
  SharedMatrix values = stages.waitForValues(products, place);
  Values sums = products.fence(results, weights);
  for (int64_t key = 0; key < stages.schedule.keys; key += kProductDepth)
    sums = products.add(sums, weights.slice(key / 4, 4), values.advance(KeyPipeline::bytesToKey(key)), true);
  products.commit();
  return sums;
}

/// Rounds the probabilities |weights| and packs them into operands.
Values WarpgroupConsumer::pack(ArrayRef<Value> weights) {
  Values words;
  for (int64_t key = 0; key < stages.schedule.keys; key += kProductDepth)
    words.append(own.operand(weights, key));
  return words;
}

/// Emits the loop over the stages of the keys [begin, end). |carried| and the result are a joined Carried. If
/// |areSeen|, all these keys are visible to every row.
Values WarpgroupConsumer::overStages(Value begin, Value end, ValueRange carried, bool areSeen) {
  return e.loop(begin, end, e.index(stages.schedule.keys), carried, [&](Value key, ValueRange all) -> Values {
    Carried at = split(all);
    PipelineState place = at.place;
    at.place = stages.next(place);
    Values scores = startScores(at.place);
    at.results = startResults(at.results, at.weights, place);
    scores = products.wait(1, scores);
    release([&] { stages.releaseKeys(at.place); });
    std::pair<Value, Value> factors = own.weigh(key, areSeen, scores, at.state);
    // The product in flight reads the rounded probabilities of the stage before. The new probabilities are results of
    // the wait, too, so that they are rounded after the wait.
    Values waiting(at.results);
    llvm::append_range(waiting, scores);
    waiting = products.wait(0, waiting, at.weights);
    release([&] { stages.releaseValues(place); });
    at.weights = pack(ArrayRef(waiting).drop_front(at.results.size()));
    waiting.truncate(at.results.size());
    at.results = waiting;
    own.rescale(at.results, factors);
    return join(at);
  });
}

PipelineState WarpgroupConsumer::run(Value group, Value stores, Value begin, Value end, PipelineState place) {
  Value zero = e.index(0);
  own.take(e.mul(e.div(inGroup, kWarp), 16), stores);
  auto barrier = [&] { tma.namedBarrier(group, kWarpgroup); };
  barrier(); // Now all warps have finished their products with the queries of the tile before.
  keepQueries();
  barrier();
  auto some = [&]() -> Values {
    Carried at{own.initialState(), own.initialResults(), {}, place};
    Values scores = products.wait(0, startScores(at.place));
    release([&] { stages.releaseKeys(at.place); });
    own.weigh(begin, /*areSeen=*/false, scores, at.state);
    at.weights = pack(scores);
    Value second = e.add(begin, stages.schedule.keys), last = e.max(e.add(own.count, -1), zero);
    auto [seen, unseen] = own.rows.seenKeys(zero, last, {second, e.max(second, end)}, stages.schedule.keys);
    Values all = join(at);
    if (op.getWindowLeft())
      all = overStages(second, seen, all, /*areSeen=*/false);
    all = overStages(seen, unseen, all, /*areSeen=*/true);
    all = overStages(unseen, end, all, /*areSeen=*/false);
    at = split(all);
    at.results = products.wait(0, startResults(at.results, at.weights, at.place), at.weights);
    release([&] { stages.releaseValues(at.place); });
    return join({at.state, at.results, {}, stages.next(at.place)});
  };
  auto none = [&]() -> Values { return join({own.initialState(), own.initialResults(), {}, place}); };
  Carried made = split(e.choose(e.compare(arith::CmpIPredicate::slt, begin, end), some, none));
  own.finish(made.state, made.results, barrier);
  return made.place;
}
