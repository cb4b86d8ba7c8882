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

#include "compiler/Target/NVVM/TensorCores.h"
#include "compiler/Target/NVVM/WarpAttention.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadEmitter::Values;

namespace {

/// Rows of a block, keys of a step, and rows that are few.
constexpr int64_t kRows = 64, kKeys = 64, kFewRows = 4;
/// The largest head whose operands registers hold.
constexpr int64_t kLargestHead = 128;

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
  void loadQueries();
  Value queryWord(const AttentionRow &row, int64_t d);
  std::pair<Value, Value> visitedKeys(Value first);
  void copyRows(const Matrix &to, Value from, ArrayRef<Value> first, Value count, int64_t columns);
  Values loadEight(Value from, ArrayRef<Value> at, int64_t columns, Value column, Value isAligned);
  Values multiplyKeys();
  Values step(Value begin, ValueRange carried);
  void addValues(ArrayRef<Value> weights, MutableArrayRef<Value> sums);
  void finish(ValueRange carried, Value first);

  xfmr::AttentionTileOp op;
  ThreadEmitter &e;
  const ThreadLoops &loops;
  TensorCores cores;
  RowAttention rows;
  Value count, lane, warp;
  int64_t headDim, valueDim;
  Matrix keys, values;
  /// What the lane has: its two rows, and the operands of queries, four words for each 16 components.
  AttentionRow row[2];
  Value exists[2];
  Values queries;
};

} // namespace

static Type typeOf(xfmr::Precision precision, OpBuilder &builder) {
  return precision == xfmr::Precision::F16 ? Type(builder.getF16Type()) : Type(builder.getBF16Type());
}

FlashAttention::FlashAttention(xfmr::AttentionTileOp op, ThreadEmitter &e, const ThreadLoops &loops)
    : op(op), e(e), loops(loops), cores(e, typeOf(op.getPrecision(), e.builder)), rows(op, e),
      count(e.mul(e.size(op.getQuery(), 0), rows.heads)), lane(e.rem(loops.thread, kWarp)), warp(e.div(loops.thread, kWarp)),
      headDim(cast<MemRefType>(op.getQuery().getType()).getDimSize(2)), valueDim(cast<MemRefType>(op.getValue().getType()).getDimSize(1)),
      keys(allocate(llvm::alignTo(headDim, 16), kKeys)), values(allocate(kKeys, llvm::alignTo(valueDim, 16))) {}

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
    e.loop(e.index(0), count, e.index(kRows), {}, [&](Value first, ValueRange) -> Values {
      emitTile(first);
      return {};
    });
    return {};
  };
  e.choose(e.compare(arith::CmpIPredicate::sle, count, e.index(kFewRows)), few, many);
}

/// Components d and d + 1 of the query of |row|.
Value FlashAttention::queryWord(const AttentionRow &row, int64_t d) {
  Value pair = e.add(e.mul(e.rem(lane, 4), 2), d);
  auto component = [&](int64_t i) {
    Value at = e.add(pair, i);
    auto load = [&] { return Values{e.load(op.getQuery(), {row.query, row.head, at})}; };
    if (d + 8 <= headDim)
      return load()[0];
    return e.choose(e.compare(arith::CmpIPredicate::slt, at, e.index(headDim)), load, [&] { return Values{e.f32(0.0)}; })[0];
  };
  Value low = component(0);
  return cores.pack(low, component(1));
}

void FlashAttention::loadQueries() {
  queries.clear();
  for (int64_t d = 0; d < headDim; d += 16)
    for (int64_t part = 0; part < 4; ++part)
      queries.push_back(queryWord(row[part % 2], d + part / 2 * 8));
}

/// The keys that the rows from |first| on visit.
std::pair<Value, Value> FlashAttention::visitedKeys(Value first) {
  Value last = e.min(e.add(first, kRows - 1), e.add(count, -1));
  Value begin = rows.keysOf(rows.rowAt(first)).first, end = rows.keysOf(rows.rowAt(last)).second;
  return {e.mul(e.div(begin, kKeys), kKeys), end};
}

