//===- ThreadAttention.cpp - Attention of f32 by the threads of a block ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// FlashAttention without tensor cores, which would round the operands. WarpAttention reads each key and value from the
// L1 cache for every row; here a block of four warps has a tile of 64 rows (pairs of a query and a head), and each key
// and value in shared memory serves all of them. Keys are processed in steps of 64, with an online softmax.
//
//                       keys of the step, 64                      values, E columns
//   warp 0   Q 16 x D   | S 16 x 64 | --softmax--> P, half        | O 16 x E |
//   warp 1              | S         |              at a time,     | O        |
//   warp 2              | S         |              through        | O        |
//   warp 3              | S         |              shared memory  | O        |
//
//   lane 8 r + c   rows 4r .. 4r + 3 of the warp;  keys 4c .. 4c + 3 and 32 + 4c .. 32 + 4c + 3;
//                  columns 32 m + 4c .. 32 m + 4c + 3 for m = 0, 1, ...
//
// For each component in Q K^T a lane loads 4 floats of Q and 8 of K from shared memory; for each key in P V it loads 4
// floats of P and 4 of every 32 columns of V. It loads them as vectors of 4 and multiplies each float of the first
// operand with each of the second. Queries are transposed in shared memory, so that the 4 rows are neighbors. So are
// the probabilities, which only the warp that computed them reads.
//
// Keys and values come in slices of at most 8 KiB: 32 components of the 64 keys, or 16 values (32 if they have up to 64
// columns). A ring of three stages holds them; while one is multiplied, cp.async fills the next two:
//
//   copies     | K0 | K1 | V0 | V1 | K0' | ..
//   products             | K0 | K1 | V0 | V1 | ..
//
// Invariants. If all values are finite, a row gets the same bits here as from WarpAttention: both have steps of 64 keys
// that begin at multiples of 64, add the products of components and of keys in order, and keep 32 sums of probabilities,
// number i for the keys i and i + 32 of each step, which are joined in the same tree. So tiles of few rows, as in
// decoding, can go to WarpAttention. (A value that is infinite or NaN also reaches rows of its tile from which its
// position hides it, as in a product of whole matrices; WarpAttention does not read it for them.) Steps whose keys are
// all visible to every row run in a loop without tests. Values past the last key are zeros in shared memory, since
// 0 x NaN is NaN; keys past it have any values, and their scores are replaced.
//
// Cost. Shared memory: 24 KiB of stages, 10 KiB of probabilities, and 256 bytes for each component of a query: 50 KiB
// for heads of 64, 66 KiB for heads of 128. One barrier for each slice.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/AsyncCopies.h"
#include "compiler/Target/NVVM/RowAttention.h"
#include "compiler/Target/NVVM/WarpAttention.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// Rows of a tile and of a warp, keys of a step and of half a step, and the most rows of an operation that go to
/// WarpAttention instead.
constexpr int64_t kRows = 64, kWarpRows = 16, kKeys = kAttentionKeys, kHalf = kKeys / 2, kFewRows = 8;
/// Floats of a vector, rows of a lane, the lanes that share rows, and the largest size of a head.
constexpr int64_t kVector = 4, kLaneRows = kVector, kLanes = kHalf / kVector, kMostComponents = 128;
/// The most components of a slice of keys and its most floats (a slice has some components of kKeys keys), and stages.
constexpr int64_t kSliceComponents = 32, kSliceFloats = kSliceComponents * kKeys, kStages = 3;
/// Floats of a row of the transposed probabilities of a warp, 4 of them padding. The padding spreads the vectors that a
/// warp stores at once over all banks.
constexpr int64_t kWeightStride = kWarpRows + 4;
/// Components, or keys, whose products an iteration adds.
constexpr int64_t kUnroll = 8;

/// Emits the code of one thread for an attention operation of f32.
class ThreadAttention {
public:
  ThreadAttention(tiles::AttentionTileOp op, ThreadBuilder &e, const ThreadLoops &loops);
  void emit();

private:
  /// The values that the loop over steps carries: for each of the lane's rows the maximum of the scores so far, kVector
  /// sums of probabilities, and the results, one vector for every 32 columns; then the stage of the step's first slice.
  struct State {
    Value maxima[kLaneRows];
    Value sums[kLaneRows][kVector];
    SmallVector<Value> results[kLaneRows];
    Value stage;
  };
  State unpack(ValueRange carried);
  Values pack(const State &state);
  State initialState();

