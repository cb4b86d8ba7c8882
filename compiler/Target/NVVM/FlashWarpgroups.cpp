//===- FlashWarpgroups.cpp - Attention by warpgroups -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attention as in FlashAttention.cpp, by what sm_90a has. A block is three warpgroups and makes two tiles of queries that are neighbours
// and see the same keys:
//
//   producer    for each stage of keys: wait until it is empty; keys and values to it (KeyStages.cpp)
//   consumers   a tile each: S = Q K of the first stage; P = weights of S; then for each stage that follows
//                 start S' = Q K' and O += P V, K' of this stage and V of the one before
//                 P' = weights of S', when that is there; O = O 2^(m - m'), when that is there
//               O += P V of the last stage
//
// so that tensor cores multiply while weights are computed: O += P V in the same warpgroup, and all products of the other one. Queries are
// in shared memory, weights in registers. Stages that all rows see whole have loops without questions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/FlashRows.h"
#include "compiler/Target/NVVM/KeyStages.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

namespace {

/// Consumers, rows of one.
constexpr int64_t kConsumers = 2, kRows = 64;

/// Emits the body of the loop of blocks.
class WarpgroupAttention {
public:
  WarpgroupAttention(scf::ForallOp before, scf::ForallOp loop, ThreadEmitter &e, Value tiles);
  void emit(std::pair<Value, Value> maps);

private:
  xfmr::AttentionTileOp cloneAt(Value tile);
  std::pair<Value, Value> visitedKeys();

  scf::ForallOp before, loop;
  ThreadEmitter &e;
  BoxCopies copies;
  Value thread, group, inGroup, tiles, first, hasTile[kConsumers];
};

/// Emits what one consumer does.
class Consumer {
public:
  Consumer(xfmr::AttentionTileOp op, ThreadEmitter &e, KeyStages &stages, Value inGroup, Value queries)
      : op(op), e(e), copies(e), stages(stages), inGroup(inGroup), queriesAt(queries), own(op, e, e.rem(inGroup, kWarp)),
        products(e, own.cores.elementType()) {}
  /// All keys from |begin| to |end|; |group| is the number of the warpgroup, which stores what it computes if it |stores|.
  void run(Value group, Value stores, Value begin, Value end);

private:
  /// What is carried from stage to stage.
  struct Carried {
    Values state, results, weights;
    RingPlace place;
    Values all() const;
  };
  Carried split(ValueRange all) const;
  void keepQueries();
  Values startScores(RingPlace place);
  Values startResults(ValueRange results, ValueRange weights, RingPlace place);
  Values pack(ArrayRef<Value> weights);
  Values overStages(Value begin, Value end, ValueRange carried, bool areSeen);
  void release(llvm::function_ref<void()> give) { e.ifThen(e.compare(arith::CmpIPredicate::eq, inGroup, e.index(0)), give); }

  xfmr::AttentionTileOp op;
  ThreadEmitter &e;
  BoxCopies copies;
  KeyStages &stages;
  /// The byte of the queries in the stages' memory.
  Value inGroup, queriesAt;
  FlashRows own;
  WarpgroupProducts products;
};

} // namespace

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

Values Consumer::Carried::all() const {
  Values values(state);
  values.append(results), values.append(weights);
  values.push_back(place.stage), values.push_back(place.parity);
  return values;
}

Consumer::Carried Consumer::split(ValueRange all) const {
  size_t results = own.valueDim / 2, weights = all.size() - 6 - results;
  return {
      Values(all.take_front(4)), Values(all.slice(4, results)), Values(all.slice(4 + results, weights)), {all[all.size() - 2], all.back()}};
}

/// Writes the queries that lanes hold as operands to rows of shared memory.
void Consumer::keepQueries() {
  Value lane = e.rem(inGroup, kWarp), local = e.div(lane, 4), row = e.add(e.mul(e.div(inGroup, kWarp), 16), local);
  for (auto [i, word] : llvm::enumerate(own.queries)) {
    int64_t part = static_cast<int64_t>(i % 4), d = static_cast<int64_t>(i / 4) * kProductDepth + part / 2 * kChunk;
    Value chunk = arith::XOrIOp::create(e.builder, e.loc, e.index(d % kRowComponents / kChunk), local);
    Value at = e.add(e.mul(e.add(row, part % 2 * 8), kRowBytes), d / kRowComponents * kRows * kRowBytes);
    at = e.add(at, e.add(e.mul(chunk, kChunkBytes), e.mul(e.rem(lane, 4), 4)));
    e.store(word, stages.words, e.div(e.add(queriesAt, at), 4));
  }
  copies.fenceWrites();
}

/// Starts the products of queries and the keys at |place|.
Values Consumer::startScores(RingPlace place) {
  Value keys = stages.waitForKeys(products, place);
  Value rows = products.matrix(e.advance(e.sharedAddress(stages.words), queriesAt), {/*isTransposed=*/false, /*isSwizzled=*/true});
  Values scores(stages.schedule.keys / 2, e.f32(0.0));
  products.fence();
  for (int64_t d = 0; d < own.headDim; d += kProductDepth) {
    Value part = products.advance(rows, d / kRowComponents * kRows * kRowBytes + d % kRowComponents * 2);
    scores = products.multiply(scores, part, products.advance(keys, stages.bytesToComponent(d)), stages.areKeysTransposed(),
                               d == 0 ? e.no() : e.yes());
  }
  products.commit();
  return scores;
}

