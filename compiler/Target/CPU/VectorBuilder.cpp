//===- VectorBuilder.cpp - Code on vectors of 16 floats -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/VectorBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;

/// Returns the constant of |value| if it is a constant index.
static std::optional<int64_t> getConstant(Value value) { return getConstantIntValue(OpFoldResult(value)); }

Value VectorBuilder::loadScalar(Value memref, ValueRange indices) { return memref::LoadOp::create(*this, memref, indices); }

Value VectorBuilder::splat(double value) {
  return arith::ConstantOp::create(*this, DenseElementsAttr::get(getType(), static_cast<float>(value)));
}

Value VectorBuilder::splat(Value scalar) { return vector::BroadcastOp::create(*this, getType(), scalar); }

Value VectorBuilder::mask(Lanes lanes) {
  auto type = VectorType::get({kLanes}, getI1Type());
  if (lanes.getDynamic())
    return vector::CreateMaskOp::create(*this, type, ValueRange{lanes.getDynamic()});
  return vector::ConstantMaskOp::create(*this, type, ArrayRef<int64_t>{lanes.getFixed()});
}

Value VectorBuilder::load(Value memref, ValueRange indices, Lanes lanes) {
  auto type = VectorType::get({kLanes}, cast<MemRefType>(memref.getType()).getElementType());
  if (lanes.areAll())
    return vector::LoadOp::create(*this, type, memref, indices);
  Value zero = arith::ConstantOp::create(*this, getZeroAttr(type));
  return vector::MaskedLoadOp::create(*this, type, memref, indices, mask(lanes), zero);
}

void VectorBuilder::store(Value vector, Value memref, ValueRange indices, Lanes lanes) {
  if (lanes.areAll())
    vector::StoreOp::create(*this, vector, memref, indices);
  else
    vector::MaskedStoreOp::create(*this, memref, indices, mask(lanes), vector);
}

Value VectorBuilder::keep(Value vector, Lanes lanes, Value other) {
  return lanes.areAll() ? vector : arith::SelectOp::create(*this, mask(lanes), vector, other).getResult();
}

Value VectorBuilder::maxf(Value a, Value b) { return select(compare(arith::CmpFPredicate::OGT, a, b), a, b); }

Value VectorBuilder::lowerHalf(Value vector) {
  int64_t half = cast<VectorType>(vector.getType()).getDimSize(0) / 2;
  return vector::ShuffleOp::create(*this, vector, vector, llvm::to_vector(llvm::seq<int64_t>(0, half)));
}

Value VectorBuilder::upperHalf(Value vector) {
  int64_t half = cast<VectorType>(vector.getType()).getDimSize(0) / 2;
  return vector::ShuffleOp::create(*this, vector, vector, llvm::to_vector(llvm::seq<int64_t>(half, 2 * half)));
}

Value VectorBuilder::reduceLanes(Value vector, llvm::function_ref<Value(Value, Value)> join) {
  while (cast<VectorType>(vector.getType()).getDimSize(0) > 1) {
    Value lower = lowerHalf(vector), upper = upperHalf(vector);
    vector = join(lower, upper);
  }
  return vector::ExtractOp::create(*this, vector, int64_t(0));
}

Value VectorBuilder::sumLanes(Value vector) {
  return reduceLanes(vector, [&](Value a, Value b) { return addf(a, b); });
}

Value VectorBuilder::maxLanes(Value vector) {
  return reduceLanes(vector, [&](Value a, Value b) { return maxf(a, b); });
}

void VectorBuilder::forEvenRows(Value rows, int64_t maxRows, llvm::function_ref<void(int64_t, Value)> body) {
  if (std::optional<int64_t> constant = getConstant(rows)) {
    if (*constant > 0)
      body(*constant, Value());
    return;
  }
  auto one = [&] { return body(1, Value()), Values(); };
  auto more = [&] {
    if (maxRows < 2)
      return Values();
    SmallVector<int64_t> cases = llvm::to_vector(llvm::seq_inclusive<int64_t>(1, llvm::divideCeil(maxRows, 2)));
    Value pairs = ceilDiv(rows, index(2));
    auto rowSwitch = scf::IndexSwitchOp::create(*this, TypeRange(), pairs, cases, cases.size());
    OpBuilder::InsertionGuard guard(*this);
    createBlock(&rowSwitch.getDefaultRegion());
    scf::YieldOp::create(*this);
    for (auto [half, region] : llvm::zip_equal(cases, rowSwitch.getCaseRegions())) {
      createBlock(&region);
      body(std::min(2 * half, maxRows), rows);
      scf::YieldOp::create(*this);
    }
    return Values();
  };
  (void)choose(compare(arith::CmpIPredicate::eq, rows, 1), one, more);
}

void VectorBuilder::forRows(Value rows, int64_t maxRows, llvm::function_ref<void(Value, int64_t)> body) {
  if (std::optional<int64_t> constant = getConstant(rows)) {
    int64_t base = 0;
    for (int64_t count = maxRows; count > 0; count /= 2)
      for (; *constant - base >= count; base += count)
        body(index(base), count);
    return;
  }
  auto full = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, rows, index(maxRows));
  auto branch = scf::IfOp::create(*this, full, /*withElseRegion=*/maxRows > 1);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPoint(branch.thenBlock()->getTerminator());
  body(index(0), maxRows);
  if (maxRows == 1)
    return;
  // The rows of a bit of |rows| follow the rows of the higher bits, so their base is |rows| with only the higher bits.
  setInsertionPoint(branch.elseBlock()->getTerminator());
  for (int64_t count = maxRows / 2; count > 0; count /= 2) {
    Value bit = arith::AndIOp::create(*this, rows, index(count));
    Value taken = arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, bit, index(0));
    Value base = count == maxRows / 2 ? index(0) : arith::AndIOp::create(*this, rows, index(maxRows - 2 * count));
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
    Value middle = add(begin, mul(div(count, unroll), unroll));
    Values acc = unroll > 1 ? loop(begin, middle, unroll, initial, steps(unroll)) : Values(initial);
    return loop(unroll > 1 ? middle : begin, end, 1, acc, steps(1));
  }
  int64_t count = *last - *first, whole = count / unroll * unroll;
  Values acc(initial);
  if (whole > 0)
    acc = loop(begin, add(begin, whole), unroll, acc, steps(unroll));
  for (int64_t k = whole; k < count; ++k)
    step(add(begin, k), acc);
  return acc;
}
