//===- FlashAttention.cpp - Attention by tensor cores ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// FlashAttention on the tensor cores of sm_80. The scores of a query tile with all keys are too large for registers or
// shared memory, and writing them to global memory costs more than computing them. So the keys are processed in steps
// of 64, with an online softmax, and neither scores nor probabilities ever leave the registers of the lanes that
// computed them.
//
// A block of four warps has 64 rows (pairs of a query and a head), a warp 16. Queries stay in registers as operands. A
// step copies 64 keys and values to shared memory, where all warps read them:
//
//                      keys of the step, 64              values, E columns
//   warp 0  Q 16 x D   | S 16 x 64 | --softmax--> P      | O 16 x E |
//   warp 1             | S         |                     | O        |         registers: lane 4 g + t has rows g and g + 8,
//   warp 2             | S         |                     | O        |         columns 2t, 2t + 1 of every eight
//   warp 3             | S         |                     | O        |
//
//   S  = Q K^T
//   S  = score(S)             scale, masks and biases of each element, by RowAttention
//   m' = max(m, max S)   P = 2^(S - m')             for each row; m, l, O: running maximum, sum, result
//   l  = l 2^(m - m') + sum P   O = O 2^(m - m') + P V
//
//   copies     | step 0 | step 1 | step 2 | ..      rows of bf16 or f16: cp.async, two stages; the copy of the next
//   products            | step 0 | step 1 | ..      step runs beside the products of this one
//
// Keys in panels, as those of a cache, and their values are rounded by threads instead, into one stage between two
// barriers.
//
// Invariants. The accumulators S have the layout of operand A, so P, rounded, needs no shuffle to become an operand.
// Rows in shared memory are an odd number of 16-byte chunks apart, so the 8 rows that `ldmatrix` reads are in different
// banks. Steps whose keys are all visible to every row of the tile run in a loop without tests for hidden keys. A loop
// with tests follows it, and with a left window another one precedes it.
//
// Cost. Two stages of keys and values: 36 KiB of shared memory for heads of 64, 68 KiB for heads of 128.
//
// Up to four rows go to WarpAttention, one row a warp, if keys are in panels, as in decoding: a tile of 64 rows would
// be mostly empty.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/CacheLoads.h"
#include "compiler/Target/NVVM/FlashRows.h"
#include "compiler/Target/NVVM/WarpAttention.h"
#include "compiler/Transforms/DimBounds.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// Rows of a block, keys of a step, the most rows that go to WarpAttention if keys are in panels, and stages that
/// cp.async fills if keys are rows.
constexpr int64_t kRows = 64, kKeys = kFlashKeys, kFewRows = 4, kStages = 2;

/// Emits the code of one thread for an attention operation.
class FlashAttention {
public:
  FlashAttention(tiles::AttentionTileOp op, ThreadBuilder &e, const ThreadLoops &loops);
  void emit();

private:
  /// The stages of a matrix in shared memory. A stage has |rows| rows, each of |columns| 16-bit elements and a chunk of
  /// padding.
  struct Matrix {
    Value words;
    int64_t rows, columns;
    int64_t strideBytes() const { return (columns / kChunk + 1) * kChunkBytes; }
    int64_t stageBytes() const { return rows * strideBytes(); }
  };
  Matrix allocate(int64_t rows, int64_t columns);
  Value addressOf(const Matrix &matrix, Value stage) {
    return e.advance(e.addressOf(matrix.words, e.index(0)), e.mul(stage, matrix.stageBytes()));
  }
  void emitTile(Value first);
  Values overKeys(Value begin, Value end, Value last, ValueRange carried, bool areSeen);
  void roundRows(const Matrix &to, Value from, ArrayRef<Value> first, Value count, int64_t columns);
  void copyRows(const Matrix &to, Value stage, Value from, Value first, int64_t columns);
  void copyStage(Value stage, Value begin);
  Values multiplyKeys(Value stage);
  Values step(Value begin, Value stage, ValueRange carried, bool areSeen);
  void addValues(Value stage, ArrayRef<Value> weights, MutableArrayRef<Value> sums);

  tiles::AttentionTileOp op;
  ThreadBuilder &e;
  const ThreadLoops &loops;
  Value lane, warp;
  FlashRows own;
  TensorCores &cores;
  int64_t stages;
  Matrix keys, values;
};

} // namespace

