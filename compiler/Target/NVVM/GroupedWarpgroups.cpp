//===- GroupedWarpgroups.cpp - Quantized weights by warpgroups ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The GEMM of many rows and weights of 4 or 8 bits for sm_90a. In GroupedGemm a warp multiplies the sums of a block of
// K by scales before it starts the next product, and the tensor cores wait. Here products are asynchronous, and
// transposed. The weights are the operand A, which wgmma takes from registers: they are converted there and need no way
// through shared memory. The rows are the operand B, which TMA loads as they are.
//
//   y^T [128 columns x 128 rows]  =  W [128 columns x K]  x^T [K x 128 rows]         a tile
//
//   shared memory   | X0 | X1 | .. | X7 |           a stage: 64 components of 128 rows, 16 KiB
//   WG0, thread 0   for each tile, for each stage: wait `empty`; expect 16 KiB at `full`; TMA
//   WG1  columns 0-63      for each block of a stage: sum = W X (two or four wgmma, asynchronous)
//   WG2  columns 64-127                               beside them: convert the next block, load later ones
//                                               wait; acc = fma(scale, sum, acc)
//
//   tensor cores   | WG1 sum | WG2 sum | WG1 sum | WG2 sum |
//   WG1                      | acc     |         | acc     |      while one multiplies by scales, the other one's
//   WG2            | acc     |         | acc     |                products run
//
// A block of K is the components that are summed before the sum is multiplied by a scale: 32 if groups have 32
// components; the 64 of a stage if groups have a multiple of 64 or are whole rows. Lane 4 g + t of a warp has, for each
// chunk of 8 components, the components 2t and 2t + 1 of the weight columns g and g + 8: the layout of operand A in
// registers (WarpgroupProducts.h). Both components of a column lie in one word, from which a shift and a byte
// permutation extract them. The four lanes of a column read the same word (4 bits) or two words (8 bits), so a load of
// a warp reads 32 neighboring bytes, or twice 32.
//
// Invariants. The stages are a StageRing. Components of the rows past K are zeros in shared memory, so the weights there do
// not matter: loads of weights past the last step of 32 components repeat that step.
//
// Cost. 128 KiB of shared memory. A consuming thread has 64 results, 64 sums, two operands of 8 or 16 words (of this
// block and of the next one), and 16 words that are loaded ahead. mma.sync (GroupedGemm.cpp) computes the other
// products: those of formats with minima, whose row sums would need products of their own, of other sizes of groups,
// such as 16, and of fewer than 64 components.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/GroupedWarpgroups.h"
#include "compiler/Target/NVVM/FusedEpilogue.h"
#include "compiler/Target/NVVM/GroupedGemm.h"
#include "compiler/Target/NVVM/ProjectionStrips.h"
#include "compiler/Target/NVVM/StageRing.h"
#include "compiler/Target/NVVM/StoredIntegers.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "compiler/Transforms/CacheElements.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// Columns of a tile, components of K in a stage, components of K in a step (the unit in which weights are loaded),
/// stages, and consuming warpgroups of a thread block.
constexpr int64_t kColumns = 128, kDepth = 64, kStep = 32, kStages = 8, kConsumers = 2;
/// Steps whose words are loaded ahead of those that are converted.
constexpr int64_t kStepsAhead = 2;
/// Words of operand A of a step: two products of four words each.
constexpr int64_t kStepWords = 8;

/// Emits the body of the loop over blocks of threads.
class GroupedWarpgroups {
public:
  GroupedWarpgroups(GroupedLoop whole, const ProjectionStrips &strips, ThreadBuilder &e);
  void emit(Value inputMap);

private:
  /// The weights of a step, as stored: words of integers, and the scales of columns g and g + 8.
  struct Step {
    Values words, scales;
  };
  /// The values that the loop over stages carries: the results, operand A of the next block and its scales, the steps that are
  /// loaded ahead, and the packed state of the pipeline.
  struct Carried {
    Values results, operand, scales;
    SmallVector<Step> ahead;
    Value place;
  };
  Values join(const Carried &carried);
  Carried split(ValueRange all);

  void produce(Value inputMap);
  void consume();
  Step loadStep(tiles::GroupedProductOp tile, Value k);
  void nextBlock(tiles::GroupedProductOp tile, Value k, Carried &at);
  Carried stage(tiles::GroupedProductOp tile, Value k, Carried at);
  void store(GroupedProjection tile, ArrayRef<Value> results);

