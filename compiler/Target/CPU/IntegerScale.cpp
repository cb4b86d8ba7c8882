//===- IntegerScale.cpp - Numbers as 8-bit integers with a scale ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/IntegerScale.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace attune;

/// Returns the type |element|, or a vector of it if |type| is a vector.
static Type likeWith(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

/// Returns the constant |value| of |type|, i32 or a vector of i32.
static Value wordOf(VectorBuilder &b, Type type, int64_t value) {
  auto vector = dyn_cast<VectorType>(type);
  IntegerAttr number = b.getI32IntegerAttr(static_cast<int32_t>(value));
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(number))) : TypedAttr(number));
}

Value attune::maxMagnitude(VectorBuilder &b, Value x, Value largest) {
  Value magnitude = arith::BitcastOp::create(b, largest.getType(), math::AbsFOp::create(b, x));
  return arith::MaxSIOp::create(b, magnitude, largest);
}

Value attune::maxOfLanes(VectorBuilder &b, Value largest) { return vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, largest); }

IntegerScale attune::getIntegerScale(VectorBuilder &b, Value largest) {
  Value magnitude = arith::BitcastOp::create(b, likeWith(largest.getType(), b.getF32Type()), largest);
  auto number = [&](double value) { return isa<VectorType>(magnitude.getType()) ? b.splat(value) : b.f32(value); };
  IntegerScale result;
  result.isFinite = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, largest, wordOf(b, largest.getType(), 0x7f800000));
  // Below 2^-119 the inverse of the scale can be infinite.
  Value isZero = b.compare(arith::CmpFPredicate::OLT, magnitude, number(0x1p-119));
  Value scale = b.select(isZero, number(0), b.divf(magnitude, number(127)));
  result.scale = b.select(result.isFinite, scale, number(std::numeric_limits<double>::quiet_NaN()));
  result.inverse = b.select(isZero, number(0), b.divf(number(127), magnitude));
  return result;
}

IntegerScale attune::broadcast(VectorBuilder &b, const IntegerScale &scale) {
  auto flags = VectorType::get({VectorBuilder::kLanes}, b.getI1Type());
  return {b.splat(scale.scale), b.splat(scale.inverse), vector::BroadcastOp::create(b, flags, scale.isFinite)};
}

Value attune::toIntegers(VectorBuilder &b, Value x, const IntegerScale &scale) {
  Value shifter = isa<VectorType>(x.getType()) ? b.splat(kShifter) : b.f32(kShifter);
  Value shifted = b.addf(b.mulf(x, scale.inverse), shifter);
  Type words = likeWith(x.getType(), b.getI32Type());
  Value moved = arith::SubIOp::create(b, arith::BitcastOp::create(b, words, shifted), wordOf(b, words, kShifterBits));
  return b.select(scale.isFinite, moved, wordOf(b, words, 0));
}
