//===- FlashAttention.cpp - Attention by tensor cores ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A warp has 16 rows (pairs of a query and a head), a block 64. Queries stay in registers as operands. For 64 keys at a time the block
// copies keys and values, rounded, to shared memory; then each warp, with running maximum m, sum l and result O,
//
//   S  = Q K                  16 x 64, in registers: lane 4 g + t has rows g and g + 8, columns 2t, 2t + 1 of every eight
//   S  = score(S)             scale, masks and biases, for each element as in every other form (RowAttention)
//   m' = max(m, S)  P = 2^(S - m')  l = l 2^(m - m') + P  O = O 2^(m - m') + P V
//
// The sums S are, once rounded, the operand P: they never leave their lanes. Rows of both tiles in shared memory are an odd number of
// chunks apart, so `ldmatrix` finds 8 of them in different banks. Few rows, as in decoding, are warps' work one by one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/FlashRows.h"
#include "compiler/Target/NVVM/WarpAttention.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

namespace {

/// Rows of a block, keys of a step, and rows that are few.
constexpr int64_t kRows = 64, kKeys = kFlashKeys, kFewRows = 4;

/// Emits one tile.
class FlashAttention {
public:
  FlashAttention(xfmr::AttentionTileOp op, ThreadEmitter &e, const ThreadLoops &loops);
  void emit();

private:
  /// A matrix in shared memory: rows of chunks.
  struct Matrix {
    Value words;
    int64_t rows, columns;
    int64_t strideBytes() const { return (columns / kChunk + 1) * kChunkBytes; }
  };
  Matrix allocate(int64_t rows, int64_t columns);
  void emitTile(Value first);
  void copyRows(const Matrix &to, Value from, ArrayRef<Value> first, Value count, int64_t columns);
  Values multiplyKeys();
  Values step(Value begin, ValueRange carried);
  void addValues(ArrayRef<Value> weights, MutableArrayRef<Value> sums);

  xfmr::AttentionTileOp op;
  ThreadEmitter &e;
  const ThreadLoops &loops;
  Value lane, warp;
  FlashRows own;
  TensorCores &cores;
  Matrix keys, values;
};

} // namespace

FlashAttention::FlashAttention(xfmr::AttentionTileOp op, ThreadEmitter &e, const ThreadLoops &loops)
    : op(op), e(e), loops(loops), lane(e.rem(loops.thread, kWarp)), warp(e.div(loops.thread, kWarp)), own(op, e, lane), cores(own.cores),
      keys(allocate(llvm::alignTo(own.headDim, 16), kKeys)), values(allocate(kKeys, llvm::alignTo(own.valueDim, 16))) {}

FlashAttention::Matrix FlashAttention::allocate(int64_t rows, int64_t columns) {
  Matrix matrix{{}, rows, columns};
  matrix.words = e.allocateShared(e.builder.getI32Type(), {rows * matrix.strideBytes() / 4});
  return matrix;
}

void FlashAttention::emit() {
  auto few = [&]() -> Values {
    WarpAttention(op, e).run(loops);
    return {};
  };
  auto many = [&]() -> Values {
    e.loop(e.index(0), own.count, e.index(kRows), {}, [&](Value first, ValueRange) -> Values {
      emitTile(first);
      return {};
    });
    return {};
  };
  e.choose(e.compare(arith::CmpIPredicate::sle, own.count, e.index(kFewRows)), few, many);
}

/// Copies |count| rows of |from|, whose first is |first|, of |columns| columns, rounded; zeros around them.
void FlashAttention::copyRows(const Matrix &to, Value from, ArrayRef<Value> first, Value count, int64_t columns) {
  int64_t chunks = to.columns / kChunk;
  Value wide = isAligned(e, from);
  e.loop(loops.thread, e.index(to.rows * chunks), e.index(loops.threads), {}, [&](Value number, ValueRange) -> Values {
    Value local = e.div(number, chunks), chunk = e.rem(number, chunks);
    SmallVector<Value> at(first);
    at.back() = e.add(at.back(), local);
    Values elements = e.choose(
        e.compare(arith::CmpIPredicate::slt, local, count), [&] { return loadEight(e, from, at, columns, e.mul(chunk, kChunk), wide); },
        [&] { return Values(kChunk, e.f32(0.0)); });
    Values words;
    for (int64_t i = 0; i < kChunk; i += 2)
      words.push_back(cores.pack(elements[i], elements[i + 1]));
    auto type = VectorType::get({kChunk / 2}, e.builder.getI32Type());
    Value place = e.add(e.mul(local, to.strideBytes() / 4), e.mul(chunk, kChunkBytes / 4));
    vector::StoreOp::create(e.builder, e.loc, vector::FromElementsOp::create(e.builder, e.loc, type, words), to.words, place);
    return {};
  });
}

