//===- FlashWarpgroups.cpp - Attention by warpgroups -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attention as in FlashAttention.cpp, by what sm_90a has. A block is three warpgroups and makes two tiles of queries that are neighbours
// and see the same keys:
//
//   producer    for each 64 keys: wait until their stage is empty; keys and values to it, rounded
//   consumers   a tile each, for each 64 keys: S = Q K with Q in registers; weights; O += P V with P in registers
//
// While one consumer computes weights, the other multiplies. Keys and values are f32 in memory, so threads bring them, not copies of boxes.
// Both lie as rows of 128 bytes whose chunks have changed places: of a component for 64 keys, and of a key for 64 components.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/FlashWarpgroups.h"
#include "compiler/Target/NVVM/BoxCopies.h"
#include "compiler/Target/NVVM/FlashRows.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ThreadLoops.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

namespace {

/// Keys of a stage, stages, consumers, rows of one.
constexpr int64_t kKeys = kFlashKeys, kStages = 2, kConsumers = 2, kRows = 64;
/// Registers of the threads of a producer and of a consumer.
constexpr int64_t kProducerRegisters = 80, kConsumerRegisters = 208;
/// Bytes of a row in shared memory, and chunks that a thread loads before it stores the first.
constexpr int64_t kRowBytes = 128, kAtOnce = 4;

/// Emits the body of the loop of blocks.
class WarpgroupAttention {
public:
  WarpgroupAttention(scf::ForallOp before, scf::ForallOp loop, ThreadEmitter &e, Value tiles);
  void emit();

private:
  /// Stages of one operand in shared memory, and the barriers of those that are full and that are empty.
  struct Ring {
    Value data, full, empty;
    int64_t bytes;
  };
  Ring allocate(int64_t bytes);
  xfmr::AttentionTileOp cloneAt(Value tile);
  Value stageOf(const Ring &ring, RingPlace place) { return e.add(ring.data, e.mul(place.stage, ring.bytes)); }
  std::pair<Value, Value> visitedKeys();
  void copyRows(Value to, Value from, ArrayRef<Value> first, Value count, int64_t rows, int64_t columns);
  void storeChunk(Value to, Value number, ValueRange elements, int64_t rows, int64_t columns);
  void produce(Value begin, Value end);
  void consume(Value begin, Value end);
  Values step(FlashRows &own, Value key, ValueRange carried, RingPlace place);
  void release(const Ring &ring, RingPlace place);