/// Returns the distance between neighboring rows of |rows| in elements; ShapedType::kDynamic if it is not constant.
static int64_t getRowStride(Value rows) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(cast<MemRefType>(rows.getType()).getStridesAndOffset(strides, offset)) ? strides[0] : ShapedType::kDynamic;
}

FlashAttention::FlashAttention(tiles::AttentionTileOp op, ThreadBuilder &e, const ThreadLoops &loops)
    : op(op), e(e), loops(loops), lane(e.rem(loops.thread, kWarp)), warp(e.div(loops.thread, kWarp)), own(op, e, lane), cores(own.cores),
      stages(op.hasKeyRows() ? kStages : 1) {
  int64_t depth = llvm::alignTo(own.headDim, 16);
  keys = op.hasKeyRows() ? allocate(kKeys, depth) : allocate(depth, kKeys);
  values = allocate(kKeys, llvm::alignTo(own.valueDim, 16));
}

FlashAttention::Matrix FlashAttention::allocate(int64_t rows, int64_t columns) {
  Matrix matrix{{}, rows, columns};
  matrix.words = e.allocateShared(e.getI32Type(), {stages * matrix.stageBytes() / 4});
  return matrix;
}

void FlashAttention::emit() {
  auto few = [&]() -> Values {
    WarpAttention(op, e).run(loops);
    return {};
  };
  auto many = [&]() -> Values {
    // Usually all rows are one tile. In a loop over tiles, addresses that are the same for all tiles would stay in
    // registers, which the sums need.
    std::optional<int64_t> most = DimBounds().getConstantDim(op.getQuery(), 0);
    if (int64_t heads = cast<MemRefType>(op.getQuery().getType()).getDimSize(1);
        most && heads != ShapedType::kDynamic && *most * heads <= kRows) {
      e.ifThen(e.compare(arith::CmpIPredicate::sgt, own.count, 0), [&] { emitTile(e.index(0)); });
      return {};
    }
    e.loop(e.index(0), own.count, kRows, [&](Value first) { emitTile(first); });
    return {};
  };
  if (op.hasKeyRows())
    many();
  else
    e.choose(e.compare(arith::CmpIPredicate::sle, own.count, kFewRows), few, many);
}

/// Rounds min(|count|, |to|.rows) rows of |columns| elements of |from|, from the row at the indices |first| on, and
/// writes them to |to|. Other rows of |to|, and its columns from |columns| on, become zeros.
void FlashAttention::roundRows(const Matrix &to, Value from, ArrayRef<Value> first, Value count, int64_t columns) {
  int64_t chunks = to.columns / kChunk;
  CacheLoads loads(e, from);
  e.loop(loops.thread, e.index(to.rows * chunks), loops.threads, [&](Value number) {
    Value local = e.div(number, chunks), chunk = e.rem(number, chunks);
    SmallVector<Value> at(first);
    at.back() = e.add(at.back(), local);
    Value exists = e.compare(arith::CmpIPredicate::slt, local, count);
    if (int64_t used = llvm::divideCeil(columns, kChunk); used < chunks)
      exists = e.both(exists, e.compare(arith::CmpIPredicate::slt, chunk, used));
    Values elements =
        e.choose(exists, [&] { return loads.load(at, columns, e.mul(chunk, kChunk)); }, [&] { return Values(kChunk, e.f32(0.0)); });
    Values words;
    for (int64_t i = 0; i < kChunk; i += 2)
      words.push_back(cores.pack(elements[i], elements[i + 1]));
    auto type = VectorType::get({kChunk / 2}, e.getI32Type());
    Value place = e.add(e.mul(local, to.strideBytes() / 4), e.mul(chunk, kChunkBytes / 4));
    vector::StoreOp::create(e, vector::FromElementsOp::create(e, type, words), to.words, place);
  });
}

