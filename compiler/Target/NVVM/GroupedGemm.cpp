//===- GroupedGemm.cpp - Projections by quantized weights -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The GEMM of rows of bf16 or f16 and weights of 4 or 8 bits with scales of groups. The integers are converted in
// registers, exactly, multiplied by tensor cores, and the sums of a block of K, 32 components or 16 with groups of 16,
// are multiplied by the scale of their group in f32:
//
//   sum = 0;  sum += A B           one product m16n8k16 for a block of 16, two for a block of 32
//   acc = fma(scale, sum, acc)     acc = fma(minimum, row sums of A, acc), if there are minima
//
// No operand passes through shared memory. The product expects in lane 4 g + t the words t and t + 4 of column g of B,
// where a word is two neighbors in K. Instead, the lane has four neighbors of column g for each product:
//
//   block of 32, product p    k + 8 t + 4 p + 0 .. 3          a load of a row, or of integers of 4 bits, serves both
//   block of 16               k + 4 t + 0 .. 3
//
// This permutes K within a block. The rows of A are read with the same permutation, so the sums are over the same
// products. A row of a panel (WeightFormat.h) is a column of B. Four (int8) or eight (int4) neighbors in K of neighboring
// columns lie side by side, so lanes with neighboring g read neighboring words. Row sums of A are its products by a B of
// ones.
//
// Up to 16 columns, for decoding, whose time is the time to read the weights: the four warps of a block of threads split
// K by steps of 32 components, and load two steps before they multiply the first. Their sums are added in shared memory,
// 16 rows at a time. More columns: each warp has 64 rows and its own quarter of the columns, so that a converted integer
// is used for four products; rows of A come from the cache of the multiprocessor, where the four warps share them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GroupedGemm.h"
#include "compiler/Target/NVVM/LowPrecisionGemm.h"
#include "compiler/Transforms/CacheElements.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// Warps of a block, rows and columns of a product, and components of K in a step, which has one or two blocks.
constexpr int64_t kWarps = kBlockThreads / kWarp, kProductRows = 16, kProductColumns = 8, kStep = 32;
/// Components of K that a lane has in one product, and products of a step.
constexpr int64_t kLaneComponents = 4, kProducts = 2;
/// The distance of rows of sums in shared memory, which puts neighboring rows into different banks, and the steps that the
/// variant for few columns loads at once.
constexpr int64_t kSumStride = kSplitColumns + 8, kStepsAtOnce = 2;
/// Rows that the variant for many columns computes at once.
constexpr int64_t kManyRows = 64;

/// Emits one operation.
class GroupedEmitter {
public:
  /// A warp computes |rowTiles| times 16 rows and |columnTiles| times 8 columns at once.
  GroupedEmitter(tiles::GroupedProductOp op, ThreadBuilder &e, Value thread, int64_t rowTiles, int64_t columnTiles);

  /// Emits the operation with a part of K for each warp.
  void emitSplit();
  /// Emits the operation with columns of its own for each warp.
  void emitTiles();

private:
  /// The numbers of a group for the lane's columns 2t and 2t + 1 of each column tile: scales, or minima.
  using Pairs = SmallVector<Values>;

  /// The operands of a step: for each column tile the words of B, for each row tile those of A, and for each block the
  /// scales and, if there are any, the minima.
  struct Step {
    SmallVector<Values> weights, parts;
    SmallVector<Pairs> scales, minima;
  };
  int64_t productsOfBlock() { return hasLargeBlocks ? kProducts : 1; }
  Step loadStep(Value row, Value column, Value k);
  Values addStep(const Step &step, Values sums);
  Values loadRows(Value row, Value k);
  Values loadWeights(Value column, Value k);
  Pairs loadPairs(Value column, Value k, int64_t firstByte);
  std::pair<Value, Value> placeOf(Value column);
  Value groupOf(Value k) { return groups == 1 ? e.index(0) : e.min(e.div(k, groupColumns), e.index(groups - 1)); }
  /// Returns |first|, or the first of the last |count| components if |first| is past them. Rows have zeros past K, so any
  /// integers will do there.
  Value inside(Value first, int64_t count) { return hasTail ? e.min(first, e.index(depth - count)) : first; }
  Value loadWord(Value panel, Value row, Value first);
  Value firstOf(Value k, int64_t product) {
    return hasLargeBlocks ? e.add(k, e.add(e.mul(t, 2 * kLaneComponents), e.index(kLaneComponents * product)))
                          : e.add(k, e.add(e.mul(t, kLaneComponents), e.index(kProductRows * product)));
  }
  Values noSums() { return Values(rowTiles * columnTiles * 4, e.f32(0.0)); }
  void store(Value sum, Value row, Value column);
  void forEachSum(Value row, Value column, llvm::function_ref<void(int64_t number, Value row, Value column)> body);

