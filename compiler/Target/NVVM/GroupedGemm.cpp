//===- GroupedGemm.cpp - Projections by quantized weights -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The GEMM of rows of bf16 or f16 and weights of 4 or 8 bits with a scale for each group of components of K. The
// integers are converted in registers, exactly, and multiplied by tensor cores. The sums over a block of K are then
// multiplied by the scale of their group in f32. A block of K has 32 components, or 16 if the size of groups is no
// multiple of 32:
//
//   sum = 0;  sum += A B           one product m16n8k16 for a block of 16, two for a block of 32
//   acc = fma(scale, sum, acc)     acc = fma(minimum, row sums of A, acc), if there are minima
//
// The product expects in lane 4 g + t the 32-bit words t and t + 4 of column g of B, where a word is two neighbors in
// K. Instead, the lane has four neighbors of column g for each product, in a block whose first component is k:
//
//   block of 32, product p    k + 8 t + 4 p + 0 .. 3    one load of a row, or of integers of 4 bits, serves both p
//   block of 16               k + 4 t + 0 .. 3
//
// This permutes K within a block. The rows of A are read with the same permutation, so the sums are over the same
// products. A row of a panel (WeightFormat.h) is a column of B. A word has four (int8) or eight (int4) neighbors in K
// of one column, and the words of neighboring columns lie side by side, so lanes with neighboring g read neighboring
// words. Row sums of A are its products by a B of ones.
//
// Up to 16 columns, for decoding, whose time is the time to read the weights: the four warps of a block of threads take
// turns at steps of 32 components of K, and each loads up to eight of its steps before it multiplies the first. The
// sums of the warps are added in shared memory, 16 rows at a time; no operand passes through it. More columns: each
// warp has all 128 rows of the tile (64 of a tile of 64 columns) and its own quarter of the columns, so no integer is
// converted twice. Rows of A come through a ring of stages of one step each, which cp.async fills; the integers and
// scales of a step are loaded during the step before:
//
//   shared memory    | A0 | A1 | .. | A7 |        a stage: 64 bytes of each row, 8 KiB for 128 rows
//   copies           seven stages ahead
//   loads            | B0 | B1 | B2 | ..
//   products              | B0 A0 | B1 A1 | ..
//
// `ldmatrix` loads operand A as the product expects it, without moves between registers, if the words of a chunk of 16
// bytes belong to the four lanes of a row. So rows are copied word by word, transposed: chunk i has word i of each of
// these lanes. Chunks are swizzled, so that chunk i of eight neighboring rows is in different banks.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GroupedGemm.h"
#include "compiler/Target/NVVM/LowPrecisionGemm.h"
#include "compiler/Target/NVVM/StoredIntegers.h"
#include "compiler/Transforms/CacheElements.h"
#include "compiler/Transforms/DimBounds.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// Warps of a thread block, rows and columns of a product, and components of K in a step, which is one block of K of 32
/// or two of 16. kProductRows is also the number of components of K in a product.
constexpr int64_t kWarps = kBlockThreads / kWarp, kProductRows = 16, kProductColumns = 8, kStep = 32;
/// Components of K that a lane has in one product, and products of a step.
constexpr int64_t kLaneComponents = 4, kProducts = 2;
/// The elements from one row of sums in shared memory to the next, which put neighboring rows into different banks. The
/// largest number of steps that the variant for few columns loads at once, and of registers for their operands.
constexpr int64_t kSumStride = kSplitColumns + 8, kMostSteps = 8, kMostRegisters = 128;
/// Stages of the variant for many columns, each with the components of one step, and bytes and chunks of a row in a
/// stage.
constexpr int64_t kStages = 8, kRowBytes = 2 * kStep, kStepChunks = kStep / kChunk;

/// Emits the code of one thread for a product by quantized weights.
class GroupedEmitter {
public:
  /// A warp computes |rowTiles| times 16 rows and |columnTiles| times 8 columns at once.
  GroupedEmitter(tiles::GroupedProductOp op, ThreadBuilder &e, Value thread, int64_t rowTiles, int64_t columnTiles);

  /// Emits the operation with a part of K for each warp.
  void emitSplit();
  /// Emits the operation with columns of its own for each warp.
  void emitTiles();

private:
  void emitTile(Value row, Value first);
  /// Scales, or minima, of one group as stored: for each column tile a vector with those of the lane's columns 2t and
  /// 2t + 1.
  using Pairs = Values;

