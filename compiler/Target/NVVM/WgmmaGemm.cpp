//===- WgmmaGemm.cpp - Low-precision projections by warpgroups ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Warp-specialized GEMM for sm_90a. Tensor cores need new operands faster than the warps that multiply can fetch them,
// and while a finished tile is stored, tensor cores and loads would be idle. So loads get a warpgroup of their own, one
// of its threads starts TMA loads far ahead, and a block stays on its multiprocessor for one tile of 128 x 256 results
// after another: the next tile's loads are under way while this one is stored.
//
//   shared memory   | A0 B0 | A1 B1 | A2 B2 | A3 B3 |  slices         a stage: 64 components of A (16 KiB) and B (32 KiB)
//                       ^ empty   ^ full                              two mbarriers for each stage
//   WG0, thread 0   for each tile, for each stage: wait `empty`; expect 48 KiB at `full`; TMA A, TMA B
//   WG1  rows 0-63    for each tile, for each stage: wait `full`; sums += A B (wgmma, asynchronous)
//   WG2  rows 64-127                                 the stage before has been read: arrive at its `empty`
//                   after the last stage: sums -> slice of 32 columns in shared memory -> epilogue -> result, 8 times
//
//   time      WG0   | k0 k1 k2 k3 .. kn | k0 k1 k2 k3  ........     runs up to 4 stages ahead, into the next tile
//             WG1,2      | k0 k1 k2 .. kn | store | k0 k1 ..
//
// A in shared memory is rows of 128 bytes with the 128-byte swizzle. B is core matrices of 8 columns x 8 components, in
// the order [component / 8][column][component % 8]. A packed panel has the same order in memory, so TMA copies its
// chunks, 64 columns x 8 components each, as they are. Rows, columns and components that do not exist are loaded as 0.
//
// Invariants. Producer and consumers walk the same series of tiles, so the stages (StageRing) run on across tiles. A
// stage is released when the products of the stage after it have been started and its own have finished (`wait(1)`). A
// tile replaces two neighboring iterations of the original loop, of 128 x 128 results each; the second iteration is
// skipped if its columns do not exist.
//
// If a projection has fewer than 128 tiles of 128 x 128 (`wideBlocks`), a tile is 128 x 64: two iterations of 64 x 64,
// one below the other and one for each consumer, and eight stages of 24 KiB.
//
// Cost. Of the 227 KiB of shared memory that a block may have, the four stages take 48 KiB each and the slices 20 KiB.
// setmaxnreg gives a producing thread 40 registers and a consuming one 232: 128 sums of f32 and the epilogue. The
// products of a stage are 128 x 256 x 64 for 48 KiB of loads.
//
// The first product of a tile ignores the sums instead of adding to zeros, because nothing may write registers between
// the fence and the product (WarpgroupProducts). Clusters are not used, so each block loads all of its operands itself.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/LowPrecisionGemm.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/NVVM/ProjectionLoop.h"
#include "compiler/Target/NVVM/ProjectionStrips.h"
#include "compiler/Target/NVVM/StageRing.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// The components of K in a pipeline stage, and the consumer warpgroups.
constexpr int64_t kDepth = 64, kConsumers = 2;
/// The columns of a slice and the padding words after each of its rows.
constexpr int64_t kSlice = 32, kSlicePadding = 8;

/// Applies the epilogue of a clone to a slice of sums, 64 rows x 32 columns in shared memory, and stores the results.
class SliceStore : LowPrecisionGemm {
public:
  SliceStore(const LowPrecisionProjection &clone, ThreadBuilder &e, Value thread) : LowPrecisionGemm(clone, e, thread, {}) {}
  /// Stores the results of |slice|, whose first element is (|firstRow|, |firstColumn|) of the clone's iteration.
  void emit(Value slice, Value firstRow, Value firstColumn);
};

/// Emits the body of the loop over blocks.
class WgmmaGemmEmitter {
public:
  WgmmaGemmEmitter(ProjectionLoop whole, const ProjectionStrips &strips, ThreadBuilder &e, const WgmmaTile &tile);
  void emit(Value inputMap, Value panelsMap);

private:
  void produce(Value inputMap, Value panelsMap);
  void consume();
  Values multiplyStage(ValueRange sums, PipelineState place);
  void storeTile(Value row, Value column, ValueRange sums);
  void keepSlice(Value slice, ValueRange sums);
  int64_t bytesOfA() const { return kWarpgroupRows * kDepth * 2; }
  int64_t bytesOfB() const { return tile.columns * kDepth * 2; }

  ProjectionLoop whole;
  ThreadBuilder &e;
  WarpgroupProducts products;
  WgmmaTile tile;
  const ProjectionStrips &strips;
  StageRing ring;
  Value group, inGroup;
  /// A slice of sums for each consumer, in shared memory.
  Value slices;
};

} // namespace

