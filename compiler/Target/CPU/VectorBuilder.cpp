//===- VectorBuilder.cpp - Code on vectors of 16 floats -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/VectorBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;

/// The value of |value| if it is a constant index.
static std::optional<int64_t> getConstant(Value value) { return getConstantIntValue(OpFoldResult(value)); }

//===----------------------------------------------------------------------===//
// Scalars and indices
//===----------------------------------------------------------------------===//

Value VectorBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value VectorBuilder::f32(double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

Value VectorBuilder::add(Value base, int64_t offset) {
  if (offset == 0)
    return base;
  if (std::optional<int64_t> constant = getConstant(base))
    return index(*constant + offset);
  return arith::AddIOp::create(builder, loc, base, index(offset));
}

Value VectorBuilder::add(Value a, Value b) {
  if (std::optional<int64_t> constant = getConstant(b))
    return add(a, *constant);
  if (std::optional<int64_t> constant = getConstant(a))
    return add(b, *constant);
  return arith::AddIOp::create(builder, loc, a, b);
}

Value VectorBuilder::sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value VectorBuilder::mul(Value a, int64_t factor) { return builder.createOrFold<arith::MulIOp>(loc, a, index(factor)); }
Value VectorBuilder::floorDiv(Value a, int64_t divisor) { return builder.createOrFold<arith::DivUIOp>(loc, a, index(divisor)); }
Value VectorBuilder::remainder(Value a, int64_t divisor) { return builder.createOrFold<arith::RemUIOp>(loc, a, index(divisor)); }
Value VectorBuilder::max(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
Value VectorBuilder::min(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }

Value VectorBuilder::size(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return index(type.getDimSize(dim));
  return memref::DimOp::create(builder, loc, memref, dim);
}

Value VectorBuilder::loadScalar(Value memref, ValueRange indices) { return memref::LoadOp::create(builder, loc, memref, indices); }

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value VectorBuilder::splat(double value) {
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(getType(), static_cast<float>(value)));
}

Value VectorBuilder::splat(Value scalar) { return vector::BroadcastOp::create(builder, loc, getType(), scalar); }

Value VectorBuilder::mask(Lanes lanes) {
  auto type = VectorType::get({kLanes}, builder.getI1Type());
  if (lanes.getDynamic())
    return vector::CreateMaskOp::create(builder, loc, type, ValueRange{lanes.getDynamic()});
  return vector::ConstantMaskOp::create(builder, loc, type, ArrayRef<int64_t>{lanes.getFixed()});
}

Value VectorBuilder::load(Value memref, ValueRange indices, Lanes lanes) {
  auto type = VectorType::get({kLanes}, cast<MemRefType>(memref.getType()).getElementType());
  if (lanes.areAll())
    return vector::LoadOp::create(builder, loc, type, memref, indices);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, loc, type, memref, indices, mask(lanes), zero);
}

void VectorBuilder::store(Value vector, Value memref, ValueRange indices, Lanes lanes) {
  if (lanes.areAll())
    vector::StoreOp::create(builder, loc, vector, memref, indices);
  else
    vector::MaskedStoreOp::create(builder, loc, memref, indices, mask(lanes), vector);
}