  scf::ForallOp before, loop;
  ThreadEmitter &e;
  BoxCopies copies;
  Value thread, group, inGroup, tiles, first, hasTile[kConsumers];
  /// All bytes of the operands.
  Value words;
  /// The tile of the first consumer, which also says what the producer brings.
  xfmr::AttentionTileOp model;
  Ring keys, values;
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

WarpgroupAttention::Ring WarpgroupAttention::allocate(int64_t bytes) {
  Ring ring;
  ring.bytes = bytes;
  ring.full = copies.allocateBarriers(kStages);
  ring.empty = copies.allocateBarriers(kStages);
  for (int64_t stage = 0; stage < kStages; ++stage)
    e.ifThen(e.compare(arith::CmpIPredicate::eq, thread, e.index(0)), [&] {
      copies.init(copies.barrierAt(ring.full, e.index(stage)), kWarpgroup);
      copies.init(copies.barrierAt(ring.empty, e.index(stage)), kConsumers);
    });
  return ring;
}

/// The keys that both tiles visit, from a multiple of a stage's on.
std::pair<Value, Value> WarpgroupAttention::visitedKeys() {
  Value zero = e.index(0), begin, end;
  for (int64_t i = 0; i < kConsumers; ++i) {
    xfmr::AttentionTileOp tile = i == 0 ? model : cloneAt(e.min(e.add(first, i), e.add(tiles, -1)));
    RowAttention rows(tile, e);
    Value count = e.mul(e.size(tile.getQuery(), 0), rows.heads), exists = e.compare(arith::CmpIPredicate::sgt, count, zero);
    Value from = rows.keysOf(rows.rowAt(zero)).first, to = rows.keysOf(rows.rowAt(e.max(e.add(count, -1), zero))).second;
    begin = begin ? begin : from;
    end = e.max(end ? end : zero, e.select(exists, to, zero));
    if (i != 0)
      tile.erase();
    // Of the tiles of a shorter sequence the last are empty.
    hasTile[i] = i == 0 ? exists : e.both(exists, e.compare(arith::CmpIPredicate::slt, e.add(first, i), tiles));
  }
  return {e.mul(e.div(begin, kKeys), kKeys), end};
}

/// Rounds and stores |elements|, chunk number |number| of a matrix of |rows| rows, in blocks of 64 columns, to |to|.
void WarpgroupAttention::storeChunk(Value to, Value number, ValueRange elements, int64_t rows, int64_t columns) {
  TensorCores cores(e, model.getPrecision() == xfmr::Precision::F16 ? Type(e.builder.getF16Type()) : Type(e.builder.getBF16Type()));
  Values packed;
  for (int64_t i = 0; i < kChunk; i += 2)
    packed.push_back(cores.pack(elements[i], elements[i + 1]));
  Value row = e.div(number, columns / kChunk), chunk = e.rem(number, columns / kChunk);
  Value block = e.div(chunk, 8), swapped = arith::XOrIOp::create(e.builder, e.loc, e.rem(chunk, 8), e.rem(row, 8));
  Value at = e.add(e.add(e.mul(block, rows * kRowBytes), e.mul(row, kRowBytes)), e.mul(swapped, kChunkBytes));
  auto type = VectorType::get({kChunk / 2}, e.builder.getI32Type());
  vector::StoreOp::create(e.builder, e.loc, vector::FromElementsOp::create(e.builder, e.loc, type, packed), words, e.div(e.add(to, at), 4));
}

/// Copies |count| rows of |from|, whose first is |first|, rounded; zeros behind them up to |rows|.
void WarpgroupAttention::copyRows(Value to, Value from, ArrayRef<Value> first, Value count, int64_t rows, int64_t columns) {
  int64_t perRow = columns / kChunk, total = rows * perRow;
  Value wide = isAligned(e, from);
  auto placeOf = [&](Value number) {
    SmallVector<Value> at(first);
    at.back() = e.add(at.back(), e.div(number, perRow));
    return at;
  };
  auto columnOf = [&](Value number) { return e.mul(e.rem(number, perRow), kChunk); };
  auto whole = [&]() -> Values {
    e.loop(inGroup, e.index(total), e.index(kAtOnce * kWarpgroup), {}, [&](Value number, ValueRange) -> Values {
      SmallVector<Values> loaded;
      for (int64_t i = 0; i < kAtOnce; ++i) {
        Value mine = e.add(number, i * kWarpgroup);
        loaded.push_back(loadAlignedEight(e, from, placeOf(mine), columnOf(mine)));
      }
      for (int64_t i = 0; i < kAtOnce; ++i)
        storeChunk(to, e.add(number, i * kWarpgroup), loaded[i], rows, columns);
      return {};
    });
    return {};
  };
  auto part = [&]() -> Values {
    e.loop(inGroup, e.index(total), e.index(kWarpgroup), {}, [&](Value number, ValueRange) -> Values {
      Values elements = e.choose(
          e.compare(arith::CmpIPredicate::slt, e.div(number, perRow), count),
          [&] { return loadEight(e, from, placeOf(number), columns, columnOf(number), wide); }, [&] { return Values(kChunk, e.f32(0.0)); });
      storeChunk(to, number, elements, rows, columns);
      return {};
    });
    return {};
  };
  e.choose(e.both(wide, e.compare(arith::CmpIPredicate::sge, count, e.index(rows))), whole, part);
}

void WarpgroupAttention::produce(Value begin, Value end) {
  Value zero = e.index(0), keyCount = e.size(model.getValue(), 0);
  int64_t headDim = cast<MemRefType>(model.getQuery().getType()).getDimSize(2),
          valueDim = cast<MemRefType>(model.getValue().getType()).getDimSize(1);
  e.loop(begin, end, e.index(kKeys), {zero, zero}, [&](Value key, ValueRange carried) -> Values {
    RingPlace place{carried[0], carried[1]};
    auto fill = [&](const Ring &ring, llvm::function_ref<void(Value to)> copy) {
      copies.wait(copies.barrierAt(ring.empty, place.stage), copies.otherParity(place.parity));
      copy(stageOf(ring, place));
      copies.fenceWrites();
      copies.arrive(copies.barrierAt(ring.full, place.stage));
    };
    fill(keys, [&](Value to) { copyRows(to, model.getKey(), {e.div(key, kKeys), zero}, e.index(headDim), headDim, kKeys); });
    fill(values, [&](Value to) { copyRows(to, model.getValue(), {key}, e.sub(keyCount, key), kKeys, valueDim); });
    place = copies.next(place, kStages);
    return {place.stage, place.parity};
  });
}

/// This consumer needs the stage at |place| no more.
void WarpgroupAttention::release(const Ring &ring, RingPlace place) {
  e.ifThen(e.compare(arith::CmpIPredicate::eq, inGroup, e.index(0)), [&] { copies.arrive(copies.barrierAt(ring.empty, place.stage)); });
}

Values WarpgroupAttention::step(FlashRows &own, Value key, ValueRange carried, RingPlace place) {
  Type element = own.cores.elementType();
  WarpgroupProducts products(e, element);
  Value base = e.sharedAddress(words);
  auto matrixOf = [&](const Ring &ring, int64_t rows) {
    return products.matrix(e.advance(base, stageOf(ring, place)),
                           {/*isTransposed=*/true, /*isSwizzled=*/true, rows * kRowBytes, 8 * kRowBytes});
  };
  copies.wait(copies.barrierAt(keys.full, place.stage), place.parity);
  Value matrix = matrixOf(keys, own.headDim);
  Values scores(kKeys / 2, e.f32(0.0)), next(carried);
  products.fence();
  for (int64_t d = 0; d < own.headDim; d += kProductDepth)
    scores = products.multiply(scores, ValueRange(own.queries).slice(d / 4, 4), products.advance(matrix, d * kRowBytes), true,
                               d == 0 ? e.no() : e.yes());
  products.commit();
  scores = products.wait(0, scores);
  release(keys, place);
  own.weigh(key, scores, next);
  copies.wait(copies.barrierAt(values.full, place.stage), place.parity);
  matrix = matrixOf(values, kKeys);
  Values sums(ArrayRef(next).drop_front(4));
  SmallVector<Values> weights;
  for (int64_t i = 0; i < kKeys; i += kProductDepth)
    weights.push_back(own.operand(scores, i));
  products.fence();
  for (int64_t i = 0; i < kKeys; i += kProductDepth)
    sums = products.multiply(sums, weights[i / kProductDepth], products.advance(matrix, i * kRowBytes), true, e.yes());
  products.commit();
  sums = products.wait(0, sums);
  release(values, place);
  llvm::copy(sums, next.begin() + 4);
  return next;
}

void WarpgroupAttention::consume(Value begin, Value end) {
  // Without a tile of its own, the second consumer makes the first one's and keeps it.
  Value isFirst = e.compare(arith::CmpIPredicate::eq, group, e.index(1)), mine = e.either(isFirst, hasTile[1]), zero = e.index(0);
  xfmr::AttentionTileOp op = cloneAt(e.select(mine, e.add(first, e.add(group, -1)), first));
  Value lane = e.rem(inGroup, kWarp), warp = e.div(inGroup, kWarp);
  FlashRows own(op, e, lane);
  own.take(e.mul(warp, 16), mine);
  Values carried = own.initial();
  carried.push_back(zero), carried.push_back(zero);
  carried = e.loop(begin, end, e.index(kKeys), carried, [&](Value key, ValueRange before) -> Values {
    RingPlace place{before[before.size() - 2], before.back()};
    Values next = step(own, key, before.drop_back(2), place);
    place = copies.next(place, kStages);
    next.push_back(place.stage), next.push_back(place.parity);
    return next;
  });
  own.finish(ValueRange(carried).drop_back(2), [&] { copies.meet(group, kWarpgroup); });
  op.erase();
}

void WarpgroupAttention::emit() {
  model = cloneAt(first);
  int64_t keyBytes = cast<MemRefType>(model.getQuery().getType()).getDimSize(2) * kRowBytes;
  int64_t valueBytes = cast<MemRefType>(model.getValue().getType()).getDimSize(1) * kKeys * 2;
  words = e.allocateShared(e.builder.getI32Type(), {kStages * (keyBytes + valueBytes) / 4}, /*alignment=*/1024);
  keys = allocate(keyBytes), values = allocate(valueBytes);
  keys.data = e.index(0), values.data = e.index(kStages * keyBytes);
  copies.fenceInit();
  e.barrier();
  Value begin, end;
  std::tie(begin, end) = visitedKeys();
  auto producer = [&]() -> Values {
    copies.setRegisters(kProducerRegisters, /*more=*/false);
    produce(begin, end);
    return {};
  };
  auto consumer = [&]() -> Values {
    copies.setRegisters(kConsumerRegisters, /*more=*/true);
    consume(begin, end);
    return {};
  };
  e.ifThen(hasTile[0], [&] { e.choose(e.compare(arith::CmpIPredicate::eq, group, e.index(0)), producer, consumer); });
  model.erase();
}

bool attune::isWarpgroupAttention(scf::ForallOp loop) {
  if (loop.getRank() != 3)
    return false;
  xfmr::AttentionTileOp tile;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto attention = dyn_cast<xfmr::AttentionTileOp>(op); attention && !tile)
      tile = attention;
    else if (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))
      return false;
  }
  if (!tile || !isFlashAttention(tile))
    return false;
  auto query = cast<MemRefType>(tile.getQuery().getType()), value = cast<MemRefType>(tile.getValue().getType());
  auto hasSize = [](int64_t size) { return size == 64 || size == 128; };
  // A tile has as many rows as make up 64 with the heads that share it.
  return hasSize(query.getDimSize(2)) && hasSize(value.getDimSize(1)) && !query.isDynamicDim(1) && kRows % query.getDimSize(1) == 0;
}

scf::ForallOp attune::emitFlashWarpgroups(scf::ForallOp before, int64_t arch) {
  OpBuilder builder(before);
  ThreadEmitter host(builder, before.getLoc());
  SmallVector<OpFoldResult> bounds = before.getMixedUpperBound();
  Value tiles = getValueOrCreateConstantIndexOp(builder, host.loc, bounds[2]);
  bounds[2] = builder.createOrFold<arith::CeilDivUIOp>(host.loc, tiles, host.index(kConsumers));
  auto loop = scf::ForallOp::create(builder, host.loc, bounds, ValueRange(), std::nullopt);
  loop->setAttr(kGpuAttr, builder.getI64IntegerAttr(arch));
  loop->setAttr(kThreadsAttr, builder.getI64IntegerAttr((kConsumers + 1) * kWarpgroup));
  builder.setInsertionPointToStart(loop.getBody());
  ThreadEmitter e(builder, host.loc);
  WarpgroupAttention(before, loop, e, tiles).emit();
  before.erase();
  return loop;
}