/// Starts the products of |weights| and the values at |place|, which are added to |results|.
Values Consumer::startResults(ValueRange results, ValueRange weights, RingPlace place) {
  Value values = stages.waitForValues(products, place);
  Values sums(results);
  products.fence();
  for (int64_t key = 0; key < stages.schedule.keys; key += kProductDepth)
    sums = products.multiply(sums, weights.slice(key / 4, 4), products.advance(values, KeyStages::bytesToKey(key)), true, e.yes());
  products.commit();
  return sums;
}

/// |weights| as operands.
Values Consumer::pack(ArrayRef<Value> weights) {
  Values words;
  for (int64_t key = 0; key < stages.schedule.keys; key += kProductDepth)
    words.append(own.operand(weights, key));
  return words;
}

/// Goes on with the stages of the keys from |begin| to |end|; weights of the stage before are carried.
Values Consumer::overStages(Value begin, Value end, ValueRange carried, bool areSeen) {
  return e.loop(begin, end, e.index(stages.schedule.keys), carried, [&](Value key, ValueRange all) -> Values {
    Carried at = split(all);
    RingPlace place = at.place;
    at.place = stages.next(place);
    Values scores = startScores(at.place);
    at.results = startResults(at.results, at.weights, place);
    scores = products.wait(1, scores);
    release([&] { stages.releaseKeys(at.place); });
    std::pair<Value, Value> factors = own.weigh(key, areSeen, scores, at.state);
    at.weights = pack(scores);
    at.results = products.wait(0, at.results);
    release([&] { stages.releaseValues(place); });
    own.rescale(at.results, factors);
    return at.all();
  });
}

void Consumer::run(Value group, Value stores, Value begin, Value end) {
  Value zero = e.index(0);
  own.take(e.mul(e.div(inGroup, kWarp), 16), stores);
  keepQueries();
  auto meet = [&] { copies.meet(group, kWarpgroup); };
  meet();
  auto some = [&]() -> Values {
    Carried at{own.initialState(), own.initialResults(), {}, {zero, zero}};
    Values scores = products.wait(0, startScores(at.place));
    release([&] { stages.releaseKeys(at.place); });
    own.weigh(begin, /*areSeen=*/false, scores, at.state);
    at.weights = pack(scores);
    Value second = e.add(begin, stages.schedule.keys), last = e.max(e.add(own.count, -1), zero);
    auto [seen, unseen] = own.seenKeys(zero, last, {second, e.max(second, end)}, stages.schedule.keys);
    Values all = at.all();
    if (op.getWindowLeft())
      all = overStages(second, seen, all, /*areSeen=*/false);
    all = overStages(seen, unseen, all, /*areSeen=*/true);
    all = overStages(unseen, end, all, /*areSeen=*/false);
    at = split(all);
    at.results = products.wait(0, startResults(at.results, at.weights, at.place));
    release([&] { stages.releaseValues(at.place); });
    at.state.append(at.results);
    return at.state;
  };
  auto none = [&]() -> Values {
    Values all = own.initialState();
    all.append(own.initialResults());
    return all;
  };
  Values all = e.choose(e.compare(arith::CmpIPredicate::slt, begin, end), some, none);
  own.finish(ValueRange(all).take_front(4), ValueRange(all).drop_front(4), meet);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

WarpgroupAttention::WarpgroupAttention(scf::ForallOp before, scf::ForallOp loop, ThreadEmitter &e, Value tiles)
    : before(before), loop(loop), e(e), copies(e), thread(e.thread()), group(e.div(thread, kWarpgroup)), inGroup(e.rem(thread, kWarpgroup)),
      tiles(tiles) {
  // The last tiles of causal attention see most keys: they begin first.
  Value pairs = getValueOrCreateConstantIndexOp(e.builder, e.loc, loop.getMixedUpperBound()[2]);
  first = e.mul(e.sub(e.add(pairs, -1), loop.getInductionVar(2)), kConsumers);
}

/// The operation of tile |tile| of this sequence and these heads, with all that it needs.
xfmr::AttentionTileOp WarpgroupAttention::cloneAt(Value tile) {
  IRMapping map;
  map.map(before.getInductionVars()[0], loop.getInductionVar(0));
  map.map(before.getInductionVars()[1], loop.getInductionVar(1));
  map.map(before.getInductionVars()[2], tile);
  xfmr::AttentionTileOp clone;
  for (Operation &op : before.getBody()->without_terminator()) {
    Operation *copy = e.builder.clone(op, map);
    if (auto attention = dyn_cast<xfmr::AttentionTileOp>(copy))
      clone = attention;
  }
  return clone;
}

/// The keys that both tiles visit.
std::pair<Value, Value> WarpgroupAttention::visitedKeys() {
  Value zero = e.index(0), begin, end;
  for (int64_t i = 0; i < kConsumers; ++i) {
    xfmr::AttentionTileOp tile = cloneAt(i == 0 ? first : e.min(e.add(first, i), e.add(tiles, -1)));
    RowAttention rows(tile, e);
    Value count = e.mul(e.size(tile.getQuery(), 0), rows.heads), exists = e.compare(arith::CmpIPredicate::sgt, count, zero);
    Value from = rows.keysOf(rows.rowAt(zero)).first, to = rows.keysOf(rows.rowAt(e.max(e.add(count, -1), zero))).second;
    begin = begin ? begin : from;
    end = e.max(end ? end : zero, e.select(exists, to, zero));
    tile.erase();
    // Of the tiles of a shorter sequence the last are empty.
    hasTile[i] = i == 0 ? exists : e.both(exists, e.compare(arith::CmpIPredicate::slt, e.add(first, i), tiles));
  }
  return {begin, end};
}

void WarpgroupAttention::emit(std::pair<Value, Value> maps) {
  // The tile of the first consumer also says what the producer brings.
  xfmr::AttentionTileOp model = cloneAt(first);
  int64_t queryBytes = cast<MemRefType>(model.getQuery().getType()).getDimSize(2) * 2 * kRows;
  KeyStages stages(model, e, kConsumers, kConsumers * queryBytes, maps);
  stages.allocate(thread);
  e.barrier();
  auto [begin, end] = visitedKeys();
  Value from = e.mul(e.div(begin, stages.schedule.keys), stages.schedule.keys), to = end;
  auto producer = [&]() -> Values {
    copies.setRegisters(stages.schedule.producerRegisters, /*more=*/false);
    stages.produce(inGroup, from, to);
    return {};
  };
  auto consumer = [&]() -> Values {
    copies.setRegisters(stages.schedule.consumerRegisters, /*more=*/true);
    // Without a tile of its own, the second consumer makes the first one's and keeps it.
    Value number = e.add(group, -1), mine = e.either(e.compare(arith::CmpIPredicate::eq, number, e.index(0)), hasTile[1]);
    xfmr::AttentionTileOp op = cloneAt(e.select(mine, e.add(first, number), first));
    Consumer(op, e, stages, inGroup, e.add(e.mul(number, queryBytes), stages.othersAt())).run(group, mine, from, to);
    op.erase();
    return {};
  };
  e.ifThen(hasTile[0], [&] { e.choose(e.compare(arith::CmpIPredicate::eq, group, e.index(0)), producer, consumer); });
  model.erase();
}

/// The only operation of |loop| that computes, if it is attention over (sequence, heads, tile of queries).
static xfmr::AttentionTileOp findAttention(scf::ForallOp loop) {
  xfmr::AttentionTileOp tile;
  if (loop.getRank() != 3)
    return {};
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto attention = dyn_cast<xfmr::AttentionTileOp>(op); attention && !tile)
      tile = attention;
    else if (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))
      return {};
  }
  return tile;
}

