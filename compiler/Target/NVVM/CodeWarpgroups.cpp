//===- CodeWarpgroups.cpp - Projections of codes by warpgroups -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What sm_90a has: products of warpgroups whose operands are in shared memory, and copies of boxes that one thread starts. A block is three
// warpgroups and stays on its multiprocessor, for one tile of 128 x 256 results after the other:
//
//   producer    for each tile, for each stage of 64 components: wait until the stage is empty; copy A and B to it
//   consumers   for each tile, for each stage: wait until it is full; sums += A B; the stage before is empty
//               store the sums, 32 columns at a time, by way of shared memory
//
// so that copies for the next tile are under way while a tile is stored. A is rows of 128 bytes whose chunks have changed places (a
// swizzle), B is cores of 8 columns and 8 components, as weights lie in memory already: [component / 8][column][component % 8]. Rows,
// columns and components that do not exist are copied as 0.
//
// A tile is two iterations of the loop, side by side. Tiles that run together are near each other in both directions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/BoxCopies.h"
#include "compiler/Target/NVVM/CodeBlock.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/RowLimit.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "compiler/Target/NVVM/WholeProjection.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

namespace {

/// Components of a stage, columns of an iteration, consumers, tiles that go down before one goes to the right.
constexpr int64_t kDepth = 64, kHalf = 128, kConsumers = 2, kTogether = 16;
/// Registers of the threads of a producer and of a consumer; 65536 / 384 = 168 is what they start with.
constexpr int64_t kProducerRegisters = 40, kConsumerRegisters = 232;
/// Columns of sums that are stored at once, words that follow a row of them, and sums that a thread stores at once.
constexpr int64_t kSlice = 32, kSlicePadding = 8, kAtOnce = 4;

/// Stores the sums of 64 rows and 32 columns of a clone from where they lie in shared memory.
class SliceStore : CodeBlock {
public:
  SliceStore(const CodeProjection &clone, ThreadEmitter &e, Value thread) : CodeBlock(clone, e.builder, thread, {}) {}
  /// |firstRow| and |firstColumn| are those of the slice in the iteration.
  void emit(Value slice, Value firstRow, Value firstColumn);
};

/// Emits the body of the loop of blocks.
class WarpgroupEmitter {
public:
  WarpgroupEmitter(WholeProjection whole, scf::ForallOp loop, ThreadEmitter &e, int64_t columns, int64_t stages);
  void emit(Value inputMap, Value panelsMap, Value rowTiles, Value columnTiles);

private:
  void allocate();
  void forEachTile(ValueRange initial, llvm::function_ref<Values(Value row, Value column, ValueRange carried)> body);
  void produce(Value inputMap, Value panelsMap);
  void consume();
  Values multiplyStage(ValueRange sums, RingPlace place);
  void releaseStageBefore(RingPlace place);
  void storeTile(Value row, Value column, ValueRange sums);
  void keepSlice(Value slice, ValueRange sums);
  int64_t bytesOfA() const { return kWarpgroupRows * kDepth * 2; }
  int64_t bytesOfB() const { return columns * kDepth * 2; }
  Value stageAt(Value stage) { return e.advance(tiles, e.mul(stage, bytesOfA() + bytesOfB())); }

  WholeProjection whole;
  scf::ForallOp loop;
  ThreadEmitter &e;
  BoxCopies copies;
  WarpgroupProducts products;
  int64_t columns, stages;
  Value thread, group, inGroup, rowTiles, columnTiles;
  /// In shared memory: stages, sums of a slice for each consumer, barriers of full and of empty stages.
  Value tiles, slices, full, empty;
};

} // namespace

void SliceStore::emit(Value slice, Value firstRow, Value firstColumn) {
  Value mine = e.rem(thread, kSlice), at = e.add(firstColumn, mine), lastRow = e.add(rows, -1), lastColumn = e.add(columns, -1);
  Value inside = e.compare(arith::CmpIPredicate::slt, at, columns), beside = e.min(at, lastColumn);
  constexpr int64_t kRowsAtOnce = kWarpgroup / kSlice;
  e.loop(e.div(thread, kSlice), e.index(kProductRows), e.index(kAtOnce * kRowsAtOnce), {}, [&](Value local, ValueRange) -> Values {
    SmallVector<Sum> sums;
    for (int64_t i = 0; i < kAtOnce; ++i) {
      Value down = e.add(local, i * kRowsAtOnce), row = e.add(firstRow, down);
      Value exists = e.both(inside, e.compare(arith::CmpIPredicate::slt, row, rows));
      sums.push_back({exists, e.min(row, lastRow), beside, e.load(slice, {down, mine})});
    }
    storeResult(sums);
    return {};
  });
}