/// Starts to copy 64 rows of |columns| elements of |from|, from row |first| on, to stage |stage| of |to|. Rows past
/// |from|'s last one, and columns of |to| from |columns| on, become zeros.
void FlashAttention::copyRows(const Matrix &to, Value stage, Value from, Value first, int64_t columns) {
  int64_t chunks = to.columns / kChunk, count = to.rows * chunks / loops.threads;
  Value base = addressOf(to, stage), end = e.size(from, 0), source, target, row, hasChunk;
  // Computes the row, the source and the target address of chunk |number|, and hasChunk if some chunks are padding.
  auto take = [&](Value number) {
    Value chunk = e.rem(number, chunks), local = e.div(number, chunks);
    row = e.add(first, local);
    if (columns != to.columns)
      hasChunk = e.compare(arith::CmpIPredicate::slt, chunk, columns / kChunk);
    source = e.addressOf(from, {row, e.mul(chunk, kChunk)});
    target = e.advance(base, e.add(e.mul(local, to.strideBytes()), e.mul(chunk, kChunkBytes)));
  };
  // If a thread copies the same chunk of each of its rows, its addresses differ by constants, which need no registers.
  bool isRegular = loops.threads % chunks == 0;
  int64_t rowsApart = loops.threads / chunks, sourceBytes = rowsApart * getRowStride(from) * 2, targetBytes = rowsApart * to.strideBytes();
  if (isRegular)
    take(loops.thread);
  for (int64_t i = 0; i < count; ++i) {
    if (!isRegular)
      take(e.add(loops.thread, i * loops.threads));
    int64_t steps = isRegular ? i : 0;
    Value exists = e.compare(arith::CmpIPredicate::slt, e.add(row, steps * rowsApart), end);
    if (hasChunk)
      exists = e.both(exists, hasChunk);
    cores.copyChunk(e.advance(target, e.index(steps * targetBytes)), e.advance(source, e.index(steps * sourceBytes)), exists);
  }
}

/// Starts to copy 64 keys from |begin| on and their values to |stage|.
void FlashAttention::copyStage(Value stage, Value begin) {
  copyRows(keys, stage, op.getKey(), begin, own.headDim);
  copyRows(values, stage, op.getValue(), begin, own.valueDim);
}

Values FlashAttention::multiplyKeys(Value stage) {
  Values sums(kKeys / 8 * 4, e.f32(0.0));
  bool areRows = op.hasKeyRows();
  int64_t stride = keys.strideBytes();
  Value base = e.advance(addressOf(keys, stage), areRows ? e.add(e.mul(e.add(e.mul(e.div(lane, 16), 8), e.rem(lane, 8)), stride),
                                                                 e.mul(e.rem(e.div(lane, 8), 2), kChunkBytes))
                                                         : cores.rowOfTransposed(lane, stride));
  for (int64_t d = 0; d < own.headDim; d += 16)
    for (int64_t key = 0; key < kKeys; key += 16) {
      int64_t row = areRows ? key : d, column = areRows ? d : key;
      Value at = e.index(row * stride + column / kChunk * kChunkBytes);
      Values words = cores.loadMatrices(e.advance(base, at), /*transposed=*/!areRows);
      for (int64_t half = 0; half < 2; ++half) {
        int64_t first = (key / 8 + half) * 4;
        Values product =
            cores.multiply(ArrayRef(own.queries).slice(d / 16 * 4, 4), ArrayRef(words).slice(2 * half, 2), ArrayRef(sums).slice(first, 4));
        llvm::copy(product, sums.begin() + first);
      }
    }
  return sums;
}

/// Adds the products of the probabilities |weights|, which have the layout of multiplyKeys' results, and the values of
/// |stage| to |sums|.
void FlashAttention::addValues(Value stage, ArrayRef<Value> weights, MutableArrayRef<Value> sums) {
  Value base = e.advance(addressOf(values, stage), cores.rowOfTransposed(lane, values.strideBytes()));
  for (int64_t key = 0; key < kKeys; key += 16) {
    Values a = own.operand(weights, key);
    for (int64_t column = 0; column < values.columns; column += 16) {
      Value at = e.index(key * values.strideBytes() + column / kChunk * kChunkBytes);
      Values words = cores.loadMatrices(e.advance(base, at), /*transposed=*/true);
      for (int64_t half = 0; half < 2; ++half) {
        MutableArrayRef<Value> part = sums.slice((column / 8 + half) * 4, 4);
        llvm::copy(cores.multiply(a, ArrayRef(words).slice(2 * half, 2), ArrayRef<Value>(part)), part.begin());
      }
    }
  }
}

/// Emits one step: the 64 keys from |begin| on, which are in |stage|. |carried| and the result are the state and the
/// results of FlashRows. For |areSeen| see FlashRows::weigh.
Values FlashAttention::step(Value begin, Value stage, ValueRange carried, bool areSeen) {
  Values scores = multiplyKeys(stage), next(carried);
  MutableArrayRef<Value> state = MutableArrayRef(next).take_front(4), results = MutableArrayRef(next).drop_front(4);
  own.rescale(results, own.weigh(begin, areSeen, scores, state));
  addValues(stage, scores, results);
  return next;
}

