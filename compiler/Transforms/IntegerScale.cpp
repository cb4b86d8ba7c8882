//===- IntegerScale.cpp - Numbers as 8-bit integers with a scale ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/IntegerScale.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace attune;

/// Returns the constant |value| of |type|, i32 or a vector of i32.
static Value wordOf(IndexBuilder &b, Type type, int64_t value) {
  return b.constantLike(type, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value attune::maxMagnitude(IndexBuilder &b, Value x, Value largest) {
  Value magnitude = arith::BitcastOp::create(b, largest.getType(), math::AbsFOp::create(b, x));
  return arith::MaxSIOp::create(b, magnitude, largest);
}

IntegerScale attune::getIntegerScale(IndexBuilder &b, Value largest) {
  Value magnitude = arith::BitcastOp::create(b, b.typeLike(largest.getType(), b.getF32Type()), largest);
  auto number = [&](double value) { return b.constantLike(magnitude.getType(), b.getF32FloatAttr(static_cast<float>(value))); };
  IntegerScale result;
  result.isFinite = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, largest, wordOf(b, largest.getType(), 0x7f800000));
  // Below about 2^-119 the scale is no normal number, and below about 2^-121 its inverse is infinite.
  Value isZero = b.compare(arith::CmpFPredicate::OLT, magnitude, number(0x1p-119));
  Value scale = b.select(isZero, number(0), b.divf(magnitude, number(127)));
  result.scale = b.select(result.isFinite, scale, number(std::numeric_limits<double>::quiet_NaN()));
  result.inverse = b.select(isZero, number(0), b.divf(number(127), magnitude));
  return result;
}

Value attune::toIntegers(IndexBuilder &b, Value x, const IntegerScale &scale) {
  Value shifter = b.constantLike(x.getType(), b.getF32FloatAttr(kShifter));
  Value shifted = b.addf(b.mulf(x, scale.inverse), shifter);
  Type words = b.typeLike(x.getType(), b.getI32Type());
  Value moved = arith::SubIOp::create(b, arith::BitcastOp::create(b, words, shifted), wordOf(b, words, kShifterBits));
  return b.select(scale.isFinite, moved, wordOf(b, words, 0));
}