  tiles::GroupedProductOp op;
  ThreadBuilder &e;
  TensorCores cores;
  xfmr::WeightFormat format;
  Value thread, warp, lane, g, t, rows, columns, panels;
  int64_t rowTiles, columnTiles, depth, groupColumns, groups, width;
  /// |hasLargeBlocks| is true if the block of a scale has 32 components of K, false if it has 16; |hasTail| is true if
  /// steps may reach past K.
  bool hasLargeBlocks, hasTail = true;
};

} // namespace

static MemRefType typeOf(Value buffer) { return cast<MemRefType>(buffer.getType()); }

GroupedEmitter::GroupedEmitter(tiles::GroupedProductOp op, ThreadBuilder &e, Value thread, int64_t rowTiles, int64_t columnTiles)
    : op(op), e(e), cores(e, typeOf(op.getRows()).getElementType()), format(op.getFormat().getValue()), thread(thread),
      warp(e.div(thread, kWarp)), lane(e.rem(thread, kWarp)), g(e.div(lane, 4)), t(e.rem(lane, 4)), rows(e.size(op.getDestination(), 0)),
      columns(e.size(op.getDestination(), 1)), panels(e.size(op.getPanels(), 0)), rowTiles(rowTiles), columnTiles(columnTiles),
      depth(typeOf(op.getRows()).getDimSize(1)), groupColumns(op.getGroupColumns()), groups(typeOf(op.getPanels()).getDimSize(1)),
      width(op.getWidth()), hasLargeBlocks(groupColumns % kStep == 0) {}

/// Returns the panel of |column| and its row in the panel. Columns past the last panel read the last one.
std::pair<Value, Value> GroupedEmitter::placeOf(Value column) {
  return {e.min(e.div(column, width), e.add(panels, -1)), e.rem(column, width)};
}

/// Loads the lane's parts of rows |row| + g and |row| + g + 8 for both products of the step at |k|: operand A of each, four
/// words. The parts of the products of a block are neighbors, so one load has them. Components past K are zeros.
Values GroupedEmitter::loadRows(Value row, Value k) {
  Value last = e.add(rows, -1);
  Values words[2];
  for (int64_t half = 0; half < 2; ++half) {
    Value from = e.min(e.add(row, e.add(g, kProductRows / 2 * half)), last);
    for (int64_t product = 0; product < kProducts; product += productsOfBlock()) {
      Value first = firstOf(k, product), exists = hasTail ? e.compare(arith::CmpIPredicate::slt, first, depth) : Value();
      words[half].append(cores.loadWords(exists, op.getRows(), {from, first}, productsOfBlock() * kLaneComponents / 2));
    }
  }
  Values all;
  for (int64_t i = 0; i < 2 * kProducts; i += 2)
    all.append({words[0][i], words[1][i], words[0][i + 1], words[1][i + 1]});
  return all;
}

/// Loads, as an i32, the four bytes of row |row| of panel |panel| that have the integers of the components |first| to
/// |first| + 3; |first| is a multiple of 4. With 4 bits, these bytes have eight integers, from |first| rounded down to a
/// multiple of 8 on.
Value GroupedEmitter::loadWord(Value panel, Value row, Value first) {
  auto bytes = VectorType::get({kLaneComponents}, e.getI8Type()), word = VectorType::get({1}, e.getI32Type());
  int64_t inRun = format.bits == 8 ? kLaneComponents : 2 * kLaneComponents;
  Value inGroup = groups == 1 ? first : e.rem(first, groupColumns);
  Value byte = e.add(e.mul(e.add(e.mul(e.div(inGroup, inRun), width), row), kLaneComponents), format.headBytes(width));
  Value loaded = vector::LoadOp::create(e, bytes, op.getPanels(), ValueRange{panel, groupOf(first), byte});
  return vector::ExtractOp::create(e, vector::BitCastOp::create(e, word, loaded), int64_t(0));
}