  /// The weights of a step, as stored: for each column tile one or two words of integers, and for each block the scales
  /// and, if there are any, the minima.
  struct Weights {
    SmallVector<Values> words;
    SmallVector<Pairs> scales, minima;
  };
  /// The place of a column: row |row| + |right| of panel |panel|.
  struct Place {
    Value panel, row;
    int64_t right;
  };
  /// Returns operand A of both products of a step for row tile |tile|, four words each.
  using RowsOf = llvm::function_ref<Values(int64_t tile)>;

  int64_t productsOfBlock() const { return hasLargeBlocks ? kProducts : 1; }
  /// Returns true if one word has the integers of both products of a step.
  bool sharesWords() const { return format.bits == 4 && hasLargeBlocks; }
  int64_t registersOfStep() const;
  Weights loadWeights(Value column, Value k);
  Values addStep(const Weights &weights, RowsOf rowsOf, Values sums);
  Values loadRows(Value row, Value k);
  Values loadWords(Value column, int64_t tile, Value k);
  Pairs loadPairs(Value column, Value k, int64_t firstByte);
  Values convert(const Values &words);
  static Values flatten(const Weights &weights);
  Weights unflatten(ValueRange values);
  void copyStage(Value slot, Value row, Value k);
  Values rowsInStage(Value slot, int64_t tile);
  Value addressIn(Value slot, Value row, Value chunk);
  Place placeOf(Value first, int64_t tile, Value inTile);
  Value groupAddress(Value panel, Value k, Value byte);
  Value groupOf(Value k) { return groups == 1 ? e.index(0) : e.min(e.div(k, groupColumns), e.index(groups - 1)); }
  /// Clamps |first| so that |count| components from it on are within K. Rows are read as zeros past K, so any integers
  /// will do there.
  Value inside(Value first, int64_t count) { return hasTail ? e.min(first, e.index(depth - count)) : first; }
  Value loadWord(const Place &place, Value first);
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
  StoredIntegers integers;
  Value thread, warp, lane, g, t, rows, columns, panels;
  /// The stages of A in shared memory, as a buffer of i32.
  Value stages;
  int64_t rowTiles, columnTiles, depth, groupColumns, groups, width;
  /// |hasLargeBlocks| is true if a block of K has 32 components, false if it has 16; |hasTail| is true if steps may
  /// reach past K.
  bool hasLargeBlocks, hasTail = true;
};

} // namespace

static MemRefType typeOf(Value buffer) { return cast<MemRefType>(buffer.getType()); }

GroupedEmitter::GroupedEmitter(tiles::GroupedProductOp op, ThreadBuilder &e, Value thread, int64_t rowTiles, int64_t columnTiles)
    : op(op), e(e), cores(e, typeOf(op.getRows()).getElementType()), format(op.getFormat().getValue()),
      integers(e, format, cores.elementType()), thread(thread), warp(e.div(thread, kWarp)), lane(e.rem(thread, kWarp)), g(e.div(lane, 4)),
      t(e.rem(lane, 4)), rows(e.size(op.getDestination(), 0)), columns(e.size(op.getDestination(), 1)), panels(e.size(op.getPanels(), 0)),
      rowTiles(rowTiles), columnTiles(columnTiles), depth(typeOf(op.getRows()).getDimSize(1)), groupColumns(op.getGroupColumns()),
      groups(typeOf(op.getPanels()).getDimSize(1)), width(op.getWidth()), hasLargeBlocks(groupColumns % kStep == 0) {}

/// Returns the place of column |inTile| of column tile |tile|, where tiles are counted from column |first| on. A column
/// past the last panel gets a place in the last panel.
GroupedEmitter::Place GroupedEmitter::placeOf(Value first, int64_t tile, Value inTile) {
  int64_t right = tile * kProductColumns, all = columnTiles * kProductColumns;
  Value panel = e.div(first, width), row = e.rem(first, width);
  // Addresses of tiles in one panel differ by constants, which need no registers.
  if (all % width == 0) {
    panel = e.add(panel, right / width), row = inTile, right %= width;
  } else if (width % all == 0) {
    row = e.add(row, inTile);
  } else {
    Value column = e.add(first, right);
    panel = e.div(column, width), row = e.add(e.rem(column, width), inTile), right = 0;
  }
  return {e.min(panel, e.add(panels, -1)), row, right};
}

