//===- SkinnyGemm.cpp - Low-precision projections of few columns ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The GEMM of few columns per block. It is for decoding, where the time to read the weights dominates. A block computes
// up to 16 columns; its four warps split K. A lane loads whole chunks of 8 weights from memory to registers, without
// shared memory.
//
// The product m16n8k16 expects in lane 4 g + t the words t and t + 4 of column g of B, where a word is two neighbors in
// K. Instead, for the four chunks of quad i, the lane loads chunk 4 i + t of column g, four words w0 .. w3, and uses
// them for two products:
//
//   product 0    words t, t + 4 := w0, w1     components 8 (4 i + t) + 0 .. 3
//   product 1    words t, t + 4 := w2, w3     components 8 (4 i + t) + 4 .. 7
//
// This permutes K. The rows of A are read with the same permutation, so the sums are over the same products.
//
// The sums of the four warps are added in shared memory. 16 rows are computed at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/LowPrecisionGemm.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

constexpr int64_t kWarps = kBlockThreads / kWarp, kRows = kSplitRows, kColumns = kSplitColumns;
/// The chunks of a quad, which the four lanes of a column load together, and the largest number of quads that a warp
/// loads before it multiplies. Eight quads of both operands are 128 registers of a thread; sixteen would not fit in the
/// 255 that a thread may have.
constexpr int64_t kQuad = 4, kMostQuads = 8;

/// Emits the code of one thread for a projection of few columns.
class RowEmitter : LowPrecisionGemm {
public:
  RowEmitter(const LowPrecisionProjection &projection, ThreadBuilder &e, Value thread)
      : LowPrecisionGemm(projection, e, thread, {kWarps, kRows, kColumns}),
        quads(divideEvenly(llvm::divideCeil(chunks, kQuad * kWarps), kMostQuads)), hasTail(chunks % (kQuad * kWarps * quads) != 0) {}
  void emit();

private:
  Values addQuads(Value row, Value column, Value chunk, Values sums);
  void join(Value row, Value column);

  /// The number of quads that a warp loads before it multiplies.
  int64_t quads;
  /// True if the last iteration may reach past K.
  bool hasTail;
};

} // namespace

/// Returns |sums|, of 16 rows from |row| on and 16 columns from |column| on, plus the products of |quads| quads of
/// chunks. The first quad begins at |chunk|, each other one kWarps quads after the one before; other warps have the
/// quads between.
Values RowEmitter::addQuads(Value row, Value column, Value chunk, Values sums) {
  Value g = e.div(lane, 4), t = e.rem(lane, 4), lastRow = e.add(rows, -1), lastColumn = e.add(columns, -1);
  SmallVector<Values> upper, lower, weights;
  // All loads first: a thread waits for them together.
  for (int64_t i = 0; i < quads; ++i) {
    Value at = e.add(e.add(chunk, i * kQuad * kWarps), t), exists = hasTail ? e.compare(arith::CmpIPredicate::slt, at, chunks) : Value();
    for (int64_t half = 0; half < 2; ++half) {
      Value from = e.min(e.add(e.add(column, 8 * half), g), lastColumn);
      Value place[] = {e.div(from, kPanelColumns), at, e.rem(from, kPanelColumns), e.index(0)};
      weights.push_back(cores.loadWords(exists, panels, place));
    }
    for (auto [words, distance] : {std::pair(&upper, 0), std::pair(&lower, 8)})
      words->push_back(cores.loadWords(exists, input, {e.min(e.add(e.add(row, g), distance), lastRow), e.mul(at, kChunk)}));
  }
  for (int64_t i = 0; i < quads; ++i)
    for (int64_t pair = 0; pair < 4; pair += 2)
      for (int64_t half = 0; half < 2; ++half) {
        Value a[] = {upper[i][pair], lower[i][pair], upper[i][pair + 1], lower[i][pair + 1]};
        Values product = cores.multiply(a, ArrayRef(weights[2 * i + half]).slice(pair, 2), ArrayRef(sums).slice(4 * half, 4));
        llvm::copy(product, sums.begin() + 4 * half);
      }
  return sums;
}

void RowEmitter::join(Value row, Value column) {
  SmallVector<SumAtElement> sums;
  joinSums(e, shared, thread, [&](Value down, Value right, Value sum) {
    Value at = e.add(row, down), beside = e.add(column, right);
    Value exists = e.both(e.compare(arith::CmpIPredicate::slt, at, rows), e.compare(arith::CmpIPredicate::slt, beside, columns));
    sums.push_back({exists, e.min(at, e.add(rows, -1)), e.min(beside, e.add(columns, -1)), sum});
  });
  storeResult(sums);
}

void RowEmitter::emit() {
  e.loop(e.index(0), rows, kRows, [&](Value row) {
    e.loop(e.index(0), columns, kColumns, [&](Value column) {
      Values sums = e.loop(e.mul(warp, kQuad), e.index(chunks), e.index(kQuad * kWarps * quads), Values(8, e.f32(0.0)),
                           [&](Value chunk, ValueRange before) { return addQuads(row, column, chunk, Values(before)); });
      keepSums(e, sums, shared, warp, lane);
      e.barrier();
      join(row, column);
      e.barrier();
    });
  });
}

void attune::emitSkinnyGemm(const LowPrecisionProjection &projection, ThreadBuilder &e, const ThreadLoops &loops) {
  RowEmitter(projection, e, loops.thread).emit();
}
