//===- CacheElements.cpp - Elements of caches in vector code --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CacheElements.h"
#include "dialect/Xfmr/IR/CacheLayout.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = VectorBuilder::Values;

Value attune::widen(VectorBuilder &b, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF32())
    return value;
  if (element.isInteger(8))
    return arith::SIToFPOp::create(b, b.getType(), value);
  return arith::ExtFOp::create(b, b.getType(), value);
}

/// Returns |value|, a scalar or vector of f32, rounded to bf16.
static Value roundToBF16(VectorBuilder &b, Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  auto withElement = [&](Type element) { return vector ? Type(VectorType::get(vector.getShape(), element)) : element; };
  Type words = withElement(b.getI32Type());
  auto constant = [&](int32_t number) -> Value {
    IntegerAttr attribute = b.getI32IntegerAttr(number);
    return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(cast<VectorType>(words), Attribute(attribute)))
                                               : TypedAttr(attribute));
  };
  Value bits = arith::BitcastOp::create(b, words, value), shift = constant(16);
  // Adds half of the distance to the next bf16, less one unless the last bit that is kept is set, so ties go to even.
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, shift), constant(1));
  Value sum = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, constant(0x7fff)), odd);
  Value quiet = arith::OrIOp::create(b, bits, constant(0x400000));
  Value isNan = b.compare(arith::CmpFPredicate::UNO, value, value);
  Value rounded = arith::ShRUIOp::create(b, b.select(isNan, quiet, sum), shift);
  Value half = arith::TruncIOp::create(b, withElement(b.getIntegerType(16)), rounded);
  return arith::BitcastOp::create(b, withElement(b.getBF16Type()), half);
}

Value attune::toCacheElement(VectorBuilder &b, Value value, Type element, const IntegerScale &scale) {
  if (element.isF32())
    return value;
  if (element.isBF16())
    return roundToBF16(b, value);
  auto vector = dyn_cast<VectorType>(value.getType());
  Type type = vector ? Type(VectorType::get(vector.getShape(), element)) : element;
  if (element.isF16())
    return arith::TruncFOp::create(b, type, value);
  return arith::TruncIOp::create(b, type, toIntegers(b, value, scale));
}

IntegerScale attune::getScaleOfRow(VectorBuilder &b, Value rows, Value row) {
  int64_t size = cast<MemRefType>(rows.getType()).getDimSize(1), whole = size / VectorBuilder::kLanes * VectorBuilder::kLanes;
  auto take = [&](Value column, Lanes lanes, Value largest) { return maxMagnitude(b, b.load(rows, {row, column}, lanes), largest); };
  Value largest = arith::ConstantOp::create(b, b.getZeroAttr(VectorType::get({VectorBuilder::kLanes}, b.getI32Type())));
  largest = b.loop(b.index(0), b.index(whole), VectorBuilder::kLanes, {largest},
                   [&](Value column, ValueRange carried) -> Values { return {take(column, Lanes::all(), carried[0])}; })[0];
  if (whole < size)
    largest = take(b.index(whole), Lanes::first(size - whole), largest);
  return getIntegerScale(b, maxOfLanes(b, largest));
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
