//===- MmaGemm.cpp - Low-precision projections in tiles by mma ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The GEMM of sm_80 for the variants Large and Small: four warps compute a tile of 128 x 128 or 64 x 64 results. K is
// split into stages of 32 components. While one stage is multiplied, cp.async, which bypasses registers, copies the
// next three to shared memory:
//
//   wait for the oldest stage; barrier
//   start to copy the stage that replaces the one multiplied last
//   sums += A B                          fragments by ldmatrix
//
// A stage has chunks of 8 neighboring components: those of the rows of A as [chunk][row], those of the columns of B as
// [chunk][column]. Neighboring threads copy the four chunks of a row of A. Two rows of padding after the rows of each
// chunk put the writes of these threads into different banks. At the end the sums are stored to the same shared memory,
// 64 rows at a time, and read from there for the epilogue, so that neighboring threads store neighboring columns of the
// result.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/LowPrecisionGemm.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

constexpr int64_t kThreads = kBlockThreads;
/// The number of chunks of K in a stage, of padding rows after the rows of A in each chunk, of rows of sums that are in
/// shared memory at once, and of padding words after each row of sums.
constexpr int64_t kDepth = 4, kRowPadding = 2, kSumRows = kSliceRows, kSumPadding = 8;

/// The rows and columns of a tile and of a warp's part of the tile, and the number of stages in shared memory.
struct TileShape {
  int64_t rows, columns, warpRows, warpColumns, stages;

  int64_t strideOfA() const { return (rows + kRowPadding) * kChunkBytes; }
  int64_t strideOfB() const { return columns * kChunkBytes; }
  int64_t stageBytes() const { return kDepth * (strideOfA() + strideOfB()); }
  int64_t sumStride() const { return columns + kSumPadding; }
  int64_t words() const { return std::max(stages * stageBytes() / 4, kSumRows * sumStride()); }
};
constexpr TileShape kWide{128, 128, 64, 64, 4}, kNarrow{64, 64, 32, 32, 4};

/// Emits the code of one thread for a projection in tiles of |shape|.
class TileEmitter : LowPrecisionGemm {
public:
  TileEmitter(const LowPrecisionProjection &projection, const TileShape &shape, ThreadBuilder &e, Value thread)
      : LowPrecisionGemm(projection, e, thread, {shape.words()}), shape(shape) {}
  void emit();

private:
  void emitTile();
  void copyStage(Value slot, Value chunk);
  Values multiplyStage(Value slot, Values sums);
  void storeSums(ValueRange sums);
  void storeRows(Value first);
  /// Return the first row and the first column of the warp's part of the tile.
  Value rowOfWarp() { return e.mul(e.div(warp, shape.columns / shape.warpColumns), shape.warpRows); }
  Value columnOfWarp() { return e.mul(e.rem(warp, shape.columns / shape.warpColumns), shape.warpColumns); }
  Value next(Value slot) {
    Value one = e.add(slot, 1);
    return e.select(e.compare(arith::CmpIPredicate::eq, one, shape.stages), e.index(0), one);
  }

  TileShape shape;
  /// The first row and the first column of the current tile.
  Value row, column;
};

} // namespace

void TileEmitter::emit() {
  e.loop(e.index(0), rows, shape.rows, [&](Value first) {
    row = first;
    e.loop(e.index(0), columns, shape.columns, [&](Value first) {
      column = first;
      emitTile();
    });
  });
}

/// Starts to copy kDepth chunks of K, from |chunk| on, of the tile's rows and columns to stage |slot|. Chunks, rows and
/// columns that do not exist become zeros.
void TileEmitter::copyStage(Value slot, Value chunk) {
  Value a = e.advance(e.addressOf(shared, e.index(0)), e.mul(slot, shape.stageBytes()));
  Value b = e.advance(a, e.index(kDepth * shape.strideOfA()));
  auto less = [&](Value x, Value y) { return e.compare(arith::CmpIPredicate::slt, x, y); };
  Value place = e.rem(thread, kDepth), at = e.add(chunk, place), exists = less(at, e.index(chunks));
  for (int64_t i = 0; i < shape.rows * kDepth / kThreads; ++i) {
    Value local = e.add(e.div(thread, kDepth), i * (kThreads / kDepth)), from = e.add(row, local);
    Value to = e.advance(a, e.add(e.mul(place, shape.strideOfA()), e.mul(local, kChunkBytes)));
    cores.copyChunk(to, e.addressOf(input, {from, e.mul(at, kChunk)}), e.both(exists, less(from, rows)));
  }
  for (int64_t i = 0; i < shape.columns * kDepth / kThreads; ++i) {
    Value number = e.add(thread, i * kThreads), local = e.rem(number, shape.columns), place = e.div(number, shape.columns);
    Value from = e.add(column, local), at = e.add(chunk, place);
    Value to = e.advance(b, e.add(e.mul(place, shape.strideOfB()), e.mul(local, kChunkBytes)));
    Value address = e.addressOf(panels, {e.div(from, kPanelColumns), at, e.rem(from, kPanelColumns), e.index(0)});
    cores.copyChunk(to, address, e.both(less(at, e.index(chunks)), less(from, columns)));
  }
}