  int64_t slicesOfKeys() const { return llvm::divideCeil(headDim, kSliceComponents); }
  int64_t valuesOfSlice() const { return kSliceFloats / columns >= kHalf ? kHalf : kHalf / 2; }
  int64_t slicesOfStep() const { return slicesOfKeys() + kKeys / valuesOfSlice(); }
  Value stageAt(Value first, int64_t slice) { return e.rem(e.add(first, slice), kStages); }
  Value vectorAt(Value buffer, Value at) { return vector::LoadOp::create(e, vector, buffer, at); }
  Value element(Value of, int64_t number) { return vector::ExtractOp::create(e, of, number); }
  Value splat(Value scalar) { return vector::BroadcastOp::create(e, vector, scalar); }

  void emitTile(Value first);
  void keepQueries();
  void copyBlock(Value stage, Value from, ArrayRef<Value> first, int64_t rows, int64_t rowFloats, int64_t usedFloats, Value count);
  void startSlice(int64_t slice, Value stage, Value key);
  State overKeys(Value begin, Value end, State before, bool areSeen);
  State step(Value begin, State state, bool areSeen);
  Values multiplyKeys(int64_t slice, Value stage, Values scores);
  void keepWeights(ArrayRef<Value> weights, int64_t half);
  void addValues(int64_t slice, Value stage, State &state);
  void weigh(Value begin, bool areSeen, MutableArrayRef<Value> scores, State &state);
  void finish(const State &state);

  tiles::AttentionTileOp op;
  ThreadBuilder &e;
  const ThreadLoops &loops;
  RowAttention rows;
  AsyncCopies copies;
  VectorType vector;
  /// Components of a query and of a value, and the columns of a value in shared memory, a multiple of 32.
  int64_t headDim, valueDim, columns;
  /// The warp, the lane's r and c, and the number of rows of the operation.
  Value warp, laneRow, laneColumn, count;
  /// In shared memory: [component][row], [warp][key of half a step][row], [stage][component or key][key or column].
  Value queries, weights, stages;
  /// The first row of the tile, an i1 for each of the lane's rows that is true if the row exists, the end of the keys
  /// that the tile visits, and the lane's rows.
  Value first, exists[kLaneRows], keyEnd;
  AttentionRow row[kLaneRows];
};

} // namespace

static int64_t sizeOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getShape().back(); }

ThreadAttention::ThreadAttention(tiles::AttentionTileOp op, ThreadBuilder &e, const ThreadLoops &loops)
    : op(op), e(e), loops(loops), rows(op, e), copies(e), vector(VectorType::get({kVector}, e.getF32Type())),
      headDim(sizeOf(op.getQuery())), valueDim(op.getValueDim()), columns(llvm::alignTo(valueDim, kHalf)),
      warp(e.div(loops.thread, kWarp)) {
  Value lane = e.rem(loops.thread, kWarp);
  laneRow = e.div(lane, kLanes), laneColumn = e.rem(lane, kLanes);
  count = e.mul(e.size(op.getQuery(), 0), rows.heads);
  Type f32 = e.getF32Type();
  queries = e.allocateShared(f32, {headDim * kRows});
  weights = e.allocateShared(f32, {kBlockThreads / kWarp * kHalf * kWeightStride});
  stages = e.allocateShared(f32, {kStages * kSliceFloats});
}

ThreadAttention::State ThreadAttention::unpack(ValueRange carried) {
  State state;
  size_t next = 0;
  for (int64_t r = 0; r < kLaneRows; ++r) {
    state.maxima[r] = carried[next++];
    for (Value &sum : state.sums[r])
      sum = carried[next++];
    for (int64_t m = 0; m < columns / kHalf; ++m)
      state.results[r].push_back(carried[next++]);
  }
  state.stage = carried[next];
  return state;
}

Values ThreadAttention::pack(const State &state) {
  Values all;
  for (int64_t r = 0; r < kLaneRows; ++r) {
    all.push_back(state.maxima[r]);
    all.append(std::begin(state.sums[r]), std::end(state.sums[r]));
    all.append(state.results[r]);
  }
  all.push_back(state.stage);
  return all;
}

ThreadAttention::State ThreadAttention::initialState() {
  State state;
  Value zeros = arith::ConstantOp::create(e, e.getZeroAttr(vector));
  for (int64_t r = 0; r < kLaneRows; ++r) {
    state.maxima[r] = e.f32(kLowest);
    for (Value &sum : state.sums[r])
      sum = e.f32(0.0);
    state.results[r].assign(columns / kHalf, zeros);
  }
  state.stage = e.index(0);
  return state;
}

