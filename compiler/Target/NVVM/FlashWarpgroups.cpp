//===- FlashWarpgroups.cpp - Attention by warpgroups ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Warp-specialized attention for sm_90a. The loads of keys, the products and the exponentials of one step depend on
// each other; done one after the other they leave the tensor cores idle. So loads get a warpgroup of their own, and two
// query tiles alternate.
//
// A persistent block has three warpgroups. WG0 produces: it fills a ring of stages with keys and values (KeyPipeline).
// WG1 and WG2 consume (WarpgroupConsumer): they have two neighboring query tiles of one sequence and one KV head, one
// tile of 64 rows (query, head) each, so both use the same stages. PersistentTiles assigns pairs of tiles to blocks.
//
//   shared memory   | K0 K1 .. | V0 V1 .. | Q1 | Q2 |     a stage: 128 keys (64 with a distance bias and values of more
//                                                         than 64 components; 64 from a cache)
//   WG0   K0 V0 K1 V1 K2 ...                              waits for `empty`; TMA completes `full` by its byte count
//   WG1   S0 |softmax 0| S1  O+=P0 V0 |softmax 1| S2  O+=P1 V1      softmax hides behind O += P V of the stage before
//   WG2      S0 |softmax 0| S1  O+=P0 V0 |softmax 1| ...            and behind the products of the other warpgroup
//
// Invariants. A phase of a stage's barrier `full` completes by one arrival, which expects the bytes of the TMA loads.
// Where rows of values are cleared, this arrival comes after loads and clearing, and expects no bytes. In a stage of a
// cache, 128 arrivals complete the phase, one of each thread that converts the cache. A phase of `empty` completes by
// one arrival of each consumer. A consumer without a tile of its own computes its neighbor's tile, so it arrives as
// well; of this tile it stores only fully masked rows, with the values that its neighbor stores (FlashRows::take). S
// and P, which is S after the softmax, stay in registers: P, rounded, is the operand A of the next product. Values past
// the last key are cleared, since 0 x NaN is NaN. All warpgroups walk the same series of pairs, so the ring runs on
// across pairs: the keys of the next pair load while the results of this one are stored.
//
// Cost. Heads of 128: 32 KiB of queries and 64 KiB a stage, so three stages; heads of 64: 16 KiB and 32 KiB, four
// stages. setmaxnreg gives a producing thread 40 registers and a consuming one 232; 56 and 224 if the producer converts
// a cache.
//
// Not used: MLIR's wgmma operation, which has no operand A in registers and whose wait does not order accesses to the
// sums (WarpgroupProducts.cpp). Not implemented: clusters; TMA loads from caches, even if a cache has the element type
// of the products.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/DistributeOps.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/PersistentTiles.h"
#include "compiler/Target/NVVM/WarpgroupConsumer.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// Consumers of a block, and rows of one consumer's tile.
constexpr int64_t kConsumers = 2, kRows = kConsumerRows;

/// Emits the body of the loop over blocks of threads.
class WarpgroupAttention {
public:
  WarpgroupAttention(scf::ForallOp before, tiles::AttentionTileOp model, ThreadBuilder &e, Value tiles,
                     std::pair<TmaOperand, TmaOperand> operands);
  void emit(const PersistentTiles &pairs, Value block);

private:
  /// The work of a pair: for each of its tiles an i1, true if the tile exists, and the range [begin, end) of the keys
  /// that its tiles visit. |begin| is rounded down to a multiple of the keys of a stage.
  struct Visit {
    Value hasTile[kConsumers], begin, end;
  };
  tiles::AttentionTileOp cloneAt(QueryTilePair pair, Value tile);
  Visit visit(QueryTilePair pair);
  Values produce(QueryTilePair pair, ValueRange carried);
  Values consume(QueryTilePair pair, ValueRange carried);

  scf::ForallOp before;
  ThreadBuilder &e;
  TmaLoads tma;
  int64_t queryBytes;
  KeyPipeline stages;
  Value thread, group, inGroup, tiles;
};

} // namespace

static int64_t sizeOfQueries(tiles::AttentionTileOp tile) { return cast<MemRefType>(tile.getQuery().getType()).getDimSize(2) * 2 * kRows; }

