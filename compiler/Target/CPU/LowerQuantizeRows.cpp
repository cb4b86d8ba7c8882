//===- LowerQuantizeRows.cpp - Quantized rows by vectors of 16 lanes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `tile.quantize_rows` on buffers with contiguous last dimensions. Leaves an scf loop over rows around loops
// over chunks of 16 columns.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CacheScales.h"
#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/CPU/VectorBuilder.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attune {
#define GEN_PASS_DEF_LOWERQUANTIZEROWS
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// Emits the code of one tile.quantize_rows.
class RowQuantizer {
public:
  explicit RowQuantizer(tiles::QuantizeRowsOp op)
      : op(op), builder(op.getLoc(), op), input(op.getInput()), quantized(op.getQuantized()),
        element(cast<MemRefType>(quantized.getType()).getElementType()), columns(cast<MemRefType>(input.getType()).getDimSize(1)),
        padded(cast<MemRefType>(quantized.getType()).getDimSize(1)) {}

  void run() {
    builder.loop(builder.index(0), builder.size(input, 0), 1, [&](Value row) {
      if (op.getSums())
        quantizeGroups(row);
      else if (op.getScales())
        quantize(row);
      else
        forEachChunk(row, [&](Value x) { return round(x); });
    });
  }

private:
  VectorType vectorOf(Type type) { return VectorType::get({VectorBuilder::kLanes}, type); }

  /// Rounds |x| to bf16; returns the rounded value as f32 if the destination has elements of f32.
  Value round(Value x) {
    Value rounded = arith::TruncFOp::create(builder, vectorOf(builder.getBF16Type()), x);
    return element.isF32() ? arith::ExtFOp::create(builder, vectorOf(element), rounded).getResult() : rounded;
  }

  void quantize(Value row) {
    Value largest = largestMagnitude(row);
    Value scale = builder.divf(largest, builder.f32(127));
    memref::StoreOp::create(builder, scale, op.getScales(), row);
    // Any finite inverse quantizes a row of zeros to the integers that mean 0.
    Value nonzero = builder.select(builder.compare(arith::CmpFPredicate::OEQ, largest, builder.f32(0)), builder.f32(1), largest);
    Value inverse = builder.splat(builder.divf(builder.f32(127), nonzero));
    Value shifter = builder.splat(kShifter);
    Value zero = arith::ConstantOp::create(
        builder, DenseElementsAttr::get(vectorOf(element), IntegerAttr::get(element, element.isInteger(8) ? 128 : 0)));
    forEachChunk(row, [&](Value x) -> Value {
      Value shifted = builder.addf(builder.mulf(x, inverse), shifter);
      Value bits = arith::BitcastOp::create(builder, vectorOf(builder.getI32Type()), shifted);
      return arith::AddIOp::create(builder, arith::TruncIOp::create(builder, vectorOf(element), bits), zero);
    });
  }

  //===--------------------------------------------------------------------===//
  // A scale per group of columns
  //===--------------------------------------------------------------------===//

  VectorType words() { return vectorOf(builder.getI32Type()); }

  void quantizeGroups(Value row) {
    int64_t group = *op.getGroup(), whole = columns / group;
    builder.loop(builder.index(0), builder.index(whole), 1, [&](Value index) { quantizeGroup(row, index, group); });
    if (columns % group != 0)
      quantizeGroup(row, builder.index(whole), columns % group);
  }

  /// Quantizes group |index| of |row|. The group has |existing| columns of the input, then zeros up to its size.
  void quantizeGroup(Value row, Value index, int64_t existing) {
    int64_t group = *op.getGroup();
    Value first = builder.mul(index, group);
    auto load = [&](Value offset, Lanes lanes) { return builder.load(input, {row, builder.add(first, offset)}, lanes); };
    Value largest = arith::ConstantOp::create(builder, builder.getZeroAttr(words()));
    largest = foldChunks(existing, largest,
                         [&](Value offset, Lanes lanes, Value largest) { return maxMagnitude(builder, load(offset, lanes), largest); });
    IntegerScale scale = getIntegerScale(builder, maxOfLanes(builder, largest));
    memref::StoreOp::create(builder, scale.scale, op.getScales(), ValueRange{row, index});
    IntegerScale ofLanes = broadcast(builder, scale);
    Value sum = arith::ConstantOp::create(builder, builder.getZeroAttr(words()));
    sum = foldChunks(group, sum, [&](Value offset, Lanes lanes, Value sum) -> Value {
      std::optional<int64_t> begin = getConstantIntValue(offset);
      Value integers;
      if (begin && *begin >= existing) {
        integers = arith::ConstantOp::create(builder, builder.getZeroAttr(words()));
      } else {
        integers = toIntegers(builder, load(offset, begin ? Lanes::first(existing - *begin) : lanes), ofLanes);
      }
      builder.store(arith::TruncIOp::create(builder, vectorOf(element), integers), quantized, {row, builder.add(first, offset)});
      return arith::AddIOp::create(builder, sum, integers);
    });
    Value all = vector::ReductionOp::create(builder, vector::CombiningKind::ADD, sum);
    memref::StoreOp::create(builder, all, op.getSums(), ValueRange{row, index});
  }