bool attune::isWarpgroupAttention(scf::ForallOp loop) {
  xfmr::AttentionTileOp tile = findAttention(loop);
  if (!tile || !isFlashAttention(tile))
    return false;
  if (tile.hasKeyRows() && (!findBoxSource(tile.getKey(), loop) || !findBoxSource(tile.getValue(), loop)))
    return false;
  auto query = cast<MemRefType>(tile.getQuery().getType()), value = cast<MemRefType>(tile.getValue().getType());
  auto hasSize = [](int64_t size) { return size == 64 || size == 128; };
  // A tile has as many rows as make up 64 with the heads that share it.
  return hasSize(query.getDimSize(2)) && hasSize(value.getDimSize(1)) && !query.isDynamicDim(1) && kRows % query.getDimSize(1) == 0;
}

scf::ForallOp attune::emitFlashWarpgroups(scf::ForallOp before, int64_t arch) {
  OpBuilder builder(before);
  ThreadEmitter host(builder, before.getLoc());
  std::pair<Value, Value> maps;
  if (xfmr::AttentionTileOp tile = findAttention(before); tile.hasKeyRows()) {
    auto map = [&](Value rows) { return makeRowMap(host, findBoxSource(rows, before), getKeySchedule(tile, 0).keys); };
    maps.first = map(tile.getKey()), maps.second = map(tile.getValue());
  }
  SmallVector<OpFoldResult> bounds = before.getMixedUpperBound();
  Value tiles = getValueOrCreateConstantIndexOp(builder, host.loc, bounds[2]);
  bounds[2] = builder.createOrFold<arith::CeilDivUIOp>(host.loc, tiles, host.index(kConsumers));
  auto loop = scf::ForallOp::create(builder, host.loc, bounds, ValueRange(), std::nullopt);
  loop->setAttr(kGpuAttr, builder.getI64IntegerAttr(arch));
  loop->setAttr(kThreadsAttr, builder.getI64IntegerAttr((kConsumers + 1) * kWarpgroup));
  builder.setInsertionPointToStart(loop.getBody());
  ThreadEmitter e(builder, host.loc);
  WarpgroupAttention(before, loop, e, tiles).emit(maps);
  before.erase();
  return loop;
}
