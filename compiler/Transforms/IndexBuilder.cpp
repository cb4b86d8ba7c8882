//===- IndexBuilder.cpp - Index arithmetic and control flow ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/IndexBuilder.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune;

Value IndexBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }
Value IndexBuilder::index(OpFoldResult value) { return getValueOrCreateConstantIndexOp(*this, getLoc(), value); }
Value IndexBuilder::toIndex(Value integer) { return createOrFold<arith::IndexCastOp>(getIndexType(), integer); }
Value IndexBuilder::toI64(Value index) { return createOrFold<arith::IndexCastOp>(getI64Type(), index); }
Value IndexBuilder::add(Value a, Value b) { return createOrFold<arith::AddIOp>(a, b); }
Value IndexBuilder::sub(Value a, Value b) { return createOrFold<arith::SubIOp>(a, b); }
Value IndexBuilder::mul(Value a, Value b) { return createOrFold<arith::MulIOp>(a, b); }
Value IndexBuilder::div(Value a, Value b) { return createOrFold<arith::DivUIOp>(a, b); }
Value IndexBuilder::ceilDiv(Value a, Value b) { return createOrFold<arith::CeilDivUIOp>(a, b); }
Value IndexBuilder::rem(Value a, Value b) { return createOrFold<arith::RemUIOp>(a, b); }
Value IndexBuilder::min(Value a, Value b) { return createOrFold<arith::MinSIOp>(a, b); }
Value IndexBuilder::max(Value a, Value b) { return createOrFold<arith::MaxSIOp>(a, b); }
Value IndexBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) { return createOrFold<arith::CmpIOp>(predicate, a, b); }
Value IndexBuilder::both(Value a, Value b) { return createOrFold<arith::AndIOp>(a, b); }
Value IndexBuilder::either(Value a, Value b) { return createOrFold<arith::OrIOp>(a, b); }
Value IndexBuilder::select(Value condition, Value a, Value b) { return createOrFold<arith::SelectOp>(condition, a, b); }
Value IndexBuilder::size(Value shaped, int64_t dim) { return linalg::createOrFoldDimOp(*this, getLoc(), shaped, dim); }
Value IndexBuilder::extractIndex(Value values, Value index) { return toIndex(tensor::ExtractOp::create(*this, values, index)); }

Type IndexBuilder::typeLike(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}
Value IndexBuilder::constantLike(Type type, TypedAttr value) {
  auto vector = dyn_cast<VectorType>(type);
  return arith::ConstantOp::create(*this, vector ? DenseElementsAttr::get(vector.clone(value.getType()), value) : value);
}
Value IndexBuilder::f32(double value) { return arith::ConstantOp::create(*this, getF32FloatAttr(static_cast<float>(value))); }
Value IndexBuilder::addf(Value a, Value b) { return arith::AddFOp::create(*this, a, b); }
Value IndexBuilder::subf(Value a, Value b) { return arith::SubFOp::create(*this, a, b); }
Value IndexBuilder::mulf(Value a, Value b) { return arith::MulFOp::create(*this, a, b); }
Value IndexBuilder::divf(Value a, Value b) { return arith::DivFOp::create(*this, a, b); }
Value IndexBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(*this, a, b, c); }
Value IndexBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) { return createOrFold<arith::CmpFOp>(predicate, a, b); }

// For some machines LLVM would call a library function for the conversion from f16. Instead, sign, exponent and
// mantissa are moved to their places in an f32, whose exponent bias is larger by 112, and the f32 is multiplied by
// 2^112. This is exact for subnormal numbers, too.
Value IndexBuilder::widenHalf(Value words) {
  Type number = typeLike(words.getType(), getF32Type());
  auto word = [&](uint32_t bits) { return constantLike(words.getType(), getI32IntegerAttr(static_cast<int32_t>(bits))); };
  Value magnitude = arith::ShLIOp::create(*this, arith::AndIOp::create(*this, words, word(0x7fff)), word(13));
  Value sign = arith::AndIOp::create(*this, words, word(0x80000000));
  Value moved = arith::BitcastOp::create(*this, number, arith::OrIOp::create(*this, magnitude, sign));
  return mulf(moved, constantLike(number, getF32FloatAttr(0x1p112f)));
}

IndexBuilder::Values IndexBuilder::loop(Value begin, Value end, Value step, ValueRange initial, LoopBody body) {
  auto loop = scf::ForOp::create(*this, begin, end, step, initial);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(*this, next);
  return Values(loop.getResults());
}

void IndexBuilder::loop(Value begin, Value end, Value step, llvm::function_ref<void(Value)> body) {
  (void)loop(begin, end, step, ValueRange(), [&](Value index, ValueRange) { return body(index), Values(); });
}

void IndexBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  body();
}

IndexBuilder::Values IndexBuilder::choose(Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no) {
  // scf.if moves the insertion point of this builder into its regions.
  auto side = [this](llvm::function_ref<Values()> emit) {
    return [this, emit](OpBuilder &, Location) { scf::YieldOp::create(*this, emit()); };
  };
  return Values(scf::IfOp::create(*this, condition, side(yes), side(no)).getResults());
}