/// Loads the integers of column |column| + g for both products of the step at |k|: operand B of each, two words.
Values GroupedEmitter::loadWeights(Value column, Value k) {
  auto [panel, row] = placeOf(e.add(column, g));
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(e, value, 32); };
  bool isShared = format.bits == 4 && hasLargeBlocks;
  Value both = isShared ? loadWord(panel, row, inside(firstOf(k, 0), 2 * kLaneComponents)) : Value();
  Values all;
  for (int64_t product = 0; product < kProducts; ++product) {
    Value stored = both ? both : loadWord(panel, row, inside(firstOf(k, product), kLaneComponents));
    if (format.bits == 4) {
      Value isHigh = e.compare(arith::CmpIPredicate::eq, e.rem(t, 2), 1);
      Value shift = isShared ? number(4 * product) : e.select(isHigh, number(4), number(0));
      stored = arith::ShRUIOp::create(e, stored, shift);
    }
    Values integers;
    for (int64_t i = 0; i < kLaneComponents; ++i) {
      Value one = arith::AndIOp::create(e, arith::ShRUIOp::create(e, stored, number(8 * i)), number(format.bits == 8 ? 255 : 15));
      integers.push_back(arith::SIToFPOp::create(e, e.getF32Type(), arith::SubIOp::create(e, one, number(format.zero()))));
    }
    all.append({cores.pack(integers[0], integers[1]), cores.pack(integers[2], integers[3])});
  }
  return all;
}

/// Loads the scales or the minima, which begin at byte |firstByte| of a group, of the group at |k|.
GroupedEmitter::Pairs GroupedEmitter::loadPairs(Value column, Value k, int64_t firstByte) {
  Type element = format.wideScales ? Type(e.getF32Type()) : Type(e.getF16Type());
  auto bytes = VectorType::get({2 * format.scaleBytes()}, e.getI8Type()), pair = VectorType::get({2}, element);
  Value group = groupOf(k);
  Pairs pairs;
  for (int64_t tile = 0; tile < columnTiles; ++tile) {
    auto [panel, row] = placeOf(e.add(e.add(column, tile * kProductColumns), e.mul(t, 2)));
    Value byte = e.add(e.mul(row, format.scaleBytes()), firstByte);
    Value loaded = vector::LoadOp::create(e, bytes, op.getPanels(), ValueRange{panel, group, byte});
    Value numbers = widen(e, vector::BitCastOp::create(e, pair, loaded));
    pairs.push_back({vector::ExtractOp::create(e, numbers, int64_t(0)), vector::ExtractOp::create(e, numbers, int64_t(1))});
  }
  return pairs;
}

/// Loads the operands of the components |k| to |k| + 31.
GroupedEmitter::Step GroupedEmitter::loadStep(Value row, Value column, Value k) {
  Step step;
  for (int64_t tile = 0; tile < columnTiles; ++tile)
    step.weights.push_back(loadWeights(e.add(column, tile * kProductColumns), k));
  for (int64_t first = 0; first < kProducts; first += productsOfBlock()) {
    Value at = e.add(k, first * kProductRows);
    step.scales.push_back(loadPairs(column, at, 0));
    if (format.minima)
      step.minima.push_back(loadPairs(column, at, width * format.scaleBytes()));
  }
  for (int64_t tile = 0; tile < rowTiles; ++tile)
    step.parts.push_back(loadRows(e.add(row, tile * kProductRows), k));
  return step;
}

/// Returns |sums| plus the products of |step|. Sums are those of row tile 0 and column tile 0, 1, …, then of row tile 1,
/// and so on, four of each.
Values GroupedEmitter::addStep(const Step &step, Values sums) {
  const Values none(4, e.f32(0.0));
  Value one = e.f32(1.0), ones = format.minima ? cores.pack(one, one) : Value();
  for (auto [number, scales] : llvm::enumerate(step.scales)) {
    // Returns the sums over the block of the products of a row tile and the B whose words of each product are given.
    auto multiply = [&](const Values &part, llvm::function_ref<Values(int64_t product)> words) {
      Values block = none;
      for (int64_t i = 0; i < productsOfBlock(); ++i) {
        int64_t product = static_cast<int64_t>(number) * productsOfBlock() + i;
        block = cores.multiply(ArrayRef(part).slice(4 * product, 4), words(product), block);
      }
      return block;
    };
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      const Values &part = step.parts[tile];
      Values rowSums;
      if (format.minima)
        rowSums = multiply(part, [&](int64_t) { return Values{ones, ones}; });
      for (int64_t beside = 0; beside < columnTiles; ++beside) {
        Values block = multiply(part, [&](int64_t product) { return Values(ArrayRef(step.weights[beside]).slice(2 * product, 2)); });
        for (int64_t i = 0; i < 4; ++i) {
          Value &sum = sums[(tile * columnTiles + beside) * 4 + i];
          sum = e.fma(scales[beside][i % 2], block[i], sum);
          if (format.minima)
            sum = e.fma(step.minima[number][beside][i % 2], rowSums[i], sum);
        }
      }
    }
  }
  return sums;
}