void ThreadAttention::emit() {
  auto few = [&]() -> Values {
    WarpAttention(op, e).run(loops);
    return {};
  };
  auto many = [&]() -> Values {
    e.loop(e.index(0), count, kRows, [&](Value tile) { emitTile(tile); });
    return {};
  };
  e.choose(e.compare(arith::CmpIPredicate::sle, count, kFewRows), few, many);
}

/// Writes the queries of the tile to shared memory, transposed. Rows that do not exist repeat the last one.
void ThreadAttention::keepQueries() {
  // Neighboring threads have neighboring rows, so that their stores are in different banks.
  int64_t width = headDim % kVector == 0 ? kVector : 1;
  e.loop(loops.thread, e.index(kRows * headDim / width), loops.threads, [&](Value number) {
    Value local = e.rem(number, kRows), d = e.mul(e.div(number, kRows), width);
    Value from = e.min(e.add(first, local), e.add(count, -1)), query = e.div(from, rows.heads), head = e.rem(from, rows.heads);
    Values loaded;
    for (int64_t i = 0; i < width; ++i)
      loaded.push_back(e.load(op.getQuery(), {query, head, e.add(d, i)}));
    for (int64_t i = 0; i < width; ++i)
      e.store(loaded[i], queries, e.add(e.mul(e.add(d, i), kRows), local));
  });
}

/// Starts to copy |rows| rows of |from| to stage |stage|, where they are |rowFloats| floats apart. |first| has the
/// indices of the first row. Only |usedFloats| floats of a row exist, a multiple of 4, and only the first |count| rows,
/// or all if |count| is null. Zeros take the place of floats that do not exist.
void ThreadAttention::copyBlock(Value stage, Value from, ArrayRef<Value> first, int64_t rows, int64_t rowFloats, int64_t usedFloats,
                                Value count) {
  int64_t perRow = rowFloats / kVector, total = rows * perRow;
  Value base = e.advance(e.addressOf(stages, e.index(0)), e.mul(stage, kSliceFloats * 4));
  for (int64_t i = 0; i * kBlockThreads < total; ++i) {
    Value number = e.add(loops.thread, i * kBlockThreads), local = e.div(number, perRow), part = e.rem(number, perRow);
    SmallVector<Value> at(first);
    at.back() = e.add(at.back(), local);
    at.push_back(e.mul(part, kVector));
    Value exists = count ? e.compare(arith::CmpIPredicate::slt, local, count) : e.yes();
    if (usedFloats != rowFloats)
      exists = e.both(exists, e.compare(arith::CmpIPredicate::slt, part, usedFloats / kVector));
    Value inBlock = total % kBlockThreads == 0 ? Value() : e.compare(arith::CmpIPredicate::slt, number, total);
    e.ifThen(inBlock, [&] { copies.copyChunk(e.advance(base, e.mul(number, kChunkBytes)), e.addressOf(from, at), exists); });
  }
}

/// Starts to copy slice |slice| of the step whose first key is |key| to stage |stage|. The slices of the keys have the
/// first numbers, those of the values follow.
void ThreadAttention::startSlice(int64_t slice, Value stage, Value key) {
  if (slice < slicesOfKeys()) {
    int64_t d = slice * kSliceComponents;
    copyBlock(stage, op.getKey(), {e.div(key, kKeys), e.index(d)}, std::min(kSliceComponents, headDim - d), kKeys, kKeys, {});
    return;
  }
  Value begin = e.add(key, (slice - slicesOfKeys()) * valuesOfSlice());
  copyBlock(stage, op.getValue(), {begin}, valuesOfSlice(), columns, valueDim, e.sub(rows.keys, begin));
}