void SliceStore::emit(Value slice, Value firstRow, Value firstColumn) {
  static_assert(kProductRows == kSliceRows && kWarpgroup == kBlockThreads);
  storeSlice(firstRow, firstColumn, kSlice, [&](Value down, Value right) { return e.load(slice, {down, right}); });
}

WgmmaGemmEmitter::WgmmaGemmEmitter(ProjectionLoop whole, const ProjectionStrips &strips, ThreadBuilder &e, const WgmmaTile &tile)
    : whole(whole), e(e), products(e, whole.projection.element()), tile(tile), strips(strips),
      ring(e, tile.stages, bytesOfA() + bytesOfB(), kConsumers), group(ring.group), inGroup(ring.inGroup),
      slices(e.allocateShared(e.getF32Type(), {kConsumers, kProductRows, kSlice + kSlicePadding})) {}

void WgmmaGemmEmitter::produce(Value inputMap, Value panelsMap) {
  Value zero = e.index(0), depth = e.index(whole.projection.chunks() * kChunk);
  strips.forEach(e, {ring.begin()}, [&](Value row, Value column, ValueRange before) -> Values {
    LowPrecisionProjection clone = whole.cloneAt(e, row, column);
    Value first = ProjectionLoop::firstRow(clone, e);
    ProjectionLoop::erase(clone);
    return e.loop(zero, depth, e.index(kDepth), before, [&](Value k, ValueRange carried) -> Values {
      PipelineState place = ring.unpack(carried[0]);
      Value to = ring.startFilling(place), arrived = ring.barrierOf(place);
      ring.tma.load(to, inputMap, arrived, {k, first});
      ring.tma.load(e.advance(to, e.index(bytesOfA())), panelsMap, arrived, {zero, e.div(column, kPanelColumns), e.div(k, kChunk)});
      return {ring.after(place)};
    });
  });
}

/// Waits for the stage at |place| and starts its products; returns |sums| plus these products, valid after a wait.
/// |sums| is empty for a tile's first stage.
Values WgmmaGemmEmitter::multiplyStage(ValueRange sums, PipelineState place) {
  Value consumer = e.add(group, -1), address = ring.waitForStage(place);
  Value rowsOfA = e.advance(address, e.mul(consumer, kProductRows * kDepth * 2));
  SharedMatrix a = products.matrix(rowsOfA, {/*isTransposed=*/false, /*isSwizzled=*/true});
  int64_t toNextChunk = tile.columns * kChunkBytes;
  SharedMatrix b =
      products.matrix(e.advance(address, e.index(bytesOfA())), {false, false, /*leading=*/toNextChunk, /*stride=*/8 * kChunkBytes});
  Values after(sums);
  products.fence();
  for (int64_t k = 0; k < kDepth; k += kProductDepth) {
    SharedMatrix rows = a.advance(2 * k), part = b.advance(k / kChunk * toNextChunk);
    after = after.empty() ? products.multiply(tile.columns, rows, part, false) : products.add(after, rows, part, false);
  }
  products.commit();
  return after;
}

/// Writes the sums of slice number |slice|, 32 columns, to shared memory, from where threads read whole rows. |sums| are
/// the thread's sums of the columns of an iteration of the original loop.
void WgmmaGemmEmitter::keepSlice(Value slice, ValueRange sums) {
  auto pair = VectorType::get({2}, e.getF32Type());
  Value lane = e.rem(inGroup, kWarp), row = e.add(e.mul(e.div(inGroup, kWarp), 16), e.div(lane, 4)), column = e.mul(e.rem(lane, 4), 2);
  constexpr int64_t kSums = kSlice / 2;
  for (int64_t part = 0; part < tile.iteration / kSlice; ++part)
    e.ifThen(e.compare(arith::CmpIPredicate::eq, slice, part), [&] {
      for (int64_t i = 0; i < kSums; i += 2) {
        Value values = vector::FromElementsOp::create(e, pair, sums.slice(part * kSums + i, 2));
        Value at[] = {e.add(group, -1), e.add(row, i % 4 / 2 * 8), e.add(column, i / 4 * 8)};
        vector::StoreOp::create(e, values, slices, at);
      }
    });
}

