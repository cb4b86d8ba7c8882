//===- LowerAttentionTile.cpp - Attention of a few rows in registers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects `xfmr.attention_tile` on f32 buffers with scratch. For a group of rows and one block of keys after the other:
//
//   scores    strip[r, j] = q[r] . k[j] * scale + mask       rows x score-vectors accumulators; the largest of each row in a register
//   weights   strip[r, j] = 2^(strip[r, j] - max[r])         and their sum, in 16 lanes
//   values    result[r]   = result[r] * decay + strip[r] V   rows x value-vectors accumulators
//
// Up to one block of keys (512) this is the exact softmax in two passes over a strip in the first-level cache, which measured faster
// than any smaller online block; beyond, the result, the sums and the probabilities already written decay by 2^(old max - new max).
// Keys beyond the end get -infinity as their mask, at no cost: without a mask the addition of that bias is fused with the scaling.
//
// Letters: R rows, S keys, D head size of queries and keys, E of values, W panel width.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/ExpandMathFunctions.h"
#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/CPU/VectorEmitter.h"
#include "dialect/IR/XfmrOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

namespace attune {
#define GEN_PASS_DEF_LOWERATTENTIONTILE
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;
using Values = VectorEmitter::Values;

namespace {

constexpr int64_t kLanes = VectorEmitter::kLanes;
/// Steps of the product loops done at once.
constexpr int64_t kUnroll = 4;
/// Rows of values fetched ahead: heads of one token row lie kilobytes apart, too far for the hardware to see a stream. With 8 rows a
/// tile of 512 keys takes 579 us instead of 635, with 16 it is 604 (12 x 64 columns, Cascade Lake at 2.4 GHz, 2026-11).
constexpr int64_t kPrefetch = 8;
constexpr double kLog2E = 1.44269504088896340736;
/// What a masked key's score is bounded to from below, so that a row with no visible key is uniform rather than NaN.
constexpr double kLowest = std::numeric_limits<float>::lowest();
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Sizes of the groups held in registers.
struct TileSizes {
  int64_t rows, scoreVectors, valueVectors, weightRows;
};

class TileEmitter {
public:
  TileEmitter(xfmr::AttentionTileOp op, OpBuilder &builder, TileSizes sizes)
      : op(op), builder(builder), loc(op.getLoc()), e(builder, loc), sizes(sizes), keyBlock(op.getKeyBlock()),
        strip(op.getScratch()), result(op.getDestinations()[0]) {}

  void run() {
    keys = e.size(op.getValue(), 0);
    Value rows = e.size(op.getQuery(), 0);
    e.forLoop(e.index(0), rows, sizes.rows, {}, [&](Value first, ValueRange) -> Values {
      Value left = e.min(e.sub(rows, first), e.index(sizes.rows));
      e.forRows(left, sizes.rows, [&](Value base, int64_t count) { emitRows(e.add(first, base), count); });
      return {};
    });
  }

private:
  /// All keys for |count| rows from |first|.
  void emitRows(Value first, int64_t count) {
    row.clear();
    for (int64_t r = 0; r < count; ++r)
      row.push_back(e.add(first, r));
    Values initial(count, e.f32(kLowest)); // maxima, then sums
    initial.append(count, e.splat(0.0));
    // No key at all still runs one empty block: it writes the zeros.
    e.forLoop(e.index(0), e.max(keys, e.index(1)), keyBlock, initial,
              [&](Value begin, ValueRange carried) { return emitBlock(begin, carried); });
  }

  /// One block of keys: carries maxima and sums.
  Values emitBlock(Value begin, ValueRange carried) {
    size_t count = row.size();
    Value size = e.min(e.sub(keys, begin), e.index(keyBlock));
    Value isFirst = compare(arith::CmpIPredicate::eq, begin, e.index(0));
    Value isLast = compare(arith::CmpIPredicate::sge, e.add(begin, keyBlock), keys);

    Values largest = emitScores(begin, size), maxima, base;
    for (size_t r = 0; r < count; ++r) {
      maxima.push_back(e.maxf(carried[r], e.maxLanes(largest[r])));
      base.push_back(e.splat(maxima[r]));
    }
    Values decay = e.choose(
        isFirst, [&] { return Values(count, e.splat(1.0)); },
        [&] {
          Values factors;
          for (size_t r = 0; r < count; ++r)
            factors.push_back(emitExp2NonPositive(builder, loc, e.subf(e.splat(carried[r]), base[r])));
          return factors;
        });
    Values sums = emitWeights(size, base, scaled(carried.drop_front(count), decay));
    Values factor = e.choose(
        isLast, [&] { return emitFactors(maxima, sums); }, [&] { return Values(count, e.splat(1.0)); });
    if (Value probabilities = op.getProbabilities())
      emitProbabilities(probabilities, begin, size, scaled(decay, factor), factor);
    emitValues(begin, size, isFirst, decay, factor);
    maxima.append(sums);
    return maxima;
  }