/// Returns |scores| plus the products of the components of slice |slice|, which is in |stage|. Scores are vectors of 4
/// keys: each row has one vector of keys of the first half of the step, then one of the second half.
Values ThreadAttention::multiplyKeys(int64_t slice, Value stage, Values scores) {
  int64_t d = slice * kSliceComponents, depth = std::min(kSliceComponents, headDim - d);
  Value key = e.add(e.mul(stage, kSliceFloats), e.mul(laneColumn, kVector));
  Value query = e.add(e.add(e.mul(warp, kWarpRows), e.mul(laneRow, kLaneRows)), d * kRows);
  auto add = [&](Value at, Values sums) {
    Value mine = vectorAt(queries, e.add(query, e.mul(at, kRows)));
    Value theirs = e.add(key, e.mul(at, kKeys)), near = vectorAt(stages, theirs), far = vectorAt(stages, e.add(theirs, kHalf));
    for (int64_t r = 0; r < kLaneRows; ++r) {
      Value component = splat(element(mine, r));
      sums[2 * r] = math::FmaOp::create(e, component, near, sums[2 * r]);
      sums[2 * r + 1] = math::FmaOp::create(e, component, far, sums[2 * r + 1]);
    }
    return sums;
  };
  int64_t whole = depth / kUnroll * kUnroll;
  scores = e.loop(e.index(0), e.index(whole), e.index(kUnroll), scores, [&](Value at, ValueRange before) -> Values {
    Values sums(before);
    for (int64_t i = 0; i < kUnroll; ++i)
      sums = add(e.add(at, i), sums);
    return sums;
  });
  for (int64_t i = whole; i < depth; ++i)
    scores = add(e.index(i), scores);
  return scores;
}

/// Replaces the products |scores| of the step that begins at |begin| by unnormalized probabilities. Updates the maxima
/// and the sums of |state| and rescales its results. If |areSeen|, all keys of the step are visible to every row.
/// Scores here are scalars: 8 of each row.
void ThreadAttention::weigh(Value begin, bool areSeen, MutableArrayRef<Value> scores, State &state) {
  Value last = e.add(rows.keys, -1), mine = e.add(begin, e.mul(laneColumn, kVector));
  constexpr int64_t kLaneKeys = 2 * kVector;
  for (int64_t r = 0; r < kLaneRows; ++r) {
    MutableArrayRef<Value> ofRow = scores.slice(r * kLaneKeys, kLaneKeys);
    RowAttention::Limits limits;
    if (!areSeen)
      limits = rows.limitsFrom(row[r], mine);
    Value largest;
    for (int64_t i = 0; i < kLaneKeys; ++i) {
      int64_t number = i / kVector * kHalf + i % kVector;
      Value key = e.add(mine, number), &score = ofRow[i];
      score = rows.score(row[r], areSeen ? key : e.min(key, last), score, /*isSeen=*/true);
      if (!areSeen)
        score = rows.hide(score, number, limits);
      largest = largest ? e.maxf(largest, score) : score;
    }
    for (int64_t mask = kLanes / 2; mask > 0; mask /= 2)
      largest = e.maxf(largest, e.shuffleXor(largest, mask));
    Value maximum = e.maxf(state.maxima[r], largest), decay = e.exp2(e.subf(state.maxima[r], maximum));
    state.maxima[r] = maximum;
    for (Value &score : ofRow)
      score = e.exp2(e.subf(score, maximum));
    for (int64_t i = 0; i < kVector; ++i)
      state.sums[r][i] = e.addf(e.fma(state.sums[r][i], decay, ofRow[i]), ofRow[kVector + i]);
    for (Value &result : state.results[r])
      result = arith::MulFOp::create(e, result, splat(decay));
  }
}

/// Writes the probabilities of half |half| of the step to shared memory for the lanes of the warp, transposed.
void ThreadAttention::keepWeights(ArrayRef<Value> probabilities, int64_t half) {
  auto sync = [&] { NVVM::SyncWarpOp::create(e, arith::ConstantIntOp::create(e, -1, 32)); };
  Value base = e.add(e.mul(warp, kHalf * kWeightStride), e.mul(laneRow, kLaneRows)), key = e.mul(laneColumn, kVector);
  sync(); // Lanes may still read the other half.
  for (int64_t i = 0; i < kVector; ++i) {
    Values ofKey;
    for (int64_t r = 0; r < kLaneRows; ++r)
      ofKey.push_back(probabilities[r * 2 * kVector + half * kVector + i]);
    Value together = vector::FromElementsOp::create(e, vector, ofKey);
    vector::StoreOp::create(e, together, weights, e.add(base, e.mul(e.add(key, i), kWeightStride)));
  }
  sync();
}

