//===- AttentionValues.cpp - Weights of a block of keys, and weighted values -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionTileEmitter.h"
#include "compiler/Transforms/ExpandMathFunctions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

/// Steps of the product loop done at once.
static constexpr int64_t kKeyUnroll = 4;
/// Rows of values fetched ahead: heads of one token row lie kilobytes apart, too far for the hardware to see a stream. With 8 rows a
/// tile of 512 keys takes 579 us instead of 635, with 16 it is 604 (12 x 64 columns, Cascade Lake at 2.4 GHz, 2026-11).
static constexpr int64_t kPrefetch = 8;

/// Turns the scores of the strip into 2^(score - base) and adds them to |sums|, as many rows at a time as fit into registers.
AttentionTileEmitter::Values AttentionTileEmitter::emitWeights(const Block &block, ValueRange base, ValueRange sums) {
  Values all;
  for (int64_t first = 0, count = rows.size(); first < count; first += sizes.weightRows) {
    int64_t end = std::min(first + sizes.weightRows, count);
    all.append(e.loop(e.index(0), block.size, kLanes, sums.slice(first, end - first), [&](Value column, ValueRange carried) {
      Values next;
      for (int64_t r = first; r < end; ++r) {
        Value score = e.load(strip, {e.index(r), column});
        Value weight = emitExp2NonPositive(e, e.getLoc(), e.subf(score, base[r]));
        e.store(weight, strip, {e.index(r), column});
        next.push_back(e.addf(carried[r - first], weight));
      }
      return next;
    }));
  }
  return all;
}

/// What weights of the last block are multiplied by: head scale / sum, 0 for rows without keys and, if asked, without visible ones.
AttentionTileEmitter::Values AttentionTileEmitter::emitFactors(ValueRange maxima, ValueRange sums) {
  Values factors;
  Value zero = e.f32(0.0);
  for (size_t r = 0; r < rows.size(); ++r) {
    Value sum = e.sumLanes(sums[r]);
    Value factor = e.divf(e.f32(1.0), sum);
    if (op.getHeadScale())
      factor = e.mulf(factor, e.loadScalar(op.getHeadScale(), rows[r].head));
    factor = e.select(e.compare(arith::CmpFPredicate::OEQ, sum, zero), zero, factor);
    if (op.getMaskedRows() == xfmr::MaskedRows::Zero)
      factor = e.select(e.compare(arith::CmpFPredicate::OLE, maxima[r], e.f32(kHidden)), zero, factor);
    factors.push_back(e.splat(factor));
  }
  return factors;
}

/// Writes the weights of |block| times |factor|, and brings those of blocks before it up to date.
void AttentionTileEmitter::emitProbabilities(const Block &block, ValueRange earlier, ValueRange factor) {
  Value target = op.getProbabilities();
  Value first = e.mul(e.div(groupFirst, keyBlock), keyBlock);
  e.loop(first, block.begin, kLanes, [&](Value column) {
    for (auto [row, by] : llvm::zip_equal(rows, earlier)) {
      Value written = e.load(target, {row.head, row.query, column});
      e.store(e.mulf(written, by), target, {row.head, row.query, column});
    }
  });
  e.loop(e.index(0), block.size, kLanes, [&](Value column) {
    Lanes lanes = Lanes::first(e.sub(block.size, column));
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value weight = e.mulf(e.load(strip, {e.index(r), column}), factor[r]);
      e.store(weight, target, {row.head, row.query, e.add(block.begin, column)}, lanes);
    }
  });
}

/// Adds the weighted values to the result, as many columns at a time as fit into registers.
void AttentionTileEmitter::emitValues(const Block &block, ValueRange decay, ValueRange factor) {
  int64_t columns = cast<MemRefType>(op.getValue().getType()).getDimSize(1), chunks = llvm::divideCeil(columns, kLanes);
  int64_t groups = llvm::divideCeil(chunks, sizes.valueVectors), done = 0;
  for (int64_t group = 0; group < groups; ++group) {
    int64_t vectors = llvm::divideCeil(chunks - done, groups - group);
    emitValueColumns(block, decay, factor, done * kLanes, vectors, columns);
    done += vectors;
  }
}

void AttentionTileEmitter::emitValueColumns(const Block &block, ValueRange decay, ValueRange factor, int64_t column, int64_t vectors,
                                            int64_t columns) {
  int64_t count = rows.size();
  auto at = [&](int64_t j) { return e.index(column + j * kLanes); };
  auto lanes = [&](int64_t j) { return Lanes::first(columns - column - j * kLanes); };
  auto target = [&](int64_t r, int64_t j) { return Values{rows[r].query, rows[r].head, at(j)}; };
  Values initial = e.choose(
      block.isFirst, [&] { return Values(count * vectors, e.splat(0.0)); },
      [&] {
        Values former;
        for (int64_t r = 0; r < count; ++r)
          for (int64_t j = 0; j < vectors; ++j)
            former.push_back(e.mulf(e.load(result, target(r, j), lanes(j)), decay[r]));
        return former;
      });
  Values product = e.multiply(
      e.index(0), block.size, count, vectors, kKeyUnroll, initial, [&](int64_t r, Value k) { return e.loadScalar(strip, {e.index(r), k}); },
      [&](int64_t j, Value k) {
        Value key = e.add(block.begin, k);
        memref::PrefetchOp::create(e, op.getValue(), ValueRange{e.add(key, kPrefetch), at(j)},
                                   /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
        return e.load(op.getValue(), {key, at(j)}, lanes(j));
      });
  for (int64_t r = 0; r < count; ++r)
    for (int64_t j = 0; j < vectors; ++j)
      e.store(e.mulf(product[r * vectors + j], factor[r]), result, target(r, j), lanes(j));
}