  /// Writes the scores of |size| keys from |begin| to the strip, in units of log2; returns the largest of each row, by lanes.
  Values emitScores(Value begin, Value size) {
    int64_t width = cast<MemRefType>(op.getKey().getType()).getDimSize(2), count = row.size();
    int64_t vectors = std::gcd(width / kLanes, sizes.scoreVectors), step = vectors * kLanes;
    Value scale = e.splat(op.getScale().convertToDouble() * kLog2E), headDim = e.size(op.getQuery(), 1);
    return e.forLoop(e.index(0), size, step, Values(count, e.splat(kLowest)), [&](Value column, ValueRange carried) {
      Value key = e.add(begin, column), panel = e.floorDiv(key, width), lane = e.remainder(key, width);
      Values product = e.multiply(
          e.index(0), headDim, count, vectors, kUnroll, Values(count * vectors, e.splat(0.0)),
          [&](int64_t r, Value d) { return e.loadScalar(op.getQuery(), {row[r], d}); },
          [&](int64_t j, Value d) { return e.load(op.getKey(), {panel, d, e.add(lane, j * kLanes)}); });
      Values largest(carried);
      for (int64_t j = 0; j < vectors; ++j) {
        Value at = e.add(column, j * kLanes);
        Lanes lanes = Lanes::first(e.sub(size, at));
        Value shared = hasMaskPerRow() ? Value() : emitBias(Value(), e.add(key, j * kLanes), lanes);
        for (int64_t r = 0; r < count; ++r) {
          Value bias = shared ? shared : emitBias(row[r], e.add(key, j * kLanes), lanes);
          Value score = e.fma(product[r * vectors + j], scale, bias);
          e.store(score, strip, {e.index(r), at});
          largest[r] = e.maxf(largest[r], score);
        }
      }
      return largest;
    });
  }

  bool hasMaskPerRow() {
    return op.getMask() && cast<MemRefType>(op.getMask().getType()).getDimSize(0) != 1;
  }

  /// What is added to the scores of the keys from |key| on: the mask, and -infinity in lanes that are no keys.
  Value emitBias(Value maskRow, Value key, Lanes lanes) {
    Value bias = e.splat(0.0);
    if (op.getMask()) {
      // A mask of one row serves all, also when only its run-time size says so.
      Value at = maskRow ? e.min(maskRow, e.add(e.size(op.getMask(), 0), -1)) : e.index(0);
      bias = e.maxf(e.splat(kLowest), e.load(op.getMask(), {at, key}, lanes));
    }
    return e.keep(bias, lanes, e.splat(kMinusInfinity));
  }

  /// Turns the scores of the strip into 2^(score - base) and adds them to |sums|, as many rows at a time as fit into registers.
  Values emitWeights(Value size, ValueRange base, ValueRange sums) {
    Values all;
    for (int64_t first = 0, count = row.size(); first < count; first += sizes.weightRows) {
      int64_t end = std::min(first + sizes.weightRows, count);
      all.append(e.forLoop(e.index(0), size, kLanes, sums.slice(first, end - first), [&](Value column, ValueRange carried) {
        Values next;
        for (int64_t r = first; r < end; ++r) {
          Value score = e.load(strip, {e.index(r), column});
          Value weight = emitExp2NonPositive(builder, loc, e.subf(score, base[r]));
          e.store(weight, strip, {e.index(r), column});
          next.push_back(e.addf(carried[r - first], weight));
        }
        return next;
      }));
    }
    return all;
  }

  /// What weights of the last block are multiplied by: head scale / sum, 0 for rows without keys and, if asked, without visible ones.
  Values emitFactors(ValueRange maxima, ValueRange sums) {
    Values factors;
    Value zero = e.f32(0.0);
    for (size_t r = 0; r < row.size(); ++r) {
      Value sum = e.sumLanes(sums[r]);
      Value factor = e.divf(e.f32(1.0), sum);
      if (op.getHeadScale())
        factor = e.mulf(factor, op.getHeadScale());
      factor = e.select(arith::CmpFPredicate::OEQ, sum, zero, zero, factor);
      if (op.getMaskedRows() == xfmr::MaskedRows::Zero)
        factor = e.select(arith::CmpFPredicate::OLE, maxima[r], e.f32(kLowest / 2), zero, factor);
      factors.push_back(e.splat(factor));
    }
    return factors;
  }

  /// Writes the weights of this block times |factor|, and brings those of earlier blocks up to date.
  void emitProbabilities(Value probabilities, Value begin, Value size, ValueRange earlier, ValueRange factor) {
    e.forLoop(e.index(0), begin, kLanes, {}, [&](Value column, ValueRange) -> Values {
      for (size_t r = 0; r < row.size(); ++r)
        e.store(e.mulf(e.load(probabilities, {row[r], column}), earlier[r]), probabilities, {row[r], column});
      return {};
    });
    e.forLoop(e.index(0), size, kLanes, {}, [&](Value column, ValueRange) -> Values {
      Lanes lanes = Lanes::first(e.sub(size, column));
      for (size_t r = 0; r < row.size(); ++r) {
        Value weight = e.mulf(e.load(strip, {e.index(r), column}), factor[r]);
        e.store(weight, probabilities, {row[r], e.add(begin, column)}, lanes);
      }
      return {};
    });
  }