/// Adds to the results of |state| the products of the probabilities in shared memory and slice |slice|, of values,
/// which is in |stage|.
void ThreadAttention::addValues(int64_t slice, Value stage, State &state) {
  int64_t firstKey = (slice - slicesOfKeys()) * valuesOfSlice() % kHalf, perRow = columns / kHalf;
  Value probability = e.add(e.add(e.mul(warp, kHalf * kWeightStride), e.mul(laneRow, kLaneRows)), firstKey * kWeightStride);
  Value value = e.add(e.mul(stage, kSliceFloats), e.mul(laneColumn, kVector));
  Values results;
  for (const SmallVector<Value> &ofRow : state.results)
    results.append(ofRow);
  results = e.loop(e.index(0), e.index(valuesOfSlice()), e.index(kUnroll), results, [&](Value at, ValueRange before) -> Values {
    Values sums(before);
    for (int64_t i = 0; i < kUnroll; ++i) {
      Value key = e.add(at, i), mine = vectorAt(weights, e.add(probability, e.mul(key, kWeightStride)));
      for (int64_t m = 0; m < perRow; ++m) {
        Value part = vectorAt(stages, e.add(e.add(value, e.mul(key, columns)), m * kHalf));
        for (int64_t r = 0; r < kLaneRows; ++r)
          sums[r * perRow + m] = math::FmaOp::create(e, splat(element(mine, r)), part, sums[r * perRow + m]);
      }
    }
    return sums;
  });
  for (int64_t r = 0; r < kLaneRows; ++r)
    state.results[r].assign(results.begin() + r * perRow, results.begin() + (r + 1) * perRow);
}

/// Emits the step of the 64 keys from |begin| on and returns the next state. Expects that the copies of the step's
/// first two slices have been started. For |areSeen| see weigh.
ThreadAttention::State ThreadAttention::step(Value begin, State state, bool areSeen) {
  Value zeros = arith::ConstantOp::create(e, e.getZeroAttr(vector));
  Values products(2 * kLaneRows, zeros), scores;
  for (int64_t slice = 0; slice < slicesOfStep(); ++slice) {
    Value stage = stageAt(state.stage, slice);
    // The slice after this one may still be under way. After the barrier no thread reads the slice before this one.
    copies.waitForCopies(kStages - 2);
    e.barrier();
    int64_t next = slice + kStages - 1, ofStep = next % slicesOfStep();
    Value key = e.add(begin, next / slicesOfStep() * kKeys), to = stageAt(state.stage, next);
    e.ifThen(next == ofStep ? Value() : e.compare(arith::CmpIPredicate::slt, key, keyEnd), [&] { startSlice(ofStep, to, key); });
    copies.commitCopies();
    if (slice < slicesOfKeys()) {
      products = multiplyKeys(slice, stage, products);
      continue;
    }
    if (slice == slicesOfKeys()) {
      for (Value four : products)
        for (int64_t i = 0; i < kVector; ++i)
          scores.push_back(element(four, i));
      weigh(begin, areSeen, scores, state);
    }
    if (int64_t value = (slice - slicesOfKeys()) * valuesOfSlice(); value % kHalf == 0)
      keepWeights(scores, value / kHalf);
    addValues(slice, stage, state);
  }
  state.stage = stageAt(state.stage, slicesOfStep());
  return state;
}

/// Emits the loop over the steps of the keys [|begin|, |end|). For |areSeen| see weigh.
ThreadAttention::State ThreadAttention::overKeys(Value begin, Value end, State before, bool areSeen) {
  return unpack(e.loop(begin, end, e.index(kKeys), pack(before),
                       [&](Value key, ValueRange carried) -> Values { return pack(step(key, unpack(carried), areSeen)); }));
}

void ThreadAttention::emitTile(Value from) {
  first = from;
  Value mine = e.add(e.add(first, e.mul(warp, kWarpRows)), e.mul(laneRow, kLaneRows)), lastRow = e.add(count, -1);
  for (int64_t r = 0; r < kLaneRows; ++r) {
    Value number = e.add(mine, r);
    exists[r] = e.compare(arith::CmpIPredicate::slt, number, count);
    row[r] = rows.rowAt(e.min(number, lastRow));
  }
  Value last = e.min(e.add(first, kRows - 1), lastRow);
  std::pair<Value, Value> visited = rows.visitedKeys(first, last);
  Value begin = e.mul(e.div(visited.first, kKeys), kKeys), end = visited.second;
  auto [seen, unseen] = rows.seenKeys(first, last, {begin, end}, kKeys);
  keyEnd = end;
  e.barrier(); // Other warps may still read the tile before.
  for (int64_t slice = 0; slice < kStages - 1; ++slice) {
    e.ifThen(e.compare(arith::CmpIPredicate::slt, begin, end), [&] { startSlice(slice, e.index(slice), begin); });
    copies.commitCopies();
  }
  keepQueries();
  State state = initialState();
  if (op.getWindowLeft())
    state = overKeys(begin, seen, state, /*areSeen=*/false);
  state = overKeys(seen, unseen, state, /*areSeen=*/true);
  state = overKeys(unseen, end, state, /*areSeen=*/false);
  finish(state);
}