/// Eight elements of a row of |from|, at |column| and behind, zeros from |columns| on.
Values FlashAttention::loadEight(Value from, ArrayRef<Value> at, int64_t columns, Value column, Value isAligned) {
  auto load = [&](int64_t i) {
    SmallVector<Value> place(at);
    place.push_back(e.add(column, i));
    auto element = [&] { return Values{e.load(from, place)}; };
    if (columns % kChunk == 0)
      return element()[0];
    Value exists = e.compare(arith::CmpIPredicate::slt, place.back(), e.index(columns));
    return e.choose(exists, element, [&] { return Values{e.f32(0.0)}; })[0];
  };
  auto single = [&] {
    Values elements;
    for (int64_t i = 0; i < kChunk; ++i)
      elements.push_back(load(i));
    return elements;
  };
  if (columns % kChunk != 0)
    return single();
  auto wide = [&] {
    Values elements;
    for (int64_t half = 0; half < kChunk; half += 4) {
      SmallVector<Value> place(at);
      place.push_back(e.add(column, half));
      auto type = VectorType::get({4}, e.builder.getF32Type());
      Value four = vector::LoadOp::create(e.builder, e.loc, type, from, place);
      for (int64_t i = 0; i < 4; ++i)
        elements.push_back(vector::ExtractOp::create(e.builder, e.loc, four, i));
    }
    return elements;
  };
  return e.choose(isAligned, wide, single);
}