  /// Steps of a block.
  int64_t stepsOfBlock() const { return groups == 1 || groupColumns % kDepth == 0 ? kDepth / kStep : 1; }

  GroupedLoop whole;
  const ProjectionStrips &strips;
  ThreadBuilder &e;
  xfmr::WeightFormat format;
  WarpgroupProducts products;
  StoredIntegers integers;
  StageRing ring;
  Value group, warp, g, t;
  int64_t depth, groupColumns, groups, width;
};

} // namespace

static MemRefType typeOf(Value buffer) { return cast<MemRefType>(buffer.getType()); }

GroupedWarpgroups::GroupedWarpgroups(GroupedLoop whole, const ProjectionStrips &strips, ThreadBuilder &e)
    : whole(whole), strips(strips), e(e), format(whole.projection.product.getFormat().getValue()),
      products(e, typeOf(whole.input).getElementType()), integers(e, format, typeOf(whole.input).getElementType()),
      ring(e, kStages, kWarpgroupRows * kDepth * 2, kConsumers), group(ring.group), warp(e.div(ring.inGroup, kWarp)),
      g(e.div(e.rem(ring.inGroup, kWarp), 4)), t(e.rem(ring.inGroup, 4)), depth(typeOf(whole.projection.product.getRows()).getDimSize(1)),
      groupColumns(whole.projection.product.getGroupColumns()), groups(typeOf(whole.projection.product.getPanels()).getDimSize(1)),
      width(whole.projection.product.getWidth()) {}

Values GroupedWarpgroups::join(const Carried &carried) {
  Values all(carried.results);
  all.append(carried.operand), all.append(carried.scales);
  for (const Step &step : carried.ahead)
    all.append(step.words), all.append(step.scales);
  all.push_back(carried.place);
  return all;
}

GroupedWarpgroups::Carried GroupedWarpgroups::split(ValueRange all) {
  auto take = [&](size_t count) {
    Values some(all.take_front(count));
    all = all.drop_front(count);
    return some;
  };
  Carried carried;
  carried.results = take(kWarpgroupRows / 2);
  carried.operand = take(kStepWords * stepsOfBlock()), carried.scales = take(2);
  for (int64_t i = 0; i < kStepsAhead; ++i) {
    Values words = take(kStepWords);
    carried.ahead.push_back({words, take(2)});
  }
  carried.place = all.front();
  return carried;
}

void GroupedWarpgroups::produce(Value inputMap) {
  strips.forEach(e, {ring.begin()}, [&](Value row, Value column, ValueRange before) -> Values {
    GroupedProjection tile = whole.cloneAt(e, row, column);
    Value first = GroupedLoop::firstRow(tile, e);
    GroupedLoop::erase(tile);
    return e.loop(e.index(0), e.index(depth), e.index(kDepth), before, [&](Value k, ValueRange carried) -> Values {
      PipelineState place = ring.unpack(carried[0]);
      Value to = ring.startFilling(place);
      ring.tma.load(to, inputMap, ring.barrierOf(place), {k, first});
      return {ring.after(place)};
    });
  });
}

/// Loads the weights of the lane's two columns of |tile| for the components |k| to |k| + 31, or for the last such step if
/// |k| is past it.
GroupedWarpgroups::Step GroupedWarpgroups::loadStep(tiles::GroupedProductOp tile, Value k) {
  k = e.min(k, e.index((depth - 1) / kStep * kStep));
  // A warp has 16 columns: one panel, or a part of one.
  Value first = e.add(e.mul(e.add(group, -1), kProductRows), e.mul(warp, 16));
  Value panel = e.min(e.div(first, width), e.add(e.size(tile.getPanels(), 0), -1)), row = e.add(e.rem(first, width), g);
  Value number = groups == 1 ? e.index(0) : e.min(e.div(k, groupColumns), e.index(groups - 1));
  Value inGroup = groups == 1 ? k : e.rem(k, groupColumns);
  // A word of a column has eight integers of 4 bits, a whole chunk, or four of 8 bits, half a chunk. With 8 bits, lanes
  // t = 2 and 3 read the second word of the chunk.
  int64_t chunkBytes = width * format.bits;
  Value byte = e.add(e.mul(e.div(inGroup, kChunk), chunkBytes), e.mul(row, 4));
  if (format.bits == 8)
    byte = e.add(byte, e.mul(e.div(t, 2), width * 4));
  Value words = e.addressOf(tile.getPanels(), {panel, number, byte});
  Value scales = e.addressOf(tile.getPanels(), {panel, number, e.mul(row, format.scaleBytes())});
  Step step;
  // The order of operand A: for each product columns g and g + 8 of its first chunk, then of its second one.
  for (int64_t chunk = 0; chunk < kStep / kChunk; ++chunk)
    for (int64_t right : {0, 8}) {
      Value at = e.advance(words, e.index(format.headBytes(width) + chunk * chunkBytes + right * 4));
      step.words.push_back(LLVM::LoadOp::create(e, e.getI32Type(), at, /*alignment=*/4));
    }
  Type element = format.wideScales ? Type(e.getF32Type()) : Type(e.getF16Type());
  for (int64_t right : {0, 8}) {
    Value at = e.advance(scales, e.index(right * format.scaleBytes()));
    step.scales.push_back(LLVM::LoadOp::create(e, element, at, static_cast<unsigned>(format.scaleBytes())));
  }
  return step;
}