Value VectorBuilder::keep(Value vector, Lanes lanes, Value other) {
  return lanes.areAll() ? vector : arith::SelectOp::create(builder, loc, mask(lanes), vector, other).getResult();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value VectorBuilder::addf(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value VectorBuilder::subf(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value VectorBuilder::mulf(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value VectorBuilder::divf(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value VectorBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }

Value VectorBuilder::select(arith::CmpFPredicate predicate, Value a, Value b, Value yes, Value no) {
  return arith::SelectOp::create(builder, loc, arith::CmpFOp::create(builder, loc, predicate, a, b), yes, no);
}

Value VectorBuilder::maxf(Value a, Value b) { return select(arith::CmpFPredicate::OGT, a, b, a, b); }
Value VectorBuilder::minf(Value a, Value b) { return select(arith::CmpFPredicate::OLT, a, b, a, b); }

Value VectorBuilder::lowerHalf(Value vector) {
  int64_t half = cast<VectorType>(vector.getType()).getDimSize(0) / 2;
  return vector::ShuffleOp::create(builder, loc, vector, vector, llvm::to_vector(llvm::seq<int64_t>(0, half)));
}

Value VectorBuilder::upperHalf(Value vector) {
  int64_t half = cast<VectorType>(vector.getType()).getDimSize(0) / 2;
  return vector::ShuffleOp::create(builder, loc, vector, vector, llvm::to_vector(llvm::seq<int64_t>(half, 2 * half)));
}

Value VectorBuilder::sumLanes(Value vector) {
  while (cast<VectorType>(vector.getType()).getDimSize(0) > 1)
    vector = addf(lowerHalf(vector), upperHalf(vector));
  return vector::ExtractOp::create(builder, loc, vector, int64_t(0));
}

Value VectorBuilder::maxLanes(Value vector) {
  while (cast<VectorType>(vector.getType()).getDimSize(0) > 1)
    vector = maxf(lowerHalf(vector), upperHalf(vector));
  return vector::ExtractOp::create(builder, loc, vector, int64_t(0));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

VectorBuilder::Values VectorBuilder::forLoop(Value begin, Value end, int64_t step, ValueRange initial, LoopBody body) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(step), initial);
  OpBuilder::InsertionGuard guard(builder);
  if (initial.empty()) {
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    body(loop.getInductionVar(), {});
    return {};
  }
  builder.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, next);
  return Values(loop.getResults());
}

void VectorBuilder::ifThen(Value condition, llvm::function_ref<void()> then) {
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  then();
}

VectorBuilder::Values VectorBuilder::choose(Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no) {
  auto side = [&](llvm::function_ref<Values()> emit) {
    return [&, emit](OpBuilder &, Location) {
      // The regions are built with the emitter's own builder, whose insertion point scf.if has moved.
      scf::YieldOp::create(builder, loc, emit());
    };
  };
  auto branch = scf::IfOp::create(builder, loc, condition, side(yes), side(no));
  return Values(branch.getResults());
}

void VectorBuilder::forEvenRows(Value rows, int64_t maxRows, llvm::function_ref<void(int64_t, Value)> body) {
  if (std::optional<int64_t> constant = getConstant(rows))
    return body(*constant, Value());
  auto one = [&] { return body(1, Value()), Values(); };
  auto more = [&] {
    if (maxRows < 2)
      return Values();
    SmallVector<int64_t> cases = llvm::to_vector(llvm::seq_inclusive<int64_t>(1, llvm::divideCeil(maxRows, 2)));
    Value pairs = builder.createOrFold<arith::CeilDivUIOp>(loc, rows, index(2));
    auto rowSwitch = scf::IndexSwitchOp::create(builder, loc, TypeRange(), pairs, cases, cases.size());
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&rowSwitch.getDefaultRegion());
    scf::YieldOp::create(builder, loc);
    for (auto [half, region] : llvm::zip_equal(cases, rowSwitch.getCaseRegions())) {
      builder.createBlock(&region);
      body(std::min(2 * half, maxRows), rows);
      scf::YieldOp::create(builder, loc);
    }
    return Values();
  };
  (void)choose(builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rows, index(1)), one, more);
}

void VectorBuilder::forRows(Value rows, int64_t maxRows, llvm::function_ref<void(Value, int64_t)> body) {
  if (std::optional<int64_t> constant = getConstant(rows)) {
    int64_t base = 0;
    for (int64_t count = maxRows; count > 0; count /= 2)
      for (; *constant - base >= count; base += count)
        body(index(base), count);
    return;
  }
  auto full = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rows, index(maxRows));
  auto branch = scf::IfOp::create(builder, loc, full, /*withElseRegion=*/maxRows > 1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  body(index(0), maxRows);
  if (maxRows == 1)
    return;
  // The rows below a bit of |rows| are those of its higher bits, hence the masked base.
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  for (int64_t count = maxRows / 2; count > 0; count /= 2) {
    Value bit = arith::AndIOp::create(builder, loc, rows, index(count));
    Value taken = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, index(0));
    Value base = count == maxRows / 2 ? index(0) : arith::AndIOp::create(builder, loc, rows, index(maxRows - 2 * count));
    ifThen(taken, [&] { body(base, count); });
  }
}

void VectorBuilder::forChunks(int64_t columns, llvm::function_ref<void(int64_t, Lanes)> body) {
  for (int64_t begin = 0; begin < columns; begin += kLanes)
    body(begin, Lanes::first(columns - begin));
}

VectorBuilder::Values VectorBuilder::multiply(Value begin, Value end, int64_t rows, int64_t vectors, int64_t unroll, ValueRange initial,
                                              llvm::function_ref<Value(int64_t, Value)> loadA,
                                              llvm::function_ref<Value(int64_t, Value)> loadB) {
  auto step = [&](Value k, Values &acc) {
    Values b;
    for (int64_t j = 0; j < vectors; ++j)
      b.push_back(loadB(j, k));
    for (int64_t r = 0; r < rows; ++r) {
      Value a = splat(loadA(r, k));
      for (int64_t j = 0; j < vectors; ++j)
        acc[r * vectors + j] = fma(a, b[j], acc[r * vectors + j]);
    }
  };
  auto steps = [&](int64_t count) {
    return [&, count](Value k, ValueRange carried) {
      Values acc(carried);
      for (int64_t u = 0; u < count; ++u)
        step(add(k, u), acc);
      return acc;
    };
  };
  std::optional<int64_t> first = getConstant(begin), last = getConstant(end);
  if (!first || !last) { // whole groups of |unroll|, then the rest one at a time
    Value count = sub(end, begin);
    Value middle = add(begin, mul(floorDiv(count, unroll), unroll));
    Values acc = unroll > 1 ? forLoop(begin, middle, unroll, initial, steps(unroll)) : Values(initial);
    return forLoop(unroll > 1 ? middle : begin, end, 1, acc, steps(1));
  }
  int64_t count = *last - *first, whole = count / unroll * unroll;
  Values acc(initial);
  if (whole > 0)
    acc = forLoop(begin, add(begin, whole), unroll, acc, steps(unroll));
  for (int64_t k = whole; k < count; ++k)
    step(add(begin, k), acc);
  return acc;
}
