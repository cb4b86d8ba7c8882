//===- CacheElements.cpp - Elements of caches of keys and values ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/CacheElements.h"
#include "dialect/Xfmr/IR/CacheLayout.h"

using namespace mlir;
using namespace attune;

Value attune::widen(IndexBuilder &b, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF32())
    return value;
  Type type = b.typeLike(value.getType(), b.getF32Type());
  if (element.isInteger(8))
    return arith::SIToFPOp::create(b, type, value);
  return arith::ExtFOp::create(b, type, value);
}

/// Returns |value|, a scalar or vector of f32, rounded to bf16.
static Value roundToBF16(IndexBuilder &b, Value value) {
  Type words = b.typeLike(value.getType(), b.getI32Type());
  auto constant = [&](int32_t number) { return b.constantLike(words, b.getI32IntegerAttr(number)); };
  Value bits = arith::BitcastOp::create(b, words, value), shift = constant(16);
  // Adds half of the distance to the next bf16, less one unless the last bit that is kept is set, so ties go to even.
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, shift), constant(1));
  Value sum = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, constant(0x7fff)), odd);
  Value quiet = arith::OrIOp::create(b, bits, constant(0x400000));
  Value isNan = b.compare(arith::CmpFPredicate::UNO, value, value);
  Value rounded = arith::ShRUIOp::create(b, b.select(isNan, quiet, sum), shift);
  Value half = arith::TruncIOp::create(b, b.typeLike(words, b.getIntegerType(16)), rounded);
  return arith::BitcastOp::create(b, b.typeLike(words, b.getBF16Type()), half);
}

Value attune::toCacheElement(IndexBuilder &b, Value value, Type element, const IntegerScale &scale) {
  if (element.isF32())
    return value;
  if (element.isBF16())
    return roundToBF16(b, value);
  Type type = b.typeLike(value.getType(), element);
  if (element.isF16())
    return arith::TruncFOp::create(b, type, value);
  return arith::TruncIOp::create(b, type, toIntegers(b, value, scale));
}

IndexBuilder::Values attune::getScaleIndices(IndexBuilder &b, Value keys, Value column) {
  auto type = cast<ShapedType>(keys.getType());
  int64_t rank = type.getRank(), width = type.getDimSize(rank - 1);
  Value byte = b.mul(column, xfmr::kCacheScaleBytes);
  return {b.add(b.div(byte, width), xfmr::getHeadSize(type, rank - 2)), b.rem(byte, width)};
}