/// Loads the lane's parts of rows |row| + g and |row| + g + 8 for both products of the step at |k|: operand A of each,
/// four words. In a block of 32 the parts of both products are neighbors, so one load of a row has them. Components
/// past K are zeros; rows past the last one repeat it.
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

/// Returns the address of byte |byte| of the group that has component |k|, in panel |panel|.
Value GroupedEmitter::groupAddress(Value panel, Value k, Value byte) { return e.addressOf(op.getPanels(), {panel, groupOf(k), byte}); }

/// Loads, as an i32, the four bytes that have the integers of the components |first| to |first| + 3 of a column;
/// |first| is a multiple of 4. With 4 bits, these bytes have eight integers, from |first| rounded down to a multiple of 8
/// on.
Value GroupedEmitter::loadWord(const Place &place, Value first) {
  int64_t inRun = format.bits == 8 ? kLaneComponents : 2 * kLaneComponents;
  Value inGroup = groups == 1 ? first : e.rem(first, groupColumns);
  Value byte = e.mul(e.add(e.mul(e.div(inGroup, inRun), width), place.row), kLaneComponents);
  Value address = groupAddress(place.panel, first, byte);
  address = e.advance(address, e.index(format.headBytes(width) + place.right * kLaneComponents));
  return LLVM::LoadOp::create(e, e.getI32Type(), address, /*alignment=*/4);
}

/// Loads the integers of column g of column tile |tile| for the step at |k|: one word if it has those of both products,
/// else one for each product.
Values GroupedEmitter::loadWords(Value column, int64_t tile, Value k) {
  Place place = placeOf(column, tile, g);
  if (sharesWords())
    return {loadWord(place, inside(firstOf(k, 0), 2 * kLaneComponents))};
  Values words;
  for (int64_t product = 0; product < kProducts; ++product)
    words.push_back(loadWord(place, inside(firstOf(k, product), kLaneComponents)));
  return words;
}

/// Returns operand B of both products of a step, two words each, from the |words| of loadWords.
Values GroupedEmitter::convert(const Values &words) {
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(e, value, 32); };
  Values all;
  for (int64_t product = 0; product < kProducts; ++product) {
    Value bytes = words[sharesWords() ? 0 : product];
    if (format.bits == 4) {
      Value isHigh = e.compare(arith::CmpIPredicate::eq, e.rem(t, 2), 1);
      Value shift = sharesWords() ? number(4 * product) : e.select(isHigh, number(4), number(0));
      bytes = arith::AndIOp::create(e, arith::ShRUIOp::create(e, bytes, shift), number(0x0f0f0f0f));
    }
    all.append({integers.toElements(bytes, 0), integers.toElements(bytes, 2)});
  }
  return all;
}

/// Loads the scales, or the minima, of the group of component |k| for the column tiles from |column| on. They begin at
/// byte |firstByte| of the group.
GroupedEmitter::Pairs GroupedEmitter::loadPairs(Value column, Value k, int64_t firstByte) {
  auto pair = VectorType::get({2}, format.wideScales ? Type(e.getF32Type()) : Type(e.getF16Type()));
  Pairs pairs;
  for (int64_t tile = 0; tile < columnTiles; ++tile) {
    Place place = placeOf(column, tile, e.mul(t, 2));
    Value address = groupAddress(place.panel, k, e.mul(place.row, format.scaleBytes()));
    address = e.advance(address, e.index(firstByte + place.right * format.scaleBytes()));
    pairs.push_back(LLVM::LoadOp::create(e, pair, address, /*alignment=*/2 * format.scaleBytes()));
  }
  return pairs;
}

/// Returns the number of registers that the lane's operands of a step take as loaded: its parts of two rows, and for
/// each column tile the integers and, for each block, pairs of scales and minima.
int64_t GroupedEmitter::registersOfStep() const {
  int64_t pairs = kProducts / productsOfBlock() * (format.minima ? 2 : 1), registersOfPair = format.wideScales ? 2 : 1;
  return 4 * kProducts + columnTiles * ((sharesWords() ? 1 : kProducts) + pairs * registersOfPair);
}

