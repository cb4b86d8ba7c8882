//===- StoredIntegers.cpp - Quantized weights as operands ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two integers become two elements in two to five instructions. A byte permutation makes the stored byte s the low byte
// of a 16-bit float whose high byte is that of 2^7 (bf16) or 2^10 (f16), so the float is 2^7 + s or 2^10 + s. A
// subtraction of two elements at once leaves s - zero, where zero is WeightFormat::zero(). Nothing is rounded. A stored
// integer of 8 bits has one bit more than the mantissa of bf16, so in bf16 this highest bit selects the number that is
// subtracted.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/StoredIntegers.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

Value StoredIntegers::toElements(Value bytes, int64_t first) {
  auto four = VectorType::get({4}, e.getI8Type()), one = VectorType::get({1}, e.getI32Type());
  auto pair = VectorType::get({2}, element);
  bool isHalf = element.isF16();
  auto word = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(e, static_cast<int32_t>(value * 0x10001), 32); };
  auto elements = [&](Value of) -> Value { return vector::BitCastOp::create(e, pair, vector::BroadcastOp::create(e, one, of)); };
  Value exponents = arith::ConstantOp::create(e, DenseElementsAttr::get(four, static_cast<int8_t>(isHalf ? 0x64 : 0x43)));
  Value stored = vector::BitCastOp::create(e, four, vector::BroadcastOp::create(e, one, bytes));
  stored = vector::ShuffleOp::create(e, stored, exponents, ArrayRef<int64_t>{first, 4, first + 1, 4});
  Value large = vector::ExtractOp::create(e, vector::BitCastOp::create(e, one, stored), int64_t(0)), excess;
  if (isHalf) {
    excess = word(0x6400 + format.zero());
  } else if (format.bits == 4) {
    excess = word(0x4300 + format.zero());
  } else {
    // The float with the bits 0x4300 + s is 128 + s if s is less than 128. Otherwise bit 7 of s is cleared, and the
    // float is s. With zero = 128, subtract 256 if s is less than 128, else 128; with zero = 0, subtract 128 or 0.
    Value high = arith::AndIOp::create(e, large, word(0x80));
    large = arith::AndIOp::create(e, large, word(0xff7f));
    excess = arith::XOrIOp::create(e, high, word(format.zero() ? 0x4380 : 0x80));
    if (format.zero() == 0)
      excess = arith::MulIOp::create(e, excess, arith::ConstantIntOp::create(e, 0x86, 32)); // 0x80 * 0x86 = 0x4300
  }
  Value exact = arith::SubFOp::create(e, elements(large), elements(excess));
  return vector::ExtractOp::create(e, vector::BitCastOp::create(e, one, exact), int64_t(0));
}