/// Calls |body| with the number, row and column of each of the lane's sums.
void GroupedEmitter::forEachSum(Value row, Value column, llvm::function_ref<void(int64_t, Value, Value)> body) {
  for (int64_t number = 0; number < rowTiles * columnTiles * 4; ++number) {
    int64_t tile = number / 4, down = tile / columnTiles * kProductRows + number % 4 / 2 * 8,
            right = tile % columnTiles * kProductColumns + number % 2;
    body(number, e.add(row, e.add(g, down)), e.add(column, e.add(e.mul(t, 2), right)));
  }
}

/// Stores |sum| to the destination if its |row| and |column| exist.
void GroupedEmitter::store(Value sum, Value row, Value column) {
  Value exists = e.both(e.compare(arith::CmpIPredicate::slt, row, rows), e.compare(arith::CmpIPredicate::slt, column, columns));
  e.ifThen(exists, [&] { e.store(sum, op.getDestination(), {row, column}); });
}

void GroupedEmitter::emitTiles() {
  int64_t atOnce = rowTiles * kProductRows, warpColumns = columnTiles * kProductColumns;
  Value zero = e.index(0);
  hasTail = depth % kStep != 0;
  e.loop(zero, rows, atOnce, [&](Value row) {
    e.loop(e.mul(warp, warpColumns), columns, kWarps * warpColumns, [&](Value column) {
      Values sums = e.loop(zero, e.index(depth), e.index(kStep), noSums(),
                           [&](Value k, ValueRange before) { return addStep(loadStep(row, column, k), Values(before)); });
      forEachSum(row, column, [&](int64_t number, Value down, Value right) { store(sums[number], down, right); });
    });
  });
}

void GroupedEmitter::emitSplit() {
  Value shared = e.allocateShared(e.getF32Type(), {kWarps, kSplitRows, kSumStride}), zero = e.index(0);
  hasTail = depth % (kWarps * kStep * kStepsAtOnce) != 0;
  e.loop(zero, rows, kSplitRows, [&](Value row) {
    e.loop(zero, columns, kSplitColumns, [&](Value column) {
      Values sums =
          e.loop(e.mul(warp, kStep), e.index(depth), e.index(kWarps * kStep * kStepsAtOnce), noSums(), [&](Value k, ValueRange before) {
            SmallVector<Step, kStepsAtOnce> steps;
            for (int64_t i = 0; i < kStepsAtOnce; ++i)
              steps.push_back(loadStep(row, column, e.add(k, i * kWarps * kStep)));
            Values sums(before);
            for (const Step &step : steps)
              sums = addStep(step, sums);
            return sums;
          });
      keepSums(e, sums, shared, warp, lane);
      e.barrier();
      joinSums(e, shared, thread, [&](Value down, Value right, Value sum) { store(sum, e.add(row, down), e.add(column, right)); });
      e.barrier();
    });
  });
}

bool attune::isGroupedGemm(tiles::GroupedProductOp op) {
  auto rows = dyn_cast<MemRefType>(op.getRows().getType()), panels = dyn_cast<MemRefType>(op.getPanels().getType());
  return rows && panels && rows.isLastDimUnitStride() && panels.isLastDimUnitStride() &&
         (rows.getElementType().isBF16() || rows.getElementType().isF16()) && rows.getDimSize(1) % kProductRows == 0;
}

void attune::emitGroupedGemm(tiles::GroupedProductOp op, GemmVariant variant, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  if (variant == GemmVariant::Skinny)
    GroupedEmitter(op, e, loops.thread, kSplitRows / kProductRows, kSplitColumns / kProductColumns).emitSplit();
  else
    GroupedEmitter(op, e, loops.thread, kManyRows / kProductRows, getMaxColumns(variant) / kWarps / kProductColumns).emitTiles();
}