/// Loads the lane's weights of the components |k| to |k| + 31 for the column tiles from |column| on.
GroupedEmitter::Weights GroupedEmitter::loadWeights(Value column, Value k) {
  Weights weights;
  for (int64_t tile = 0; tile < columnTiles; ++tile)
    weights.words.push_back(loadWords(column, tile, k));
  for (int64_t first = 0; first < kProducts; first += productsOfBlock()) {
    Value at = e.add(k, first * kProductRows);
    weights.scales.push_back(loadPairs(column, at, 0));
    if (format.minima)
      weights.minima.push_back(loadPairs(column, at, width * format.scaleBytes()));
  }
  return weights;
}

/// Returns all values of |weights|, as a loop carries them.
Values GroupedEmitter::flatten(const Weights &weights) {
  Values all;
  for (const SmallVector<Values> *part : {&weights.words, &weights.scales, &weights.minima})
    for (const Values &values : *part)
      all.append(values);
  return all;
}

/// Returns the weights whose values flatten has put into |values|.
GroupedEmitter::Weights GroupedEmitter::unflatten(ValueRange values) {
  Weights weights;
  auto take = [&](SmallVector<Values> &to, int64_t count, int64_t size) {
    for (int64_t i = 0; i < count; ++i) {
      to.push_back(Values(values.take_front(size)));
      values = values.drop_front(size);
    }
  };
  int64_t blocks = kProducts / productsOfBlock();
  take(weights.words, columnTiles, sharesWords() ? 1 : kProducts);
  take(weights.scales, blocks, columnTiles);
  if (format.minima)
    take(weights.minima, blocks, columnTiles);
  return weights;
}

/// Returns |sums| plus the products of |weights| and the rows that |rowsOf| returns, each block of K times its scale.
/// Sums are those of row tile 0 and column tile 0, 1, …, then of row tile 1, and so on, four of each.
Values GroupedEmitter::addStep(const Weights &weights, RowsOf rowsOf, Values sums) {
  const Values none(4, e.f32(0.0));
  Value one = e.f32(1.0), ones = format.minima ? cores.pack(one, one) : Value();
  SmallVector<Values> columnsOf;
  for (const Values &words : weights.words)
    columnsOf.push_back(convert(words));
  auto numbers = [&](Value pair) {
    Value wide = widen(e, pair);
    return Values{vector::ExtractOp::create(e, wide, int64_t(0)), vector::ExtractOp::create(e, wide, int64_t(1))};
  };
  SmallVector<SmallVector<Values>> scales, minima;
  for (size_t block = 0; block < weights.scales.size(); ++block) {
    scales.push_back(llvm::map_to_vector(weights.scales[block], numbers));
    if (format.minima)
      minima.push_back(llvm::map_to_vector(weights.minima[block], numbers));
  }
  for (int64_t tile = 0; tile < rowTiles; ++tile) {
    Values part = rowsOf(tile);
    for (size_t block = 0; block < scales.size(); ++block) {
      // Returns the sums over this block of K of the row tile times B; |words| returns operand B of a product.
      auto multiply = [&](llvm::function_ref<Values(int64_t product)> words) {
        Values products = none;
        for (int64_t i = 0; i < productsOfBlock(); ++i) {
          int64_t product = static_cast<int64_t>(block) * productsOfBlock() + i;
          products = cores.multiply(ArrayRef(part).slice(4 * product, 4), words(product), products);
        }
        return products;
      };
      Values rowSums;
      if (format.minima)
        rowSums = multiply([&](int64_t) { return Values{ones, ones}; });
      for (int64_t beside = 0; beside < columnTiles; ++beside) {
        Values products = multiply([&](int64_t product) { return Values(ArrayRef(columnsOf[beside]).slice(2 * product, 2)); });
        for (int64_t i = 0; i < 4; ++i) {
          Value &sum = sums[(tile * columnTiles + beside) * 4 + i];
          sum = e.fma(scales[block][beside][i % 2], products[i], sum);
          if (format.minima)
            sum = e.fma(minima[block][beside][i % 2], rowSums[i], sum);
        }
      }
    }
  }
  return sums;
}

/// Calls |body| with the number, row and column of each of the lane's sums. The warp's sums begin at (|row|, |column|).
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