WarpgroupAttention::WarpgroupAttention(scf::ForallOp before, tiles::AttentionTileOp model, ThreadBuilder &e, Value tiles,
                                       std::pair<TmaOperand, TmaOperand> operands)
    : before(before), e(e), tma(e), queryBytes(sizeOfQueries(model)), stages(model, e, kConsumers, kConsumers * queryBytes, operands),
      thread(e.thread()), group(e.div(thread, kWarpgroup)), inGroup(e.rem(thread, kWarpgroup)), tiles(tiles) {}

/// Clones the attention operation and its operands for query tile |tile| of |pair|'s sequence and group of heads.
tiles::AttentionTileOp WarpgroupAttention::cloneAt(QueryTilePair pair, Value tile) {
  IRMapping map;
  map.map(before.getInductionVars(), ValueRange{pair.sequence, pair.heads, tile});
  tiles::AttentionTileOp clone;
  for (Operation &op : before.getBody()->without_terminator()) {
    Operation *copy = e.clone(op, map);
    if (auto attention = dyn_cast<tiles::AttentionTileOp>(copy))
      clone = attention;
  }
  return clone;
}

WarpgroupAttention::Visit WarpgroupAttention::visit(QueryTilePair pair) {
  Visit visit{};
  Value zero = e.index(0);
  for (int64_t i = 0; i < kConsumers; ++i) {
    Value number = e.add(pair.first, i);
    tiles::AttentionTileOp tile = cloneAt(pair, i == 0 ? number : e.min(number, e.add(tiles, -1)));
    RowAttention rows(tile, e);
    Value count = e.mul(e.size(tile.getQuery(), 0), rows.heads), exists = e.compare(arith::CmpIPredicate::sgt, count, zero);
    Value from = rows.keysOf(rows.rowAt(zero)).first, to = rows.keysOf(rows.rowAt(e.max(e.add(count, -1), zero))).second;
    if (i == 0)
      visit.begin = e.mul(e.div(from, stages.schedule.keys), stages.schedule.keys);
    visit.end = e.max(i == 0 ? zero : visit.end, e.select(exists, to, zero));
    tile.erase();
    // The last tiles of a shorter sequence are empty.
    visit.hasTile[i] = i == 0 ? exists : e.both(exists, e.compare(arith::CmpIPredicate::slt, number, tiles));
  }
  return visit;
}

Values WarpgroupAttention::produce(QueryTilePair pair, ValueRange carried) {
  Visit keys = visit(pair);
  auto some = [&]() -> Values {
    tiles::AttentionTileOp op = cloneAt(pair, pair.first);
    Values after = stages.produce(op, inGroup, keys.begin, keys.end, carried);
    op.erase();
    return after;
  };
  return e.choose(keys.hasTile[0], some, [&] { return Values(carried); });
}

Values WarpgroupAttention::consume(QueryTilePair pair, ValueRange carried) {
  Visit keys = visit(pair);
  auto some = [&]() -> Values {
    // Without a tile of its own, the second consumer computes the first one's; see FlashRows::take.
    Value number = e.add(group, -1), mine = e.either(e.compare(arith::CmpIPredicate::eq, number, 0), keys.hasTile[1]);
    tiles::AttentionTileOp op = cloneAt(pair, e.select(mine, e.add(pair.first, number), pair.first));
    WarpgroupConsumer consumer(op, e, stages, inGroup, e.add(e.mul(number, queryBytes), stages.othersAt()));
    PipelineState place = consumer.run(group, mine, keys.begin, keys.end, tma.unpack(carried[0]));
    op.erase();
    return {tma.pack(place)};
  };
  return e.choose(keys.hasTile[0], some, [&] { return Values(carried); });
}

void WarpgroupAttention::emit(const PersistentTiles &pairs, Value block) {
  stages.allocate(thread);
  e.barrier();
  auto producer = [&]() -> Values {
    tma.setMaxRegisters(stages.schedule.producerRegisters, /*more=*/false);
    e.ifThen(stages.isProducer(inGroup), [&] {
      pairs.forEach(e, block, stages.startProducing(), [&](QueryTilePair pair, ValueRange carried) { return produce(pair, carried); });
    });
    return {};
  };
  auto consumer = [&]() -> Values {
    tma.setMaxRegisters(stages.schedule.consumerRegisters, /*more=*/true);
    pairs.forEach(e, block, tma.initialState(), [&](QueryTilePair pair, ValueRange carried) { return consume(pair, carried); });
    return {};
  };
  e.choose(e.compare(arith::CmpIPredicate::eq, group, 0), producer, consumer);
}