WarpgroupEmitter::WarpgroupEmitter(WholeProjection whole, scf::ForallOp loop, ThreadEmitter &e, int64_t columns, int64_t stages)
    : whole(whole), loop(loop), e(e), copies(e), products(e, whole.projection.element()), columns(columns), stages(stages),
      thread(e.thread()), group(e.div(thread, kWarpgroup)), inGroup(e.rem(thread, kWarpgroup)) {}

void WarpgroupEmitter::allocate() {
  // Swizzled rows are placed by the bits of their addresses: eight of them are 1024 bytes.
  tiles = e.sharedAddress(e.allocateShared(e.builder.getI8Type(), {stages * (bytesOfA() + bytesOfB())}, /*alignment=*/1024));
  slices = e.allocateShared(e.builder.getF32Type(), {kConsumers, kProductRows, kSlice + kSlicePadding});
  full = copies.allocateBarriers(stages);
  empty = copies.allocateBarriers(stages);
  e.ifThen(e.compare(arith::CmpIPredicate::eq, thread, e.index(0)), [&] {
    e.loop(e.index(0), e.index(stages), e.index(1), {}, [&](Value stage, ValueRange) -> Values {
      copies.init(copies.barrierAt(full, stage), 1);
      copies.init(copies.barrierAt(empty, stage), kConsumers);
      return {};
    });
    copies.fenceInit();
  });
  e.barrier();
}

/// A loop over the tiles of this block. |row| and |column| are the tile's first.
void WarpgroupEmitter::forEachTile(ValueRange initial, llvm::function_ref<Values(Value, Value, ValueRange)> body) {
  Value blocks = getValueOrCreateConstantIndexOp(e.builder, e.loc, loop.getMixedUpperBound()[0]);
  e.loop(loop.getInductionVar(0), e.mul(rowTiles, columnTiles), blocks, initial, [&](Value tile, ValueRange carried) {
    Value strip = e.mul(columnTiles, kTogether), above = e.mul(e.div(tile, strip), kTogether), within = e.rem(tile, strip);
    Value height = e.min(e.sub(rowTiles, above), e.index(kTogether));
    Value row = e.add(above, e.rem(within, height)), column = e.div(within, height);
    return body(e.mul(row, kWarpgroupRows), e.mul(column, columns), carried);
  });
}

void WarpgroupEmitter::produce(Value inputMap, Value panelsMap) {
  Value zero = e.index(0), depth = e.index(whole.projection.chunks() * kChunk);
  forEachTile(copies.firstPlace(), [&](Value row, Value column, ValueRange before) -> Values {
    CodeProjection clone = whole.cloneAt(e.builder, row, column);
    Value first = WholeProjection::firstRow(clone, e.builder);
    WholeProjection::erase(clone);
    return e.loop(zero, depth, e.index(kDepth), before, [&](Value k, ValueRange carried) -> Values {
      RingPlace place = copies.unpack(carried[0]);
      Value arrived = copies.barrierAt(full, place.stage), to = stageAt(place.stage);
      copies.wait(copies.barrierAt(empty, place.stage), copies.otherParity(place.parity));
      copies.expect(arrived, bytesOfA() + bytesOfB());
      copies.copy(to, inputMap, arrived, {k, first});
      copies.copy(e.advance(to, e.index(bytesOfA())), panelsMap, arrived, {zero, e.div(column, kCodePanel), e.div(k, kChunk)});
      return {copies.pack(copies.next(place, stages))};
    });
  });
}

/// Starts the products of the stage at |place|, which are added to |sums| unless it is the first of its tile, without any.
Values WarpgroupEmitter::multiplyStage(ValueRange sums, RingPlace place) {
  Value consumer = e.add(group, -1), address = stageAt(place.stage);
  copies.wait(copies.barrierAt(full, place.stage), place.parity);
  Value rowsOfA = e.advance(address, e.mul(consumer, kProductRows * kDepth * 2));
  SharedMatrix a = products.matrix(rowsOfA, {/*isTransposed=*/false, /*isSwizzled=*/true});
  int64_t toNextChunk = columns * kChunkBytes;
  SharedMatrix b =
      products.matrix(e.advance(address, e.index(bytesOfA())), {false, false, /*leading=*/toNextChunk, /*stride=*/8 * kChunkBytes});
  Values after(sums);
  products.fence();
  for (int64_t k = 0; k < kDepth; k += kProductDepth) {
    SharedMatrix rows = a.advance(2 * k), part = b.advance(k / kChunk * toNextChunk);
    after = after.empty() ? products.multiply(columns, rows, part, false) : products.add(after, rows, part, false);
  }
  products.commit();
  return after;
}