/// Returns the address in stage |slot| of the chunk |chunk| of row |row|.
Value GroupedEmitter::addressIn(Value slot, Value row, Value chunk) {
  Value place = arith::XOrIOp::create(e, chunk, e.rem(e.div(row, 2), kStepChunks));
  Value base = e.advance(e.addressOf(stages, e.index(0)), e.mul(slot, rowTiles * kProductRows * kRowBytes));
  return e.advance(base, e.add(e.mul(row, kRowBytes), e.mul(place, kChunkBytes)));
}

/// Starts to copy the components |k| to |k| + 31 of the tile's rows, from |row| on, to stage |slot|. Components past K
/// become zeros. Rows that do not exist repeat the last one; their sums are not stored.
void GroupedEmitter::copyStage(Value slot, Value row, Value k) {
  // A warp copies two rows at once, a lane the word of two components of a row.
  constexpr int64_t kWords = kStep / 2, kAtOnce = kBlockThreads / kWords;
  Value mine = e.div(thread, kWords), word = e.rem(thread, kWords), chunk, inChunk;
  // Lane t's operand lies in word t of the four chunks of a row. With blocks of 32, chunk i has word 4t + i of the row.
  // With blocks of 16, chunks i and 2 + i have word 2t + i of the first and of the second block, for i = 0 and 1.
  if (hasLargeBlocks)
    inChunk = e.div(word, 4), chunk = e.rem(word, 4);
  else
    inChunk = e.div(e.rem(word, 8), 2), chunk = e.add(e.mul(e.div(word, 8), 2), e.rem(word, 2));
  Value component = e.add(k, e.mul(word, 2)), exists = e.compare(arith::CmpIPredicate::slt, component, depth);
  // Rows a multiple of 8 apart have the same swizzle.
  static_assert(kAtOnce % 8 == 0);
  Value to = e.advance(addressIn(slot, mine, chunk), e.mul(inChunk, 4));
  Value first = e.add(row, mine), from = e.addressOf(op.getRows(), {first, component});
  int64_t count = rowTiles * kProductRows, stride = typeOf(op.getRows()).getStridesAndOffset().first[0];
  auto whole = [&]() -> Values {
    for (int64_t local = 0; local < count; local += kAtOnce)
      cores.copyWord(e.advance(to, e.index(local * kRowBytes)), e.advance(from, e.index(local * stride * 2)), exists);
    return {};
  };
  // A loop, since the addresses of all rows would not fit into registers.
  auto part = [&]() -> Values {
    e.loop(e.index(0), e.index(count), kAtOnce, [&](Value local) {
      Value some = e.min(e.add(first, local), e.add(rows, -1));
      cores.copyWord(e.advance(to, e.mul(local, kRowBytes)), e.addressOf(op.getRows(), {some, component}), exists);
    });
    return {};
  };
  if (stride == ShapedType::kDynamic)
    part();
  else
    e.choose(e.compare(arith::CmpIPredicate::sle, e.add(row, count), rows), whole, part);
}

/// Loads from stage |slot| what loadRows loads: the lane's parts of row tile |tile| for both products of a step.
Values GroupedEmitter::rowsInStage(Value slot, int64_t tile) {
  Value row = e.add(e.mul(e.rem(e.div(lane, 8), 2), 8), e.rem(lane, 8));
  Values all;
  for (int64_t product = 0; product < kProducts; ++product) {
    Value address = addressIn(slot, row, e.add(e.div(lane, 16), 2 * product));
    all.append(cores.loadMatrices(e.advance(address, e.index(tile * kProductRows * kRowBytes))));
  }
  return all;
}

