//===- AttentionValues.cpp - Softmax and weighted values ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/AttentionValues.h"
#include "compiler/Target/CPU/CacheScales.h"
#include "compiler/Transforms/ExpandMathFunctions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

/// Keys per iteration of the product loop.
static constexpr int64_t kKeyUnroll = 4;
/// The distance of prefetches, in rows of values (tokens). The rows of one head are kilobytes apart, too far for the
/// hardware's prefetcher. docs/measurements.md compares distances.
static constexpr int64_t kPrefetch = 8;

AttentionValues::Values AttentionValues::emitExponentials(const AttentionBlock &block, ValueRange base, ValueRange sums) {
  Values all;
  for (int64_t first = 0, count = rows.size(); first < count; first += softmaxRows) {
    int64_t end = std::min(first + softmaxRows, count);
    all.append(b.loop(b.index(0), block.size, kLanes, sums.slice(first, end - first), [&](Value column, ValueRange carried) {
      Values next;
      for (int64_t r = first; r < end; ++r) {
        Value score = b.load(strip, {b.index(r), column});
        Value exponential = emitExp2NonPositive(b, b.getLoc(), b.subf(score, base[r]));
        b.store(exponential, strip, {b.index(r), column});
        next.push_back(b.addf(carried[r - first], exponential));
      }
      return next;
    }));
  }
  return all;
}

/// Returns 1 / (|sum| + 2^(sink - |maximum|)), where sink is the head's attention sink times log2(e). Both terms are
/// computed relative to the larger of sink and maximum, so that neither overflows.
Value AttentionValues::factorWithSink(const AttentionGroup::Row &row, Value maximum, Value sum) {
  Value sink = b.mulf(b.loadScalar(op.getSinks(), row.head), b.f32(kLog2E)), largest = b.maxf(maximum, sink);
  Value decay = emitExp2NonPositive(b, b.getLoc(), b.subf(maximum, largest));
  return b.divf(decay, b.fma(sum, decay, emitExp2NonPositive(b, b.getLoc(), b.subf(sink, largest))));
}

AttentionValues::Values AttentionValues::emitFactors(ValueRange maxima, ValueRange sums) {
  Values factors;
  Value zero = b.f32(0.0);
  for (size_t r = 0; r < rows.size(); ++r) {
    Value sum = b.sumLanes(sums[r]);
    Value factor = op.getSinks() ? factorWithSink(rows[r], maxima[r], sum) : b.divf(b.f32(1.0), sum);
    if (op.getHeadScale())
      factor = b.mulf(factor, b.loadScalar(op.getHeadScale(), rows[r].head));
    factor = b.select(b.compare(arith::CmpFPredicate::OEQ, sum, zero), zero, factor);
    if (op.getMaskedRows() == xfmr::MaskedRows::Zero) {
      Value seesNone = b.compare(arith::CmpFPredicate::OLE, maxima[r], b.f32(kHiddenTimesLog2E));
      // A maximum can lose a NaN (VectorBuilder::maxf), and a sum cannot.
      factor = b.select(b.both(seesNone, b.compare(arith::CmpFPredicate::ORD, sum, sum)), zero, factor);
    }
    factors.push_back(b.splat(factor));
  }
  return factors;
}

void AttentionValues::emitProbabilities(const AttentionBlock &block, ValueRange earlier, ValueRange factor) {
  Value target = op.getProbabilities();
  int64_t keyBlock = op.getKeyBlock();
  Value first = b.mul(b.div(group.first, keyBlock), keyBlock);
  b.loop(first, block.begin, kLanes, [&](Value column) {
    for (auto [row, by] : llvm::zip_equal(rows, earlier)) {
      Value written = b.load(target, {row.head, row.query, column});
      b.store(b.mulf(written, by), target, {row.head, row.query, column});
    }
  });
  b.loop(b.index(0), block.size, kLanes, [&](Value column) {
    Lanes lanes = Lanes::first(b.sub(block.size, column));
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value probability = b.mulf(b.load(strip, {b.index(r), column}), factor[r]);
      b.store(probability, target, {row.head, row.query, b.add(block.begin, column)}, lanes);
    }
  });
}

void AttentionValues::emitValues(const AttentionBlock &block, ValueRange decay, ValueRange factor) {
  int64_t columns = op.getValueDim(), chunks = llvm::divideCeil(columns, kLanes);
  int64_t groups = llvm::divideCeil(chunks, maxVectors), done = 0;
  for (int64_t part = 0; part < groups; ++part) {
    int64_t vectors = llvm::divideCeil(chunks - done, groups - part);
    emitValueColumns(block, decay, factor, done * kLanes, vectors, columns);
    done += vectors;
  }
}

Value attune::loadValue(VectorBuilder &b, tiles::AttentionTileOp op, Value key, Value column, Lanes lanes) {
  Value value = widen(b, b.load(op.getValue(), {key, column}, lanes));
  if (!cast<MemRefType>(op.getValue().getType()).getElementType().isInteger(8))
    return value;
  return b.mulf(value, b.splat(loadScales(b, op.getValue(), {key, b.index(op.getValueDim())}, 1)));
}

void AttentionValues::emitValueColumns(const AttentionBlock &block, ValueRange decay, ValueRange factor, int64_t column, int64_t vectors,
                                       int64_t columns) {
  int64_t count = rows.size();
  auto at = [&](int64_t j) { return b.index(column + j * kLanes); };
  auto lanes = [&](int64_t j) { return Lanes::first(columns - column - j * kLanes); };
  auto target = [&](int64_t r, int64_t j) { return Values{rows[r].query, rows[r].head, at(j)}; };
  Values initial = b.choose(
      block.isFirst, [&] { return Values(count * vectors, b.splat(0.0)); },
      [&] {
        Values former;
        for (int64_t r = 0; r < count; ++r)
          for (int64_t j = 0; j < vectors; ++j)
            former.push_back(b.mulf(b.load(result, target(r, j), lanes(j)), decay[r]));
        return former;
      });
  Values product = b.multiply(
      b.index(0), block.size, count, vectors, kKeyUnroll, initial, [&](int64_t r, Value k) { return b.loadScalar(strip, {b.index(r), k}); },
      [&](int64_t j, Value k) {
        Value key = b.add(block.begin, k);
        memref::PrefetchOp::create(b, op.getValue(), ValueRange{b.add(key, kPrefetch), at(j)},
                                   /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
        return loadValue(b, op, key, at(j), lanes(j));
      });
  for (int64_t r = 0; r < count; ++r)
    for (int64_t j = 0; j < vectors; ++j)
      b.store(b.mulf(product[r * vectors + j], factor[r]), result, target(r, j), lanes(j));
}