/// Gives the producer the stage before |place|, whose products are finished.
void WarpgroupEmitter::releaseStageBefore(RingPlace place) {
  e.ifThen(e.compare(arith::CmpIPredicate::eq, inGroup, e.index(0)), [&] {
    Value isZero = e.compare(arith::CmpIPredicate::eq, place.stage, e.index(0));
    copies.arrive(copies.barrierAt(empty, e.select(isZero, e.index(stages - 1), e.add(place.stage, -1))));
  });
}

/// Writes the columns of |slice| of |sums|, those of half a tile, to where threads find rows of them.
void WarpgroupEmitter::keepSlice(Value slice, ValueRange sums) {
  auto pair = VectorType::get({2}, e.builder.getF32Type());
  Value lane = e.rem(inGroup, kWarp), row = e.add(e.mul(e.div(inGroup, kWarp), 16), e.div(lane, 4)), column = e.mul(e.rem(lane, 4), 2);
  constexpr int64_t kSums = kSlice / 2;
  for (int64_t part = 0; part < kHalf / kSlice; ++part)
    e.ifThen(e.compare(arith::CmpIPredicate::eq, slice, e.index(part)), [&] {
      for (int64_t i = 0; i < kSums; i += 2) {
        Value values = vector::FromElementsOp::create(e.builder, e.loc, pair, sums.slice(part * kSums + i, 2));
        Value at[] = {e.add(group, -1), e.add(row, i % 4 / 2 * 8), e.add(column, i / 4 * 8)};
        vector::StoreOp::create(e.builder, e.loc, values, slices, at);
      }
    });
}

void WarpgroupEmitter::storeTile(Value row, Value column, ValueRange sums) {
  Value consumer = e.add(group, -1), end = getValueOrCreateConstantIndexOp(e.builder, e.loc, whole.loop.getMixedUpperBound()[1]);
  OpFoldResult one = e.builder.getIndexAttr(1), zero = e.builder.getIndexAttr(0);
  Value mine = memref::SubViewOp::create(e.builder, e.loc,
                                         cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
                                             {kProductRows, kSlice}, cast<MemRefType>(slices.getType()), {consumer, zero, zero},
                                             {one, e.builder.getIndexAttr(kProductRows), e.builder.getIndexAttr(kSlice)}, {one, one, one})),
                                         slices, ArrayRef<OpFoldResult>{consumer, zero, zero},
                                         ArrayRef<OpFoldResult>{one, e.builder.getIndexAttr(kProductRows), e.builder.getIndexAttr(kSlice)},
                                         ArrayRef<OpFoldResult>{one, one, one});
  for (int64_t half = 0; half < columns / kHalf; ++half) {
    Value first = e.add(column, half * kHalf);
    e.ifThen(e.compare(arith::CmpIPredicate::slt, first, end), [&] {
      CodeProjection clone = whole.cloneAt(e.builder, row, first);
      SliceStore store(clone, e, inGroup);
      e.loop(e.index(0), e.index(kHalf / kSlice), e.index(1), {}, [&](Value slice, ValueRange) -> Values {
        keepSlice(slice, sums.slice(half * kHalf / 2, kHalf / 2));
        copies.meet(group, kWarpgroup);
        store.emit(mine, e.mul(consumer, kProductRows), e.mul(slice, kSlice));
        copies.meet(group, kWarpgroup);
        return {};
      });
      WholeProjection::erase(clone);
    });
  }
}