  /// Adds the weighted values to the result, as many columns at a time as fit into registers.
  void emitValues(Value begin, Value size, Value isFirst, ValueRange decay, ValueRange factor) {
    int64_t columns = cast<MemRefType>(op.getValue().getType()).getDimSize(1), chunks = llvm::divideCeil(columns, kLanes);
    int64_t groups = llvm::divideCeil(chunks, sizes.valueVectors), done = 0;
    for (int64_t group = 0; group < groups; ++group) {
      int64_t vectors = llvm::divideCeil(chunks - done, groups - group);
      emitValueColumns(begin, size, isFirst, decay, factor, done * kLanes, vectors, columns);
      done += vectors;
    }
  }

  void emitValueColumns(Value begin, Value size, Value isFirst, ValueRange decay, ValueRange factor, int64_t column,
                        int64_t vectors, int64_t columns) {
    int64_t count = row.size();
    auto at = [&](int64_t j) { return e.index(column + j * kLanes); };
    auto lanes = [&](int64_t j) { return Lanes::first(columns - column - j * kLanes); };
    Values initial = e.choose(
        isFirst, [&] { return Values(count * vectors, e.splat(0.0)); },
        [&] {
          Values former;
          for (int64_t r = 0; r < count; ++r)
            for (int64_t j = 0; j < vectors; ++j)
              former.push_back(e.mulf(e.load(result, {row[r], at(j)}, lanes(j)), decay[r]));
          return former;
        });
    Values product = e.multiply(
        e.index(0), size, count, vectors, kUnroll, initial,
        [&](int64_t r, Value k) { return e.loadScalar(strip, {e.index(r), k}); },
        [&](int64_t j, Value k) {
          Value key = e.add(begin, k);
          memref::PrefetchOp::create(builder, loc, op.getValue(), ValueRange{e.add(key, kPrefetch), at(j)},
                                     /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
          return e.load(op.getValue(), {key, at(j)}, lanes(j));
        });
    for (int64_t r = 0; r < count; ++r)
      for (int64_t j = 0; j < vectors; ++j)
        e.store(e.mulf(product[r * vectors + j], factor[r]), result, {row[r], at(j)}, lanes(j));
  }

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Values scaled(ValueRange values, ValueRange by) {
    Values result;
    for (auto [value, factor] : llvm::zip_equal(values, by))
      result.push_back(e.mulf(value, factor));
    return result;
  }

  xfmr::AttentionTileOp op;
  OpBuilder &builder;
  Location loc;
  VectorEmitter e;
  TileSizes sizes;
  int64_t keyBlock;
  Value strip, result, keys;
  Values row; // indices of the group's rows
};

/// Reports why |op| cannot be lowered.
LogicalResult verifyBuffers(xfmr::AttentionTileOp op, int64_t rows) {
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (type && (!type.getElementType().isF32() || !type.isLastDimUnitStride()))
      return op.emitOpError("expects f32 buffers with a contiguous last dimension, but got ") << type;
  }
  if (!op.getScratch())
    return op.emitOpError("expects a scratch buffer; attune-attach-scratch adds it");
  if (int64_t got = cast<MemRefType>(op.getScratch().getType()).getDimSize(0); got < rows)
    return op.emitOpError("expects a scratch buffer of at least ") << rows << " rows, but got " << got;
  if (cast<MemRefType>(op.getQuery().getType()).isDynamicDim(1) || cast<MemRefType>(op.getValue().getType()).isDynamicDim(1))
    return op.emitOpError("expects static head sizes, but got ") << op.getQuery().getType() << " and " << op.getValue().getType();
  return success();
}

struct LowerAttentionTile : attune::impl::LowerAttentionTileBase<LowerAttentionTile> {
  using LowerAttentionTileBase::LowerAttentionTileBase;

  void runOnOperation() override {
    if (!llvm::isPowerOf2_64(rows) || scoreVectors < 1 || valueVectors < 1 || weightRows < 1) {
      getOperation()->emitError("expects rows to be a power of two and the other sizes to be positive, but got ")
          << rows << ", " << scoreVectors << ", " << valueVectors << " and " << weightRows;
      return signalPassFailure();
    }
    WalkResult walk = getOperation()->walk([&](xfmr::AttentionTileOp op) {
      if (!isa<MemRefType>(op.getQuery().getType()))
        return WalkResult::advance();
      if (failed(verifyBuffers(op, rows)))
        return WalkResult::interrupt();
      OpBuilder builder(op);
      TileEmitter(op, builder, {rows, scoreVectors, valueVectors, weightRows}).run();
      op.erase();
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