/// Returns the attention operation of |loop|, if the loop has the three dimensions (sequence, group of heads, query
/// tile) and each of its other operations is a memref.load or has no memory effects; else null.
static tiles::AttentionTileOp findAttention(scf::ForallOp loop) {
  tiles::AttentionTileOp tile;
  if (loop.getRank() != 3)
    return {};
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto attention = dyn_cast<tiles::AttentionTileOp>(op); attention && !tile)
      tile = attention;
    else if (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))
      return {};
  }
  return tile;
}

bool attune::isWarpgroupAttention(scf::ForallOp loop) {
  tiles::AttentionTileOp tile = findAttention(loop);
  if (!tile || !isFlashAttention(tile))
    return false;
  if (tile.hasKeyRows() && (!findTmaSource(tile.getKey(), loop) || !findTmaSource(tile.getValue(), loop)))
    return false;
  auto query = cast<MemRefType>(tile.getQuery().getType());
  auto hasSize = [](int64_t size) { return size == 64 || size == 128; };
  // The number of heads of a group must divide the 64 rows of a tile.
  return hasSize(query.getDimSize(2)) && hasSize(tile.getValueDim()) && !query.isDynamicDim(1) && query.getDimSize(1) > 0 &&
         kRows % query.getDimSize(1) == 0;
}

/// Returns the number of groups of heads, over all sequences, whose keys and values have at most |cacheBytes| bytes
/// together, from 1 to |groups|. Assumes that a sequence has as many keys as queries: for each of its |tiles| tiles 64
/// divided by the number of heads of a group.
static Value fitTogether(ThreadBuilder &host, tiles::AttentionTileOp tile, Value groups, Value tiles, int64_t cacheBytes) {
  auto query = cast<MemRefType>(tile.getQuery().getType()), value = cast<MemRefType>(tile.getValue().getType());
  int64_t bytes = (query.getDimSize(2) + tile.getValueDim()) * value.getElementTypeBitWidth() / 8 * (kRows / query.getDimSize(1));
  Value fit = host.div(host.index(cacheBytes), host.max(host.mul(tiles, bytes), host.index(1)));
  return host.max(host.min(fit, groups), host.index(1));
}

scf::ForallOp attune::emitFlashWarpgroups(scf::ForallOp before, int64_t arch, int64_t cacheBytes) {
  ThreadBuilder host(before.getLoc(), before);
  tiles::AttentionTileOp model = findAttention(before);
  std::pair<TmaOperand, TmaOperand> operands;
  if (model.hasKeyRows()) {
    auto make = [&](Value rows) { return createTmaOperand(host, rows, before, getKeyPipelineSchedule(model, 0).keys); };
    operands = {make(model.getKey()), make(model.getValue())};
  }
  auto bounds = llvm::map_to_vector(before.getMixedUpperBound(), [&](OpFoldResult bound) { return host.index(bound); });
  Value tiles = bounds[2], groups = host.mul(bounds[0], bounds[1]);
  // One block fills a multiprocessor; there are two workers for each multiprocessor.
  Value workers = host.div(host.add(rt::WorkerCountOp::create(host), 1), 2);
  PersistentTiles pairs(host, bounds[0], bounds[1], tiles, fitTogether(host, model, groups, tiles, cacheBytes), workers);
  auto loop = scf::ForallOp::create(host, ArrayRef<OpFoldResult>{pairs.blocks}, ValueRange(), std::nullopt);
  constexpr int64_t threads = (kConsumers + 1) * kWarpgroup;
  loop->setAttr(rt::kLaunchAttr, rt::LaunchAttr::get(loop.getContext(), /*grid=*/false, threads, 0, arch, std::nullopt));
  ThreadBuilder e(loop.getLoc(), loop.getBody(), loop.getBody()->begin());
  WarpgroupAttention(before, model, e, tiles, operands).emit(pairs, loop.getInductionVar(0));
  before.erase();
  return loop;
}