void WarpgroupEmitter::consume() {
  Value stageCount = e.index(llvm::divideCeil(whole.projection.chunks() * kChunk, kDepth));
  forEachTile(copies.firstPlace(), [&](Value row, Value column, ValueRange before) -> Values {
    RingPlace first = copies.unpack(before[0]);
    Values carried = multiplyStage({}, first);
    carried.push_back(copies.pack(copies.next(first, stages)));
    // The products of a stage run while the next one's are started.
    carried = e.loop(e.index(1), stageCount, e.index(1), carried, [&](Value, ValueRange before) -> Values {
      RingPlace place = copies.unpack(before.back());
      Values sums = multiplyStage(before.drop_back(), place);
      products.wait(1);
      releaseStageBefore(place);
      sums.push_back(copies.pack(copies.next(place, stages)));
      return sums;
    });
    Values sums = products.wait(0, ValueRange(carried).drop_back());
    releaseStageBefore(copies.unpack(carried.back()));
    storeTile(row, column, sums);
    return {carried.back()};
  });
}

void WarpgroupEmitter::emit(Value inputMap, Value panelsMap, Value ofRows, Value ofColumns) {
  rowTiles = ofRows, columnTiles = ofColumns;
  allocate();
  auto producer = [&]() -> Values {
    copies.setRegisters(kProducerRegisters, /*more=*/false);
    e.ifThen(e.compare(arith::CmpIPredicate::eq, thread, e.index(0)), [&] { produce(inputMap, panelsMap); });
    return {};
  };
  auto consumer = [&]() -> Values {
    copies.setRegisters(kConsumerRegisters, /*more=*/true);
    consume();
    return {};
  };
  e.choose(e.compare(arith::CmpIPredicate::eq, group, e.index(0)), producer, consumer);
}

/// The maps of both matrices, made by the host.
static std::pair<Value, Value> makeMaps(WholeProjection whole, ThreadEmitter &host, int64_t columns) {
  auto map = [&](Value buffer, ValueRange sizes, ValueRange strides, ArrayRef<int64_t> box, int64_t bytes, int64_t swizzle) -> Value {
    return rt::TensorMapOp::create(host.builder, host.loc, LLVM::LLVMPointerType::get(host.builder.getContext()), buffer, sizes, strides,
                                   box, bytes, swizzle);
  };
  // A panel of columns has chunks of its 64 columns and 8 components one after the other, 256 words each.
  constexpr int64_t kChunkWords = kCodePanel * kChunk / 2;
  int64_t chunks = whole.projection.chunks();
  Value depth = host.index(chunks * kChunk), word = host.index(kChunkWords);
  Value input = map(whole.input, {host.size(whole.input, 0), depth}, {depth}, {kWarpgroupRows, kDepth}, 2, 128);
  Value panels = map(whole.panels, {host.index(chunks), host.size(whole.panels, 0), word}, {word, host.index(chunks * kChunkWords)},
                     {kDepth / kChunk, columns / kCodePanel, kChunkWords}, 4, 0);
  return {input, panels};
}

scf::ForallOp attune::emitCodeWarpgroups(WholeProjection whole, int64_t arch, int64_t columns, int64_t stages) {
  scf::ForallOp before = whole.loop;
  OpBuilder builder(before);
  ThreadEmitter host(builder, before.getLoc());
  auto [inputMap, panelsMap] = makeMaps(whole, host, columns);
  auto count = [&](OpFoldResult size, int64_t each) {
    return builder.createOrFold<arith::CeilDivUIOp>(host.loc, getValueOrCreateConstantIndexOp(builder, host.loc, size), host.index(each));
  };
  Value rowTiles = count(before.getMixedUpperBound()[0], kWarpgroupRows), columnTiles = count(before.getMixedUpperBound()[1], columns);
  // A block fills a multiprocessor, and workers are two for each.
  Value most = count(rt::WorkerCountOp::create(builder, host.loc).getResult(), 2), blocks = host.min(host.mul(rowTiles, columnTiles), most);
  auto loop = scf::ForallOp::create(builder, host.loc, ArrayRef<OpFoldResult>{blocks}, ValueRange(), std::nullopt);
  constexpr int64_t threads = (kConsumers + 1) * kWarpgroup;
  loop->setAttr(rt::kLaunchAttr, rt::LaunchAttr::get(loop.getContext(), /*grid=*/false, threads, 0, arch, std::nullopt));
  builder.setInsertionPointToStart(loop.getBody());
  ThreadEmitter e(builder, host.loc);
  if (Value tokens = readTokenCount(before, e))
    rowTiles = e.min(rowTiles, e.div(e.add(tokens, kWarpgroupRows - 1), kWarpgroupRows));
  WarpgroupEmitter(whole, loop, e, columns, stages).emit(inputMap, panelsMap, rowTiles, columnTiles);
  before.erase();
  return loop;
}