/// Whether rows of |from| can be read 16 bytes at a time.
static Value isAligned(ThreadEmitter &e, Value from) {
  auto parts = memref::ExtractStridedMetadataOp::create(e.builder, e.loc, from);
  Value bytes = e.mul(parts.getOffset(), 4);
  for (Value stride : parts.getStrides().drop_back())
    bytes = arith::OrIOp::create(e.builder, e.loc, bytes, e.mul(stride, 4));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(e.builder, e.loc, from);
  Value all = arith::OrIOp::create(e.builder, e.loc, bytes, base);
  return e.compare(arith::CmpIPredicate::eq, e.rem(all, 16), e.index(0));
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
        e.compare(arith::CmpIPredicate::slt, local, count), [&] { return loadEight(from, at, columns, e.mul(chunk, kChunk), wide); },
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
            cores.multiply(ArrayRef(queries).slice(d / 16 * 4, 4), ArrayRef(words).slice(2 * half, 2), ArrayRef(sums).slice(first, 4));
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
    ArrayRef<Value> near = weights.slice(key / 8 * 4, 4), far = weights.slice((key / 8 + 1) * 4, 4);
    Value a[] = {cores.pack(near[0], near[1]), cores.pack(near[2], near[3]), cores.pack(far[0], far[1]), cores.pack(far[2], far[3])};
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

/// Goes on with the keys from |begin| on; carried are the maxima and the lane's parts of the sums of both rows, and of the result.
Values FlashAttention::step(Value begin, ValueRange carried) {
  Value zero = e.index(0), left = e.sub(rows.keys, begin), last = e.add(rows.keys, -1);
  e.barrier();
  copyRows(keys, op.getKey(), {e.div(begin, kKeys), zero}, e.index(headDim), kKeys);
  copyRows(values, op.getValue(), {begin}, left, valueDim);
  e.barrier();
  Values scores = multiplyKeys();
  for (auto [i, score] : llvm::enumerate(scores)) {
    Value key = e.add(e.add(begin, e.mul(e.rem(lane, 4), 2)), i / 4 * 8 + i % 2);
    Value isKey = e.compare(arith::CmpIPredicate::slt, key, rows.keys);
    score = e.select(isKey, rows.score(row[i % 4 / 2], e.min(key, last), score), e.f32(-std::numeric_limits<double>::infinity()));
  }
  Values next(carried);
  for (int64_t r = 0; r < 2; ++r) {
    Value largest;
    auto isOfRow = [&](size_t i) { return static_cast<int64_t>(i % 4 / 2) == r; };
    for (auto [i, score] : llvm::enumerate(scores))
      if (isOfRow(i))
        largest = largest ? e.maxf(largest, score) : score;
    for (int64_t mask : {1, 2})
      largest = e.maxf(largest, e.shuffleXor(largest, mask));
    Value maximum = e.maxf(carried[r], largest), decay = e.exp2(e.subf(carried[r], maximum)), sum = e.mulf(carried[2 + r], decay);
    for (auto [i, score] : llvm::enumerate(scores))
      if (isOfRow(i)) {
        score = e.exp2(e.subf(score, maximum));
        sum = e.addf(sum, score);
      }
    next[r] = maximum, next[2 + r] = sum;
    for (size_t i = 4; i < next.size(); ++i)
      if (isOfRow(i))
        next[i] = e.mulf(next[i], decay);
  }
  addValues(scores, MutableArrayRef(next).drop_front(4));
  return next;
}

void FlashAttention::finish(ValueRange carried, Value first) {
  for (int64_t r = 0; r < 2; ++r) {
    Value sum = carried[2 + r];
    for (int64_t mask : {1, 2})
      sum = e.addf(sum, e.shuffleXor(sum, mask));
    Value factor = rows.factor(row[r], carried[r], sum);
    e.ifThen(exists[r], [&] {
      for (int64_t column = 0; column < valueDim; column += 8)
        for (int64_t i = 0; i < 2; ++i) {
          Value at = e.add(e.mul(e.rem(lane, 4), 2), column + i), value = carried[4 + column / 8 * 4 + 2 * r + i];
          auto store = [&] { e.store(e.mulf(value, factor), op.getDestinations()[0], {row[r].query, row[r].head, at}); };
          if (column + 8 <= valueDim)
            store();
          else
            e.ifThen(e.compare(arith::CmpIPredicate::slt, at, e.index(valueDim)), store);
        }
    });
  }
  if (!needsMaskedRows(op))
    return;
  // Rare, and a row after the other. Other lanes of the warp write such a row again.
  e.barrier();
  e.loop(e.index(0), e.index(16), e.index(1), {}, [&](Value local, ValueRange) -> Values {
    Value number = e.add(first, local), from = e.mul(e.rem(local, 8), 4);
    Value upper = e.broadcastLane(carried[0], from), lower = e.broadcastLane(carried[1], from);
    Value maximum = e.select(e.compare(arith::CmpIPredicate::slt, local, e.index(8)), upper, lower);
    Value sees = e.compare(arith::CmpFPredicate::OLE, maximum, e.f32(kHidden));
    Value some = e.both(e.compare(arith::CmpIPredicate::sgt, rows.keys, e.index(0)), e.compare(arith::CmpIPredicate::slt, number, count));
    e.ifThen(e.both(sees, some), [&] { WarpAttention(op, e).emitMaskedRow(rows.rowAt(e.min(number, e.add(count, -1))), lane); });
    return {};
  });
}

void FlashAttention::emitTile(Value first) {
  Value ofWarp = e.add(first, e.mul(warp, 16)), last = e.add(count, -1);
  for (int64_t r = 0; r < 2; ++r) {
    Value number = e.add(e.add(ofWarp, e.div(lane, 4)), 8 * r);
    exists[r] = e.compare(arith::CmpIPredicate::slt, number, count);
    row[r] = rows.rowAt(e.min(number, last));
  }
  loadQueries();
  auto [begin, end] = visitedKeys(first);
  Values carried(4 + values.columns / 8 * 4, e.f32(0.0));
  carried[0] = carried[1] = e.f32(kLowest);
  carried = e.loop(begin, end, e.index(kKeys), carried, [&](Value key, ValueRange before) { return step(key, before); });
  finish(carried, ofWarp);
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