/// Takes the steps of one block from the front of |at|.ahead, converts their words to |at|.operand, and sets
/// |at|.scales. Then loads the same number of steps, from component |k| on, to the end of |at|.ahead.
void GroupedWarpgroups::nextBlock(tiles::GroupedProductOp tile, Value k, Carried &at) {
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(e, value, 32); };
  auto word = [&](Value index) -> Value { return arith::IndexCastOp::create(e, e.getI32Type(), index); };
  // Lanes t = 0 and 1 have the low halves of bytes 0, 1 and 2, 3 of an int4 word, lanes 2 and 3 the high halves.
  Value shift = e.mul(e.rem(t, 2), 16);
  if (format.bits == 4)
    shift = e.add(shift, e.mul(e.div(t, 2), 4));
  at.operand.clear();
  at.scales = at.ahead.front().scales;
  for (int64_t i = 0; i < stepsOfBlock(); ++i) {
    for (Value stored : at.ahead.front().words) {
      Value bytes = arith::ShRUIOp::create(e, stored, word(shift));
      if (format.bits == 4)
        bytes = arith::AndIOp::create(e, bytes, number(0x0f0f));
      at.operand.push_back(integers.toElements(bytes, 0));
    }
    at.ahead.erase(at.ahead.begin());
    at.ahead.push_back(loadStep(tile, e.add(k, i * kStep)));
  }
}

/// Emits the products of a stage, whose first component is |k|, and releases the stage. Returns the next carried
/// values.
GroupedWarpgroups::Carried GroupedWarpgroups::stage(tiles::GroupedProductOp tile, Value k, Carried at) {
  PipelineState place = ring.unpack(at.place);
  SharedMatrix rows = products.matrix(ring.waitForStage(place), {/*isTransposed=*/false, /*isSwizzled=*/true});
  int64_t blockDepth = stepsOfBlock() * kStep;
  for (int64_t begin = 0; begin < kDepth; begin += blockDepth) {
    Values operand = at.operand, scales, sums;
    for (Value scale : at.scales)
      scales.push_back(widen(e, scale));
    products.fence({}, operand);
    for (int64_t k = 0; k < blockDepth; k += kProductDepth) {
      ValueRange words = ValueRange(operand).slice(k / kProductDepth * 4, 4);
      SharedMatrix part = rows.advance((begin + k) * 2);
      sums = k == 0 ? products.multiply(kWarpgroupRows, words, part, false) : products.add(sums, words, part, false);
    }
    products.commit();
    nextBlock(tile, e.add(k, begin + blockDepth + kStepsAhead * kStep), at);
    sums = products.wait(0, sums, operand);
    for (auto [i, sum] : llvm::enumerate(sums))
      at.results[i] = e.fma(scales[i % 4 / 2], sum, at.results[i]);
  }
  ring.release(place.stage);
  at.place = ring.after(place);
  return at;
}