void WgmmaGemmEmitter::storeTile(Value row, Value column, ValueRange sums) {
  Value consumer = e.add(group, -1), end = e.index(whole.loop.getMixedUpperBound()[1]);
  OpFoldResult one = e.getIndexAttr(1), zero = e.getIndexAttr(0);
  Value mine = memref::SubViewOp::create(e,
                                         cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
                                             {kProductRows, kSlice}, cast<MemRefType>(slices.getType()), {consumer, zero, zero},
                                             {one, e.getIndexAttr(kProductRows), e.getIndexAttr(kSlice)}, {one, one, one})),
                                         slices, ArrayRef<OpFoldResult>{consumer, zero, zero},
                                         ArrayRef<OpFoldResult>{one, e.getIndexAttr(kProductRows), e.getIndexAttr(kSlice)},
                                         ArrayRef<OpFoldResult>{one, one, one});
  // Both consumers share an iteration of 128 rows. With iterations of 64 rows each consumer has an iteration of its
  // own.
  Value down = e.mul(consumer, kProductRows), zeroRow = e.index(0);
  bool isShared = tile.iteration == kWarpgroupRows;
  Value firstRow = isShared ? row : e.add(row, down), lastRow = e.index(whole.loop.getMixedUpperBound()[0]);
  for (int64_t right = 0; right < tile.columns; right += tile.iteration) {
    Value first = e.add(column, right);
    Value exists = e.both(e.compare(arith::CmpIPredicate::slt, first, end), e.compare(arith::CmpIPredicate::slt, firstRow, lastRow));
    e.ifThen(exists, [&] {
      LowPrecisionProjection clone = whole.cloneAt(e, firstRow, first);
      SliceStore store(clone, e, inGroup);
      e.loop(e.index(0), e.index(tile.iteration / kSlice), 1, [&](Value slice) {
        keepSlice(slice, sums.slice(right / 2, tile.iteration / 2));
        ring.tma.namedBarrier(group, kWarpgroup);
        store.emit(mine, isShared ? down : zeroRow, e.mul(slice, kSlice));
        ring.tma.namedBarrier(group, kWarpgroup);
      });
      ProjectionLoop::erase(clone);
    });
  }
}

void WgmmaGemmEmitter::consume() {
  Value stageCount = e.index(llvm::divideCeil(whole.projection.chunks() * kChunk, kDepth));
  strips.forEach(e, {ring.begin()}, [&](Value row, Value column, ValueRange before) -> Values {
    PipelineState first = ring.unpack(before[0]);
    Values carried = multiplyStage({}, first);
    carried.push_back(ring.after(first));
    // The products of a stage run while those of the next one are started.
    carried = e.loop(e.index(1), stageCount, e.index(1), carried, [&](Value, ValueRange before) -> Values {
      PipelineState place = ring.unpack(before.back());
      Values sums = multiplyStage(before.drop_back(), place);
      products.wait(1);
      ring.release(ring.stageBefore(place));
      sums.push_back(ring.after(place));
      return sums;
    });
    Values sums = products.wait(0, ValueRange(carried).drop_back());
    ring.release(ring.stageBefore(ring.unpack(carried.back())));
    storeTile(row, column, sums);
    return {carried.back()};
  });
}

void WgmmaGemmEmitter::emit(Value inputMap, Value panelsMap) {
  ring.run([&] { produce(inputMap, panelsMap); }, [&] { consume(); });
}

/// Creates on the host the TMA descriptors of both matrices, for tiles of |columns| columns.
static std::pair<Value, Value> makeMaps(ProjectionLoop whole, ThreadBuilder &host, int64_t columns) {
  auto map = [&](Value buffer, ValueRange sizes, ValueRange strides, ArrayRef<int64_t> box, int64_t bytes, int64_t swizzle) -> Value {
    return rt::TensorMapOp::create(host, LLVM::LLVMPointerType::get(host.getContext()), buffer, sizes, strides, box, bytes, swizzle);
  };
  // A panel of 64 columns is a series of chunks of 64 columns x 8 components, 256 words each.
  constexpr int64_t kChunkWords = kPanelColumns * kChunk / 2;
  int64_t chunks = whole.projection.chunks();
  Value depth = host.index(chunks * kChunk), word = host.index(kChunkWords);
  Value input = map(whole.input, {host.size(whole.input, 0), depth}, {depth}, {kWarpgroupRows, kDepth}, 2, 128);
  Value panels = map(whole.panels, {host.index(chunks), host.size(whole.panels, 0), word}, {word, host.index(chunks * kChunkWords)},
                     {kDepth / kChunk, columns / kPanelColumns, kChunkWords}, 4, 0);
  return {input, panels};
}

scf::ForallOp attune::emitWgmmaGemm(ProjectionLoop whole, int64_t arch, const WgmmaTile &tile) {
  scf::ForallOp before = whole.loop;
  ThreadBuilder host(before.getLoc(), before);
  auto [inputMap, panelsMap] = makeMaps(whole, host, tile.columns);
  ProjectionStrips strips(host, before, tile.columns, (kConsumers + 1) * kWarpgroup, arch);
  ThreadBuilder e = strips.bodyBuilder();
  WgmmaGemmEmitter(whole, strips, e, tile).emit(inputMap, panelsMap);
  before.erase();
  return strips.getLoop();
}
