//===- ExpandMathFunctions.cpp - Transcendentals as polynomials -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The polynomials are minimax fits (Remez exchange in 120 bits) whose coefficients were rounded to f32 one by one, from
// the lowest power up, refitting the rest each time; the leading terms that make 2^0, e^0 and the slopes at 0 exact are
// fixed to their values.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/ExpandMathFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using Predicate = arith::CmpFPredicate;

namespace {

/// A builder of arithmetic on values of one type, f32 or a vector of f32.
class Arithmetic {
public:
  Arithmetic(OpBuilder &builder, Location loc, Type type) : builder(builder), loc(loc), type(type) {
    Type i32 = builder.getI32Type();
    auto vector = dyn_cast<VectorType>(type);
    bits = vector ? Type(vector.clone(i32)) : i32;
  }

  Value constant(float value) { return constant(type, builder.getF32FloatAttr(value)); }
  Value integer(int32_t value) { return constant(bits, builder.getI32IntegerAttr(value)); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value withSign(Value magnitude, Value sign) { return math::CopySignOp::create(builder, loc, magnitude, sign); }
  Value toBits(Value a) { return arith::BitcastOp::create(builder, loc, bits, a); }
  Value fromBits(Value a) { return arith::BitcastOp::create(builder, loc, type, a); }
  Value addBits(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subBits(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value shiftLeft(Value a, int32_t by) { return arith::ShLIOp::create(builder, loc, a, integer(by)); }
  Value shiftRight(Value a, int32_t by) { return arith::ShRSIOp::create(builder, loc, a, integer(by)); }
  Value toFloat(Value a) { return arith::SIToFPOp::create(builder, loc, type, a); }
  Value select(Predicate predicate, Value a, Value b, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, arith::CmpFOp::create(builder, loc, predicate, a, b), yes, no);
  }
  /// Returns the smaller of |limit| and |a|; NaN if |a| is NaN.
  Value atMost(Value a, float limit) {
    Value bound = constant(limit);
    return select(Predicate::OLT, bound, a, bound, a);
  }
  /// Returns coefficients[0] + x (coefficients[1] + x (...)).
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value result = constant(coefficients.back());
    for (float c : llvm::reverse(coefficients.drop_back()))
      result = fma(result, x, constant(c));
    return result;
  }

private:
  Value constant(Type as, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(as))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  Location loc;
  Type type, bits;
};

} // namespace

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// 1.5 * 2^23: its sum with a number of magnitude below 2^22 has the nearest integer (ties to even) in its low bits.
static constexpr float kRound = 12582912.0f;
static constexpr float kLog2E = 1.44269504088896341f;
/// ln 2 as the sum of two f32.
static constexpr float kLn2High = 0.693147180559945309f, kLn2Low = -1.90465429995776804e-9f;

// Relative errors below are those of the polynomials with these coefficients in exact arithmetic; rounding in f32 comes
// on top of them.

/// 2^f on [-1/2, 1/2], relative error 5.3e-9.
static constexpr float kExp2[] = {1.0f, 0.693147242f, 0.240226552f, 0.0555027276f, 0.00961706601f, 0.00134178915f, 0.000158193056f};
/// e^r on [-ln 2 / 2, ln 2 / 2], relative error 3.2e-9.
static constexpr float kExp[] = {1.0f, 1.0f, 0.49999994f, 0.166665167f, 0.0416681059f, 0.0083691394f, 0.00138367142f};
/// erf(x) / x - 1 as a polynomial in x^2, up to |x| = kErfSplit, relative error 1.7e-8.
static constexpr float kErfSmall[] = {0.128379151f, -0.376124918f, 0.112817675f, -0.0267643556f, 0.00498943171f, -0.000597026898f};
/// log2(erfc(x)) / x from kErfSplit to kErfOne, where erf rounds to 1; relative error 3e-9 of erf.
static constexpr float kErfLarge[] = {-1.62809849f, -0.917159736f, -0.151844874f, 0.033013083f, -0.00463503553f, 0.000308330898f};
static constexpr float kErfSplit = 0.9277f, kErfOne = 4.0f;
/// (tanh(x) - x) / x^3 as a polynomial in x^2, up to |x| = kTanhSplit, relative error 8.5e-9 of tanh.
static constexpr float kTanhSmall[] = {-0.333332807f, 0.133314416f, -0.0537397154f, 0.0206390824f, -0.00570498034f};
/// From kTanhOne on tanh rounds to 1.
static constexpr float kTanhSplit = 0.625f, kTanhOne = 10.0f;
/// (log(1 + f) - f + f^2/2) / f^3 on [-1/3, 1/3], relative error 1.4e-9 of the logarithm.
static constexpr float kLog[] = {0.333333343f,  -0.249998108f, 0.199997649f,  -0.166800842f, 0.142989591f,
                                 -0.121879034f, 0.108261742f,  -0.128836349f, 0.116883509f};

/// Returns 2^x for -126 <= x < 128. Adds n, the integer nearest to x, to the exponent of 2^(x - n), which the
/// polynomial approximates.
static Value emitExp2InRange(Arithmetic &a, Value x) {
  Value shifted = a.add(x, a.constant(kRound));
  Value fraction = a.sub(x, a.sub(shifted, a.constant(kRound)));
  Value exponent = a.shiftLeft(a.toBits(shifted), 23);
  return a.fromBits(a.addBits(a.toBits(a.polynomial(fraction, kExp2)), exponent));
}

Value attune::emitExp2(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x.getType());
  // At -127 the exponent becomes that of 0, at 128 that of infinity, and the polynomial is 1.
  Value bounded = a.atMost(a.select(Predicate::OLT, x, a.constant(-126.0f), a.constant(-127.0f), x), 128.0f);
  return a.select(Predicate::UNO, x, x, x, emitExp2InRange(a, bounded));
}