/// Emits the tile whose first row is |row| and first column |first|.
void GroupedEmitter::emitTile(Value row, Value first) {
  Value zero = e.index(0), column = e.add(first, e.mul(warp, columnTiles * kProductColumns));
  auto after = [&](Value slot, int64_t count) { return e.rem(e.add(slot, count), kStages); };
  // Loads run a step ahead. Past the last step, they load its weights again, which are not used.
  auto weightsAt = [&](Value k) { return loadWeights(column, e.min(k, e.index((depth - 1) / kStep * kStep))); };
  e.barrier(); // The tile before may still be read.
  e.loop(zero, e.index(kStages - 1), 1, [&](Value stage) {
    copyStage(stage, row, e.mul(stage, kStep));
    cores.commitCopies();
  });
  Values carried = noSums();
  size_t count = carried.size();
  carried.append(flatten(weightsAt(zero)));
  carried.push_back(zero);
  carried = e.loop(zero, e.index(depth), e.index(kStep), carried, [&](Value k, ValueRange before) -> Values {
    Value slot = before.back();
    cores.waitForCopies(kStages - 2);
    e.barrier();
    copyStage(after(slot, kStages - 1), row, e.add(k, (kStages - 1) * kStep));
    cores.commitCopies();
    Weights weights = unflatten(before.drop_front(count).drop_back()), next = weightsAt(e.add(k, kStep));
    Values sums = addStep(weights, [&](int64_t tile) { return rowsInStage(slot, tile); }, Values(before.take_front(count)));
    sums.append(flatten(next));
    sums.push_back(after(slot, 1));
    return sums;
  });
  cores.waitForCopies(0);
  forEachSum(row, column, [&](int64_t number, Value down, Value right) { store(carried[number], down, right); });
}

void GroupedEmitter::emitTiles() {
  int64_t atOnce = rowTiles * kProductRows, wide = kWarps * columnTiles * kProductColumns;
  stages = e.allocateShared(e.getI32Type(), {kStages * atOnce * kStep / 2});
  hasTail = depth % kStep != 0;
  // Usually the result is one tile. The counters of loops over tiles would take registers, which the sums need.
  DimBounds bounds;
  auto isOne = [&](int64_t dim, int64_t most) {
    std::optional<int64_t> size = bounds.getConstantDim(op.getDestination(), dim);
    return size && *size <= most;
  };
  Value zero = e.index(0);
  if (isOne(0, atOnce) && isOne(1, wide)) {
    Value some = e.both(e.compare(arith::CmpIPredicate::sgt, rows, 0), e.compare(arith::CmpIPredicate::sgt, columns, 0));
    e.ifThen(some, [&] { emitTile(zero, zero); });
    return;
  }
  e.loop(zero, rows, atOnce, [&](Value row) { e.loop(zero, columns, wide, [&](Value first) { emitTile(row, first); }); });
}

void GroupedEmitter::emitSplit() {
  Value shared = e.allocateShared(e.getF32Type(), {kWarps, kSplitRows, kSumStride}), zero = e.index(0);
  int64_t stepsAtOnce = divideEvenly(llvm::divideCeil(depth, kWarps * kStep), std::min(kMostSteps, kMostRegisters / registersOfStep()));
  hasTail = depth % (kWarps * kStep * stepsAtOnce) != 0;
  e.loop(zero, rows, kSplitRows, [&](Value row) {
    e.loop(zero, columns, kSplitColumns, [&](Value column) {
      Values sums =
          e.loop(e.mul(warp, kStep), e.index(depth), e.index(kWarps * kStep * stepsAtOnce), noSums(), [&](Value k, ValueRange before) {
            SmallVector<std::pair<Weights, Values>, kMostSteps> steps;
            for (int64_t i = 0; i < stepsAtOnce; ++i) {
              Value at = e.add(k, i * kWarps * kStep);
              Weights weights = loadWeights(column, at);
              steps.push_back({weights, loadRows(row, at)});
            }
            Values sums(before);
            for (const auto &[weights, part] : steps)
              sums = addStep(weights, [&part = part](int64_t) { return part; }, sums);
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
         (rows.getElementType().isBF16() || rows.getElementType().isF16()) && rows.getDimSize(1) >= kProductRows &&
         rows.getDimSize(1) % kProductRows == 0;
}

void attune::emitGroupedGemm(tiles::GroupedProductOp op, GemmVariant variant, const ThreadLoops &loops) {
  ThreadBuilder e(op.getLoc(), op);
  if (variant == GemmVariant::Skinny)
    GroupedEmitter(op, e, loops.thread, kSplitRows / kProductRows, kSplitColumns / kProductColumns).emitSplit();
  else
    // A tile of 64 columns has 64 rows, one of 128 columns 128.
    GroupedEmitter(op, e, loops.thread, getMaxColumns(variant) / kProductRows, getMaxColumns(variant) / kWarps / kProductColumns)
        .emitTiles();
}