/// Returns |sums| plus the products of stage |slot|.
Values TileEmitter::multiplyStage(Value slot, Values sums) {
  Value a = e.advance(e.addressOf(shared, e.index(0)), e.mul(slot, shape.stageBytes()));
  Value b = e.advance(a, e.index(kDepth * shape.strideOfA()));
  a = e.advance(a, e.add(cores.rowOfA(lane, shape.strideOfA()), e.mul(rowOfWarp(), kChunkBytes)));
  b = e.advance(b, e.add(cores.rowOfB(lane, shape.strideOfB()), e.mul(columnOfWarp(), kChunkBytes)));
  for (int64_t chunk = 0; chunk < kDepth; chunk += 2) {
    SmallVector<Values> rowsOf, columnsOf;
    for (int64_t i = 0; i < shape.warpRows; i += 16)
      rowsOf.push_back(cores.loadMatrices(e.advance(a, e.index(chunk * shape.strideOfA() + i * kChunkBytes))));
    for (int64_t j = 0; j < shape.warpColumns; j += 16)
      columnsOf.push_back(cores.loadMatrices(e.advance(b, e.index(chunk * shape.strideOfB() + j * kChunkBytes))));
    size_t at = 0;
    for (const Values &left : rowsOf)
      for (const Values &right : columnsOf)
        for (int64_t half = 0; half < 4; half += 2, at += 4) {
          Values product = cores.multiply(left, ArrayRef(right).slice(half, 2), ArrayRef(sums).slice(at, 4));
          llvm::copy(product, sums.begin() + at);
        }
  }
  return sums;
}

void TileEmitter::emitTile() {
  Value zero = e.index(0);
  int64_t ahead = shape.stages - 1;
  for (int64_t stage = 0; stage < ahead; ++stage) {
    copyStage(e.index(stage), e.index(stage * kDepth));
    cores.commitCopies();
  }
  Values carried(shape.warpRows * shape.warpColumns / kWarp, e.f32(0.0));
  carried.push_back(zero), carried.push_back(e.index(ahead));
  carried = e.loop(zero, e.index(chunks), e.index(kDepth), carried, [&](Value chunk, ValueRange before) -> Values {
    Value read = before[before.size() - 2], written = before.back();
    cores.waitForCopies(ahead - 1);
    e.barrier();
    copyStage(written, e.add(chunk, ahead * kDepth));
    cores.commitCopies();
    Values sums = multiplyStage(read, Values(before.drop_back(2)));
    sums.push_back(next(read)), sums.push_back(next(written));
    return sums;
  });
  cores.waitForCopies(0);
  e.barrier();
  storeSums(ValueRange(carried).drop_back(2));
}

void TileEmitter::storeSums(ValueRange sums) {
  auto pair = VectorType::get({2}, e.getF32Type());
  e.loop(e.index(0), e.index(shape.rows), kSumRows, [&](Value first) {
    Value mine = e.compare(arith::CmpIPredicate::eq, e.div(rowOfWarp(), kSumRows), e.div(first, kSumRows));
    e.ifThen(mine, [&] {
      Value local = e.add(e.rem(rowOfWarp(), kSumRows), e.div(lane, 4)), at = e.add(columnOfWarp(), e.mul(e.rem(lane, 4), 2));
      for (size_t i = 0; i < sums.size(); i += 2) {
        int64_t tile = i / 4, down = tile / (shape.warpColumns / 8) * 16 + i % 4 / 2 * 8, right = tile % (shape.warpColumns / 8) * 8;
        Value values = vector::FromElementsOp::create(e, pair, ValueRange{sums[i], sums[i + 1]});
        Value place = e.add(e.mul(e.add(local, down), shape.sumStride()), e.add(at, right));
        vector::StoreOp::create(e, values, shared, place);
      }
    });
    e.barrier();
    storeRows(first);
    e.barrier();
  });
}

/// Applies the epilogue to kSumRows rows of the tile, from its row |first| on, whose sums are in shared memory, and
/// stores the results.
void TileEmitter::storeRows(Value first) {
  storeSlice(e.add(row, first), column, shape.columns,
             [&](Value down, Value right) { return e.load(shared, e.add(e.mul(down, shape.sumStride()), right)); });
}

void attune::emitMmaGemm(const LowPrecisionProjection &projection, GemmVariant variant, ThreadBuilder &e, const ThreadLoops &loops) {
  TileEmitter(projection, variant == GemmVariant::Large ? kWide : kNarrow, e, loops.thread).emit();
}