Values FlashAttention::multiplyKeys() {
  Values sums(kKeys / 8 * 4, e.f32(0.0));
  Value base = cores.addressOf(keys.words, e.index(0));
  base = cores.advance(base, cores.rowOfTransposed(lane, keys.strideBytes()));
  for (int64_t d = 0; d < keys.rows; d += 16)
    for (int64_t key = 0; key < kKeys; key += 16) {
      Value at = e.index(d * keys.strideBytes() + key / kChunk * kChunkBytes);
      Values words = cores.loadMatrices(cores.advance(base, at), /*transposed=*/true);
      for (int64_t half = 0; half < 2; ++half) {
        int64_t first = (key / 8 + half) * 4;
        Values product =
            cores.multiply(ArrayRef(own.queries).slice(d / 16 * 4, 4), ArrayRef(words).slice(2 * half, 2), ArrayRef(sums).slice(first, 4));
        llvm::copy(product, sums.begin() + first);
      }
    }
  return sums;
}

/// |sums| and the products of |weights|, as multiplyKeys has them, and the values in shared memory.
void FlashAttention::addValues(ArrayRef<Value> weights, MutableArrayRef<Value> sums) {
  Value base = cores.addressOf(values.words, e.index(0));
  base = cores.advance(base, cores.rowOfTransposed(lane, values.strideBytes()));
  for (int64_t key = 0; key < kKeys; key += 16) {
    Values a = own.operand(weights, key);
    for (int64_t column = 0; column < values.columns; column += 16) {
      Value at = e.index(key * values.strideBytes() + column / kChunk * kChunkBytes);
      Values words = cores.loadMatrices(cores.advance(base, at), /*transposed=*/true);
      for (int64_t half = 0; half < 2; ++half) {
        MutableArrayRef<Value> part = sums.slice((column / 8 + half) * 4, 4);
        llvm::copy(cores.multiply(a, ArrayRef(words).slice(2 * half, 2), ArrayRef<Value>(part)), part.begin());
      }
    }
  }
}

/// Goes on with the keys from |begin| on; carried is what FlashRows carries.
Values FlashAttention::step(Value begin, ValueRange carried) {
  Value zero = e.index(0), left = e.sub(own.rows.keys, begin);
  e.barrier();
  copyRows(keys, op.getKey(), {e.div(begin, kKeys), zero}, e.index(own.headDim), kKeys);
  copyRows(values, op.getValue(), {begin}, left, own.valueDim);
  e.barrier();
  Values scores = multiplyKeys(), next(carried);
  own.weigh(begin, scores, next);
  addValues(scores, MutableArrayRef(next).drop_front(4));
  return next;
}

void FlashAttention::emitTile(Value first) {
  own.take(e.add(first, e.mul(warp, 16)));
  Value last = e.min(e.add(first, kRows - 1), e.add(own.count, -1));
  auto [begin, end] = own.visitedKeys(first, last);
  begin = e.mul(e.div(begin, kKeys), kKeys);
  Values carried = e.loop(begin, end, e.index(kKeys), own.initial(), [&](Value key, ValueRange before) { return step(key, before); });
  own.finish(carried, [&] { e.barrier(); });
}

bool attune::isFlashAttention(xfmr::AttentionTileOp op) {
  auto query = cast<MemRefType>(op.getQuery().getType()), key = cast<MemRefType>(op.getKey().getType());
  auto value = cast<MemRefType>(op.getValue().getType());
  bool isCode = op.getPrecision() == xfmr::Precision::BF16 || op.getPrecision() == xfmr::Precision::F16;
  return isCode && !op.getProbabilities() && !op.getRelativeKey() && key.getDimSize(2) == kKeys && query.getDimSize(2) <= kLargestHead &&
         value.getDimSize(1) <= kLargestHead && key.isLastDimUnitStride() && value.isLastDimUnitStride();
}

void attune::emitFlashAttention(xfmr::AttentionTileOp op, const ThreadLoops &loops) {
  OpBuilder builder(op);
  ThreadEmitter e(builder, op.getLoc());
  FlashAttention(op, e, loops).emit();
}
