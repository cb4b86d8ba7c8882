//===- Convert.cpp - Conversions of elements -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests conversions between element types bit by bit.
//===----------------------------------------------------------------------===//
#include "Check.h"
#include "compiler/Support/DType.h"

#include <cmath>
#include <cstring>

using namespace attune;

/// Returns the bits of the float to which convertToF32 converts |element|, of |dtype|, from an unaligned address.
template <typename T>
static uint32_t floatBits(DType dtype, T element) {
  uint8_t bytes[17] = {};
  std::memcpy(bytes + 1 + sizeof(T), &element, sizeof(T));
  float value;
  convertToF32(dtype, bytes + 1, 1, 1, &value);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

template <typename T>
static int64_t integer(DType dtype, T element) {
  uint8_t bytes[9] = {};
  std::memcpy(bytes + 1, &element, sizeof(T));
  int64_t value;
  convertToI64(dtype, bytes + 1, 0, 1, &value);
  return value;
}

void testConvert() {
  CHECK(floatBits<uint16_t>(DType::F16, 0x3c00) == 0x3f800000);
  CHECK(floatBits<uint16_t>(DType::F16, 0xc000) == 0xc0000000);
  CHECK(floatBits<uint16_t>(DType::F16, 0x0001) == 0x33800000); // smallest subnormal, 2^-24
  CHECK(floatBits<uint16_t>(DType::F16, 0x83ff) == 0xb87fc000); // largest subnormal, negative
  CHECK(floatBits<uint16_t>(DType::F16, 0x8000) == 0x80000000);
  CHECK(floatBits<uint16_t>(DType::F16, 0x7bff) == 0x477fe000); // 65504
  CHECK(floatBits<uint16_t>(DType::F16, 0x7c00) == 0x7f800000);
  CHECK(floatBits<uint16_t>(DType::F16, 0xfe01) == 0xffc02000);
  CHECK(floatBits<uint16_t>(DType::BF16, 0x3f80) == 0x3f800000);
  CHECK(floatBits<uint16_t>(DType::BF16, 0xff80) == 0xff800000);
  CHECK(floatBits<float>(DType::F32, -0.0f) == 0x80000000);
  CHECK(floatBits<double>(DType::F64, 1.0 + 0x1p-24) == 0x3f800000); // ties to even
  CHECK(floatBits<double>(DType::F64, 1.0 + 0x3p-24) == 0x3f800002);
  CHECK(integer<int64_t>(DType::I64, INT64_MIN) == INT64_MIN);
  CHECK(integer<int32_t>(DType::I32, -5) == -5);
  CHECK(integer<int16_t>(DType::I16, -5) == -5);
  CHECK(integer<int8_t>(DType::I8, -5) == -5);
  CHECK(integer<uint32_t>(DType::U32, 0xffffffffu) == 0xffffffff);
  CHECK(integer<uint8_t>(DType::U8, 200) == 200);
  CHECK(integer<uint8_t>(DType::BOOL, 2) == 1);
  CHECK(!elementCount({-1}) && !elementCount({int64_t(1) << 40, int64_t(1) << 40}));
  CHECK(elementCount({int64_t(1) << 40, int64_t(1) << 40, 0}) == 0 && elementCount({}) == 1);
  for (int i = 0; i <= int(DType::F8_E5M2); ++i)
    CHECK(parseDType(dtypeName(DType(i))) == DType(i));
}
