//===- FlashWarpgroups.cpp - Attention by warpgroups -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attention as in FlashAttention.cpp, by what sm_90a has. A block is three warpgroups and makes two tiles of queries that are neighbours
// and see the same keys:
//
//   producer    for each stage of keys: wait until it is empty; keys and values to it (KeyStages.cpp)
//   consumers   a tile each, from these stages (WarpgroupConsumer.cpp)
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "compiler/Target/NVVM/WarpgroupConsumer.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

namespace {

/// Consumers, rows of one.
constexpr int64_t kConsumers = 2, kRows = kConsumerRows;

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

} // namespace

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
    WarpgroupConsumer(op, e, stages, inGroup, e.add(e.mul(number, queryBytes), stages.othersAt())).run(group, mine, from, to);
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