/// Emits the loop over the steps of the keys [|begin|, |end|). A step also starts the copy of the next 64 keys if they
/// begin before |last|, which may be past |end|. The loop carries the values of `step`, then the number of the stage
/// that the next step reads. For |areSeen| see FlashRows::weigh.
Values FlashAttention::overKeys(Value begin, Value end, Value last, ValueRange carried, bool areSeen) {
  Value zero = e.index(0);
  return e.loop(begin, end, e.index(kKeys), carried, [&](Value key, ValueRange before) -> Values {
    Value stage = before.back(), after = stage;
    if (op.hasKeyRows()) {
      cores.waitForCopies(kStages - 2);
      e.barrier();
      // After the barrier no thread reads the stage before this one.
      Value isFirst = e.compare(arith::CmpIPredicate::eq, stage, zero), next = e.add(key, (kStages - 1) * kKeys);
      Value free = e.select(isFirst, e.index(kStages - 1), e.add(stage, -1)), one = e.add(stage, 1);
      e.ifThen(e.compare(arith::CmpIPredicate::slt, next, last), [&] { copyStage(free, next); });
      cores.commitCopies();
      after = e.select(e.compare(arith::CmpIPredicate::eq, one, kStages), zero, one);
    } else {
      e.barrier();
      roundRows(keys, op.getKey(), {e.div(key, kKeys), zero}, e.index(own.headDim), kKeys);
      roundRows(values, op.getValue(), {key}, e.sub(own.rows.keys, key), own.valueDim);
      e.barrier();
    }
    Values next = step(key, stage, before.drop_back(), areSeen);
    next.push_back(after);
    return next;
  });
}

void FlashAttention::emitTile(Value first) {
  own.take(e.add(first, e.mul(warp, 16)));
  Value last = e.min(e.add(first, kRows - 1), e.add(own.count, -1));
  auto [begin, end] = own.rows.visitedKeys(first, last);
  begin = e.mul(e.div(begin, kKeys), kKeys);
  auto [seen, unseen] = own.rows.seenKeys(first, last, {begin, end}, kKeys);
  if (op.hasKeyRows()) {
    e.barrier(); // The tile before may still be read.
    for (int64_t stage = 0; stage < kStages - 1; ++stage) {
      Value key = e.add(begin, stage * kKeys);
      e.ifThen(e.compare(arith::CmpIPredicate::slt, key, end), [&] { copyStage(e.index(stage), key); });
      cores.commitCopies();
    }
  }
  Values carried = own.initialState();
  llvm::append_range(carried, own.initialResults());
  carried.push_back(e.index(0));
  if (op.getWindowLeft())
    carried = overKeys(begin, seen, end, carried, /*areSeen=*/false);
  carried = overKeys(seen, unseen, end, carried, /*areSeen=*/true);
  carried = overKeys(unseen, end, end, carried, /*areSeen=*/false);
  ValueRange all(carried);
  own.finish(all.take_front(4), all.drop_front(4).drop_back(), [&] { e.barrier(); });
}

/// Returns true if the length of a row of |rows| and the distance between rows are multiples of kChunk elements. Then
/// all rows begin at multiples of a chunk if the first one does.
static bool hasRowsOfChunks(Value rows) {
  int64_t stride = getRowStride(rows);
  return cast<MemRefType>(rows.getType()).getDimSize(1) % kChunk == 0 && stride != ShapedType::kDynamic && stride % kChunk == 0;
}

bool attune::isFlashAttention(tiles::AttentionTileOp op) {
  auto query = cast<MemRefType>(op.getQuery().getType()), key = cast<MemRefType>(op.getKey().getType());
  auto value = cast<MemRefType>(op.getValue().getType());
  bool isCode = op.getPrecision() == xfmr::Precision::BF16 || op.getPrecision() == xfmr::Precision::F16;
  bool isKey = op.hasKeyRows() ? hasRowsOfChunks(op.getKey()) && hasRowsOfChunks(op.getValue()) : key.getDimSize(2) == kKeys;
  return isCode && isKey && !op.getProbabilities() && !op.hasRelativeTables() && query.getDimSize(2) <= kLargestHead &&
         op.getValueDim() <= kLargestHead && key.isLastDimUnitStride() && value.isLastDimUnitStride();
}

void attune::emitFlashAttention(tiles::AttentionTileOp op, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  FlashAttention(op, e, loops).emit();
}