  /// Calls |body| for each chunk of 16 of |count| columns with the result of the call before it, |initial| for the
  /// first. If there are more than |kUnrolled| columns, most of the chunks become a loop.
  Value foldChunks(int64_t count, Value initial, llvm::function_ref<Value(Value offset, Lanes lanes, Value carried)> body) {
    constexpr int64_t kUnrolled = 128;
    int64_t whole = count > kUnrolled ? count / kUnrolled * kUnrolled : 0;
    // If the last group of a row has fewer than |count| columns, the loop covers only chunks that are whole in that
    // group, too: |body| needs a constant offset for a chunk that is partial or missing there.
    int64_t existing = columns % *op.getGroup();
    if (whole > existing && existing != 0)
      whole = existing / kUnrolled * kUnrolled;
    if (whole > 0)
      initial = builder.loop(
          builder.index(0), builder.index(whole), VectorBuilder::kLanes, {initial},
          [&](Value offset, ValueRange carried) -> VectorBuilder::Values { return {body(offset, Lanes::all(), carried[0])}; })[0];
    for (int64_t begin = whole; begin < count; begin += VectorBuilder::kLanes)
      initial = body(builder.index(begin), Lanes::first(count - begin), initial);
    return initial;
  }

  /// Returns the largest magnitude of a row as f32; NaN if the row has a NaN. Four neighboring chunks go to four
  /// separate maxima, since each step of a single maximum would wait for the step before it.
  Value largestMagnitude(Value row) {
    constexpr int64_t kParts = 4, kStep = kParts * VectorBuilder::kLanes;
    VectorBuilder::Values parts(kParts, arith::ConstantOp::create(builder, builder.getZeroAttr(words())));
    auto take = [&](Value column, Lanes lanes, Value &part) {
      part = maxMagnitude(builder, builder.load(input, {row, column}, lanes), part);
    };
    int64_t whole = columns / kStep * kStep;
    parts = builder.loop(builder.index(0), builder.index(whole), kStep, parts, [&](Value column, ValueRange carried) {
      VectorBuilder::Values next(carried);
      for (int64_t part = 0; part < kParts; ++part)
        take(builder.add(column, part * VectorBuilder::kLanes), Lanes::all(), next[part]);
      return next;
    });
    VectorBuilder::forChunks(columns - whole, [&](int64_t begin, Lanes lanes) {
      take(builder.index(whole + begin), lanes, parts[begin / VectorBuilder::kLanes]);
    });
    Value largest = arith::MaxSIOp::create(builder, arith::MaxSIOp::create(builder, parts[0], parts[1]),
                                           arith::MaxSIOp::create(builder, parts[2], parts[3]));
    return arith::BitcastOp::create(builder, builder.getF32Type(), maxOfLanes(builder, largest));
  }

  /// Stores the result of |make| for each 16 columns; for columns past the last one of the input, |make| gets zeros.
  void forEachChunk(Value row, llvm::function_ref<Value(Value)> make) {
    int64_t whole = columns / VectorBuilder::kLanes * VectorBuilder::kLanes;
    builder.loop(builder.index(0), builder.index(whole), VectorBuilder::kLanes,
                 [&](Value column) { builder.store(make(builder.load(input, {row, column})), quantized, {row, column}); });
    for (int64_t begin = whole; begin < padded; begin += VectorBuilder::kLanes) {
      Value column = builder.index(begin);
      Value x = begin < columns ? builder.load(input, {row, column}, Lanes::first(columns - begin)) : builder.splat(0.0);
      builder.store(make(x), quantized, {row, column}, Lanes::first(padded - begin));
    }
  }

  tiles::QuantizeRowsOp op;
  VectorBuilder builder;
  Value input, quantized;
  Type element;
  int64_t columns, padded;
};

struct LowerQuantizeRows : attune::impl::LowerQuantizeRowsBase<LowerQuantizeRows> {
  void runOnOperation() override {
    WalkResult walk = getOperation()->walk([](tiles::QuantizeRowsOp op) -> WalkResult {
      for (Value operand : op->getOperands()) {
        auto type = dyn_cast<MemRefType>(operand.getType());
        if (!type || !type.isLastDimUnitStride())
          return op.emitError("expects buffers whose last dimension is contiguous, but got ") << operand.getType();
      }
      if (cast<MemRefType>(op.getQuantized().getType()).getElementType().isF16())
        return op.emitError("f16 is not supported on CPUs");
      RowQuantizer(op).run();
      op.erase();
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
