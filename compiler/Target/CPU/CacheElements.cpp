//===- CacheElements.cpp - Elements of caches in vector code --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CacheElements.h"
#include "dialect/Xfmr/IR/CacheLayout.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace attune;
using Values = VectorBuilder::Values;

/// Returns |type| with elements of |element|.
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

/// Returns the constant |value| of |type|, an integer or a vector of integers.
static Value constantOf(VectorBuilder &b, Type type, int64_t value) {
  auto number = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  auto vector = dyn_cast<VectorType>(type);
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(number))) : TypedAttr(number));
}

/// Returns the constant |value| of the type of |like|, an f32 or a vector of f32.
static Value constantLike(VectorBuilder &b, Value like, double value) {
  return isa<VectorType>(like.getType()) ? b.splat(value) : b.f32(value);
}

Value attune::widen(VectorBuilder &b, Value value) {
  Type element = getElementTypeOrSelf(value.getType()), wide = withElement(value.getType(), b.getF32Type());
  if (element.isF32())
    return value;
  if (element.isInteger(8))
    return arith::SIToFPOp::create(b, wide, value);
  if (element.isF16())
    return arith::ExtFOp::create(b, wide, value);
  Type words = withElement(value.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, withElement(value.getType(), b.getIntegerType(16)), value);
  Value moved = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, words, bits), constantOf(b, words, 16));
  return arith::BitcastOp::create(b, wide, moved);
}

Value attune::roundTo(VectorBuilder &b, Value value, Type element) {
  if (element.isF32())
    return value;
  Type type = withElement(value.getType(), element);
  if (element.isF16())
    return arith::TruncFOp::create(b, type, value);
  Type words = withElement(value.getType(), b.getI32Type()), halves = withElement(value.getType(), b.getIntegerType(16));
  auto constant = [&](int64_t number) { return constantOf(b, words, number); };
  Value bits = arith::BitcastOp::create(b, words, value), shift = constant(16);
  // Half of the distance to the next bf16, less one unless the last bit of the result is set: ties go to even.
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, shift), constant(1));
  Value sum = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, constant(0x7fff)), odd);
  Value quiet = arith::OrIOp::create(b, bits, constant(0x400000));
  Value isNan = b.compare(arith::CmpFPredicate::UNO, value, value);
  Value rounded = arith::ShRUIOp::create(b, b.select(isNan, quiet, sum), shift);
  return arith::BitcastOp::create(b, type, arith::TruncIOp::create(b, halves, rounded));
}

Value attune::maxMagnitude(VectorBuilder &b, Value x, Value largest) {
  Type words = withElement(x.getType(), b.getI32Type());
  Value magnitude = arith::AndIOp::create(b, arith::BitcastOp::create(b, words, x), constantOf(b, words, 0x7fffffff));
  return arith::MaxSIOp::create(b, magnitude, largest);
}

Value attune::maxMagnitudeOfRow(VectorBuilder &b, Value rows, Value row) {
  int64_t size = cast<MemRefType>(rows.getType()).getDimSize(1), whole = size / VectorBuilder::kLanes * VectorBuilder::kLanes;
  auto words = VectorType::get({VectorBuilder::kLanes}, b.getI32Type());
  auto take = [&](Value column, Lanes lanes, Value largest) { return maxMagnitude(b, b.load(rows, {row, column}, lanes), largest); };
  Value largest = arith::ConstantOp::create(b, b.getZeroAttr(words));
  largest = b.loop(b.index(0), b.index(whole), VectorBuilder::kLanes, {largest}, [&](Value column, ValueRange carried) -> Values {
    return {take(column, Lanes::all(), carried[0])};
  })[0];
  if (whole < size)
    largest = take(b.index(whole), Lanes::first(size - whole), largest);
  return vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, largest);
}

CacheScale attune::getCacheScale(VectorBuilder &b, Value largest) {
  Value magnitude = arith::BitcastOp::create(b, withElement(largest.getType(), b.getF32Type()), largest);
  auto number = [&](double value) { return constantLike(b, magnitude, value); };
  CacheScale result;
  result.isFinite = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, largest, constantOf(b, largest.getType(), 0x7f800000));
  // Below 2^-119 the inverse of the scale can be infinite.
  Value isZero = b.compare(arith::CmpFPredicate::OLT, magnitude, number(0x1p-119));
  Value scale = b.select(isZero, number(0), b.divf(magnitude, number(127)));
  result.scale = b.select(result.isFinite, scale, number(std::numeric_limits<double>::quiet_NaN()));
  result.inverse = b.select(isZero, number(0), b.divf(number(127), magnitude));
  return result;
}

Value attune::quantize(VectorBuilder &b, Value x, const CacheScale &scale) {
  // The sum with 1.5 * 2^23 has the nearest integer, as two's complement, in its low bits.
  Value shifted = b.addf(b.mulf(x, scale.inverse), constantLike(b, x, 12582912.0));
  Type words = withElement(x.getType(), b.getI32Type());
  Value bits = b.select(scale.isFinite, arith::BitcastOp::create(b, words, shifted), constantOf(b, words, 0));
  return arith::TruncIOp::create(b, withElement(x.getType(), b.getI8Type()), bits);
}

Values attune::getScaleIndices(VectorBuilder &b, Value panel, Value column) {
  auto type = cast<MemRefType>(panel.getType());
  int64_t rank = type.getRank(), width = type.getDimSize(rank - 1), first = xfmr::getHeadSize(type, rank - 2);
  Value byte = b.mul(column, xfmr::kCacheScaleBytes);
  return {b.add(b.div(byte, width), first), b.rem(byte, width)};
}

Value attune::loadScales(VectorBuilder &b, Value buffer, ValueRange indices, int64_t count) {
  auto bytes = VectorType::get({count * xfmr::kCacheScaleBytes}, b.getI8Type());
  Value scales = vector::BitCastOp::create(b, VectorType::get({count}, b.getF32Type()), vector::LoadOp::create(b, bytes, buffer, indices));
  return count == 1 ? vector::ExtractOp::create(b, scales, int64_t(0)).getResult() : scales;
}

void attune::storeScales(VectorBuilder &b, Value scales, Value buffer, ValueRange indices) {
  if (!isa<VectorType>(scales.getType()))
    scales = vector::BroadcastOp::create(b, VectorType::get({1}, b.getF32Type()), scales);
  int64_t count = cast<VectorType>(scales.getType()).getDimSize(0);
  auto bytes = VectorType::get({count * xfmr::kCacheScaleBytes}, b.getI8Type());
  vector::StoreOp::create(b, vector::BitCastOp::create(b, bytes, scales), buffer, indices);
}
