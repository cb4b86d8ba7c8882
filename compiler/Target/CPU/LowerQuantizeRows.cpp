//===- LowerQuantizeRows.cpp - Rows of codes by vectors of 16 --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `tile.quantize_rows` on buffers with contiguous last dimensions. Leaves scf loops over 16 columns, a row at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/CPU/VectorBuilder.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attune {
#define GEN_PASS_DEF_LOWERQUANTIZEROWS
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {

/// Emits the code of one op.
class RowQuantizer {
public:
  RowQuantizer(tiles::QuantizeRowsOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()), emitter(builder, loc), input(op.getInput()), codes(op.getCodes()),
        element(cast<MemRefType>(codes.getType()).getElementType()), columns(cast<MemRefType>(input.getType()).getDimSize(1)),
        padded(cast<MemRefType>(codes.getType()).getDimSize(1)) {}

  void run() {
    emitter.forLoop(emitter.index(0), emitter.size(input, 0), 1, {}, [&](Value row, ValueRange) -> VectorBuilder::Values {
      if (op.getScales())
        quantize(row);
      else
        forEachChunk(row, [&](Value x) { return round(x); });
      return {};
    });
  }

private:
  VectorType vectorOf(Type type) { return VectorType::get({VectorBuilder::kLanes}, type); }

  /// bf16, or f32 of the same value.
  Value round(Value x) {
    Value rounded = arith::TruncFOp::create(builder, loc, vectorOf(builder.getBF16Type()), x);
    return element.isF32() ? arith::ExtFOp::create(builder, loc, vectorOf(element), rounded).getResult() : rounded;
  }

  void quantize(Value row) {
    Value largest = largestMagnitude(row);
    Value scale = emitter.divf(largest, emitter.f32(127));
    memref::StoreOp::create(builder, loc, scale, op.getScales(), row);
    // A row of zeros has codes of zeros: its largest magnitude must not divide.
    Value nonzero = emitter.select(arith::CmpFPredicate::OEQ, largest, emitter.f32(0), emitter.f32(1), largest);
    Value inverse = emitter.splat(emitter.divf(emitter.f32(127), nonzero));
    Value shifter = emitter.splat(12582912.0); // 1.5 * 2^23: the sum has the nearest integer, as two's complement, in its low bits
    Value zero = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(vectorOf(element), IntegerAttr::get(element, element.isInteger(8) ? 128 : 0)));
    forEachChunk(row, [&](Value x) -> Value {
      Value shifted = emitter.addf(emitter.mulf(x, inverse), shifter);
      Value bits = arith::BitcastOp::create(builder, loc, vectorOf(builder.getI32Type()), shifted);
      return arith::AddIOp::create(builder, loc, arith::TruncIOp::create(builder, loc, vectorOf(element), bits), zero);
    });
  }

  /// Four chunks at a time: a maximum has to wait for the one before it.
  Value largestMagnitude(Value row) {
    constexpr int64_t kParts = 4, kStep = kParts * VectorBuilder::kLanes;
    VectorBuilder::Values parts(kParts, emitter.splat(0.0));
    auto take = [&](Value column, Lanes lanes, Value &part) {
      part = emitter.maxf(math::AbsFOp::create(builder, loc, emitter.load(input, {row, column}, lanes)), part);
    };
    int64_t whole = columns / kStep * kStep;
    parts = emitter.forLoop(emitter.index(0), emitter.index(whole), kStep, parts, [&](Value column, ValueRange carried) {
      VectorBuilder::Values next(carried);
      for (int64_t part = 0; part < kParts; ++part)
        take(emitter.add(column, part * VectorBuilder::kLanes), Lanes::all(), next[part]);
      return next;
    });
    VectorBuilder::forChunks(columns - whole, [&](int64_t begin, Lanes lanes) {
      take(emitter.index(whole + begin), lanes, parts[begin / VectorBuilder::kLanes]);
    });
    return emitter.maxLanes(emitter.maxf(emitter.maxf(parts[0], parts[1]), emitter.maxf(parts[2], parts[3])));
  }

  /// Stores what |make| makes of each 16 columns, and of zeros beyond the last one.
  void forEachChunk(Value row, llvm::function_ref<Value(Value)> make) {
    int64_t whole = columns / VectorBuilder::kLanes * VectorBuilder::kLanes;
    emitter.forLoop(emitter.index(0), emitter.index(whole), VectorBuilder::kLanes, {},
                    [&](Value column, ValueRange) -> VectorBuilder::Values {
                      emitter.store(make(emitter.load(input, {row, column})), codes, {row, column});
                      return {};
                    });
    for (int64_t begin = whole; begin < padded; begin += VectorBuilder::kLanes) {
      Value column = emitter.index(begin);
      Value x = begin < columns ? emitter.load(input, {row, column}, Lanes::first(columns - begin)) : emitter.splat(0.0);
      emitter.store(make(x), codes, {row, column}, Lanes::first(padded - begin));
    }
  }

  tiles::QuantizeRowsOp op;
  OpBuilder &builder;
  Location loc;
  VectorBuilder emitter;
  Value input, codes;
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
      if (cast<MemRefType>(op.getCodes().getType()).getElementType().isF16())
        return op.emitError("codes of f16 have no form for CPUs");
      OpBuilder builder(op);
      RowQuantizer(op, builder).run();
      op.erase();
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