Value attune::emitExp2NonPositive(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x.getType());
  // The constant adds the bias of the exponent, 127, to the rounded integer part. Multiplying by the power of two,
  // rather than adding to the exponent, keeps NaN; it is as exact.
  Value bounded = a.select(Predicate::OLT, x, a.constant(-126.0f), a.constant(-127.0f), x);
  Value shifted = a.add(bounded, a.constant(kRound + 127.0f));
  Value fraction = a.sub(bounded, a.sub(shifted, a.constant(kRound + 127.0f)));
  Value power = a.fromBits(a.shiftLeft(a.toBits(shifted), 23));
  return a.mul(a.polynomial(fraction, kExp2), power);
}

Value attune::emitExp(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x.getType());
  Value shifted = a.fma(x, a.constant(kLog2E), a.constant(kRound));
  Value n = a.sub(shifted, a.constant(kRound));
  Value r = a.fma(n, a.constant(-kLn2Low), a.fma(n, a.constant(-kLn2High), x));
  Value exponent = a.shiftLeft(a.toBits(shifted), 23);
  Value result = a.fromBits(a.addBits(a.toBits(a.polynomial(r, kExp)), exponent));
  // The bounds are -126 ln 2 and 128 ln 2; beyond them the exponent has wrapped around.
  result = a.select(Predicate::OLT, x, a.constant(-87.33654f), a.constant(0.0f), result);
  result = a.select(Predicate::OGT, x, a.constant(88.72283f), a.constant(kInfinity), result);
  return a.select(Predicate::UNO, x, x, x, result);
}

Value attune::emitErf(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x.getType());
  Value magnitude = a.abs(x);
  Value small = a.fma(a.polynomial(a.mul(x, x), kErfSmall), x, x);
  Value t = a.atMost(magnitude, kErfOne);
  Value complement = emitExp2InRange(a, a.mul(a.polynomial(t, kErfLarge), t));
  Value large = a.withSign(a.sub(a.constant(1.0f), complement), x);
  return a.select(Predicate::OGT, magnitude, a.constant(kErfSplit), large, small);
}

Value attune::emitTanh(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x.getType());
  Value magnitude = a.abs(x), square = a.mul(x, x);
  Value small = a.fma(a.polynomial(square, kTanhSmall), a.mul(square, x), x);
  // tanh(x) = 1 - 2 / (e^(2x) + 1) for positive x, and e^(2x) = 2^t.
  Value t = a.mul(a.atMost(magnitude, kTanhOne), a.constant(2.0f * kLog2E));
  Value quotient = a.div(a.constant(2.0f), a.add(emitExp2InRange(a, t), a.constant(1.0f)));
  Value large = a.withSign(a.sub(a.constant(1.0f), quotient), x);
  return a.select(Predicate::OGT, magnitude, a.constant(kTanhSplit), large, small);
}

Value attune::emitLog(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x.getType());
  Value one = a.constant(1.0f), zero = a.constant(0.0f), smallest = a.constant(0x1p-126f);
  Value normal = a.select(Predicate::OLT, x, smallest, a.mul(x, a.constant(0x1p23f)), x);
  Value shift = a.select(Predicate::OLT, x, smallest, a.constant(-23.0f), zero);
  // x = 2^e m with m in [2/3, 4/3); 0x3f2aaaab is 2/3.
  Value bits = a.toBits(normal);
  Value e = a.shiftRight(a.subBits(bits, a.integer(0x3f2aaaab)), 23);
  Value f = a.sub(a.fromBits(a.subBits(bits, a.shiftLeft(e, 23))), one);
  Value square = a.mul(f, f);
  Value result = a.fma(square, a.fma(a.polynomial(f, kLog), f, a.constant(-0.5f)), f);
  Value exponent = a.add(a.toFloat(e), shift);
  result = a.fma(exponent, a.constant(kLn2High), a.fma(exponent, a.constant(kLn2Low), result));
  Value special = a.select(Predicate::OEQ, x, zero, a.constant(-kInfinity), a.constant(kNaN));
  result = a.select(Predicate::OGT, x, zero, result, special);
  return a.select(Predicate::OEQ, x, a.constant(kInfinity), x, result);
}

Value attune::emitRsqrt(OpBuilder &builder, Location loc, Value x) {
  Arithmetic a(builder, loc, x.getType());
  return a.div(a.constant(1.0f), math::SqrtOp::create(builder, loc, x));
}