/// Applies the epilogue of |tile|, if it has one, to the lane's results and stores them: columns g and g + 8 of the
/// warp's 16, of the rows 8 j + 2t and 8 j + 2t + 1 for j from 0 to 15. All loads for a few results come before their
/// stores. In a tile that is not completely inside the result, rows and columns that do not exist are not stored, and
/// the epilogue reads the operands of the last row or column for them.
void GroupedWarpgroups::store(GroupedProjection tile, ArrayRef<Value> results) {
  constexpr size_t kAtOnce = 8;
  Value sums = tile.product.getDestination(), rows = e.size(tile.getOutput(), 0), columns = e.size(tile.getOutput(), 1);
  Value first = e.add(e.add(e.mul(e.add(group, -1), kProductRows), e.mul(warp, 16)), g);
  auto storeAll = [&](bool isWhole) -> Values {
    SmallVector<SumAtElement> elements;
    for (int64_t right = 0; right < 2; ++right) {
      Value column = e.add(first, right * 8);
      for (auto [i, result] : llvm::enumerate(results)) {
        int64_t number = static_cast<int64_t>(i);
        if (number % 4 / 2 != right)
          continue;
        Value row = e.add(e.mul(t, 2), number / 4 * 8 + number % 2);
        if (isWhole) {
          elements.push_back({{}, row, column, result});
          continue;
        }
        Value exists = e.both(e.compare(arith::CmpIPredicate::slt, column, columns), e.compare(arith::CmpIPredicate::slt, row, rows));
        elements.push_back({exists, e.min(row, e.add(rows, -1)), e.min(column, e.add(columns, -1)), result});
      }
    }
    for (ArrayRef<SumAtElement> left(elements); !left.empty(); left = left.drop_front(std::min(kAtOnce, left.size())))
      storeSums(e, tile.epilogue, sums, left.take_front(kAtOnce));
    return {};
  };
  Value isWhole = e.both(e.compare(arith::CmpIPredicate::eq, rows, kWarpgroupRows), e.compare(arith::CmpIPredicate::eq, columns, kColumns));
  e.choose(isWhole, [&] { return storeAll(true); }, [&] { return storeAll(false); });
}

void GroupedWarpgroups::consume() {
  strips.forEach(e, {ring.begin()}, [&](Value row, Value column, ValueRange before) -> Values {
    GroupedProjection projection = whole.cloneAt(e, row, column);
    tiles::GroupedProductOp tile = projection.product;
    Value zero = e.index(0);
    Carried at{Values(kWarpgroupRows / 2, e.f32(0.0)), {}, {}, {}, before[0]};
    for (int64_t i = 0; i < kStepsAhead; ++i)
      at.ahead.push_back(loadStep(tile, e.index(i * kStep)));
    nextBlock(tile, e.index(kStepsAhead * kStep), at);
    at = split(e.loop(zero, e.index(depth), e.index(kDepth), join(at),
                      [&](Value k, ValueRange carried) -> Values { return join(stage(tile, k, split(carried))); }));
    store(projection, at.results);
    GroupedLoop::erase(projection);
    return {at.place};
  });
}

void GroupedWarpgroups::emit(Value inputMap) {
  ring.run([&] { produce(inputMap); }, [&] { consume(); });
}

bool attune::isGroupedWarpgroups(tiles::GroupedProductOp op) {
  if (!isGroupedGemm(op))
    return false;
  xfmr::WeightFormat format = op.getFormat().getValue();
  int64_t columns = op.getGroupColumns();
  bool isOneGroup = typeOf(op.getPanels()).getDimSize(1) == 1;
  bool isBlock = columns == kStep || columns % kDepth == 0 || (isOneGroup && columns % kStep == 0);
  return !format.minima && isBlock && typeOf(op.getRows()).getDimSize(1) >= kDepth;
}

scf::ForallOp attune::emitGroupedWarpgroups(GroupedLoop whole, int64_t arch) {
  scf::ForallOp before = whole.loop;
  ThreadBuilder host(before.getLoc(), before);
  Value depth = host.index(typeOf(whole.projection.product.getRows()).getDimSize(1));
  Value inputMap = rt::TensorMapOp::create(host, LLVM::LLVMPointerType::get(host.getContext()), whole.input,
                                           ValueRange{host.size(whole.input, 0), depth}, ValueRange{depth},
                                           ArrayRef<int64_t>{kWarpgroupRows, kDepth}, 2, 128);
  ProjectionStrips strips(host, before, kColumns, (kConsumers + 1) * kWarpgroup, arch);
  ThreadBuilder e = strips.bodyBuilder();
  GroupedWarpgroups(whole, strips, e).emit(inputMap);
  before.erase();
  return strips.getLoop();
}