/// Normalizes and stores the results, and recomputes fully masked rows.
void ThreadAttention::finish(const State &state) {
  Value totals[kLaneRows];
  for (int64_t r = 0; r < kLaneRows; ++r) {
    // The tree of ThreadBuilder::reduceLanes over 32 sums; the lane has the sums 4c to 4c + 3.
    Values sums(state.sums[r], state.sums[r] + kVector);
    for (int64_t mask = kLanes / 2; mask > 0; mask /= 2)
      for (Value &sum : sums)
        sum = e.addf(sum, e.shuffleXor(sum, mask));
    totals[r] = e.addf(e.addf(sums[0], sums[2]), e.addf(sums[1], sums[3]));
    Value factor = rows.factor(row[r], state.maxima[r], totals[r]);
    e.ifThen(exists[r], [&] {
      for (auto [m, part] : llvm::enumerate(state.results[r]))
        for (int64_t i = 0; i < kVector; ++i) {
          int64_t inPart = static_cast<int64_t>(m) * kHalf + i;
          Value at = e.add(e.mul(laneColumn, kVector), inPart), value = element(part, i);
          bool isWhole = static_cast<int64_t>(m + 1) * kHalf <= valueDim;
          e.ifThen(isWhole ? Value() : e.compare(arith::CmpIPredicate::slt, at, valueDim),
                   [&] { e.store(e.mulf(value, factor), op.getDestinations()[0], {row[r].query, row[r].head, at}); });
        }
    });
  }
  if (!needsMaskedRows(op))
    return;
  e.barrier(); // A lane may overwrite results that other lanes have stored.
  Value lane = e.rem(loops.thread, kWarp);
  WarpAttention(op, e).emitMaskedRows(e.add(first, e.mul(warp, kWarpRows)), lane, [&](Value local) {
    Value from = e.mul(e.div(local, kLaneRows), kLanes), which = e.rem(local, kLaneRows);
    auto ofRow = [&](const Value *values) {
      Value mine = values[0];
      for (int64_t r = 1; r < kLaneRows; ++r)
        mine = e.select(e.compare(arith::CmpIPredicate::eq, which, r), values[r], mine);
      return e.broadcastLane(mine, from);
    };
    Value maximum = ofRow(state.maxima);
    return std::pair(maximum, ofRow(totals));
  });
}

/// Returns true if rows of |buffer| are contiguous and have a multiple of 4 floats, and the distances between rows and
/// the offset are multiples of 4 floats. Then all rows are aligned for cp.async if the memory is. An offset that is not
/// constant passes, since views of whole rows and heads have offsets that are sums of multiples of the distances.
static bool hasRowsOfVectors(Value buffer) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(buffer.getType());
  auto isMultiple = [](int64_t size) { return size != ShapedType::kDynamic && size % kVector == 0; };
  return isMultiple(type.getShape().back()) && succeeded(type.getStridesAndOffset(strides, offset)) && strides.back() == 1 &&
         llvm::all_of(ArrayRef(strides).drop_back(), isMultiple) && (offset == ShapedType::kDynamic || isMultiple(offset));
}

bool attune::isThreadAttention(tiles::AttentionTileOp op) {
  auto isF32 = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType().isF32(); };
  if (op.getPrecision() != xfmr::Precision::F32 || op.hasKeyRows() || op.getProbabilities() || op.hasRelativeTables())
    return false;
  auto key = cast<MemRefType>(op.getKey().getType());
  return isF32(op.getQuery()) && isF32(op.getKey()) && isF32(op.getValue()) && isF32(op.getDestinations()[0]) &&
         key.getDimSize(2) == kKeys && hasRowsOfVectors(op.getKey()) && hasRowsOfVectors(op.getValue()) &&
         sizeOf(op.getQuery()) <= kMostComponents && op.getValueDim() <= kMostComponents;
}

void attune::emitThreadAttention(tiles::AttentionTileOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  ThreadAttention(op, e, loops).emit();
}
