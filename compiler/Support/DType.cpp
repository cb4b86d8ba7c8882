//===- DType.cpp - Element types of safetensors files ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types and the conversions.
//===----------------------------------------------------------------------===//
#include "compiler/Support/DType.h"

#include <cassert>
#include <cstring>

using namespace attune;

namespace {
/// A row of the table of element types, which has one for each DType, in the order of the enum.
struct DTypeInfo {
  const char *name;
  uint8_t size;
  enum : uint8_t { Float, Integer, Other } kind;
};
} // namespace

static constexpr DTypeInfo table[] = {
    {"F64", 8, DTypeInfo::Float},    {"F32", 4, DTypeInfo::Float},     {"F16", 2, DTypeInfo::Float},     {"BF16", 2, DTypeInfo::Float},
    {"I64", 8, DTypeInfo::Integer},  {"I32", 4, DTypeInfo::Integer},   {"I16", 2, DTypeInfo::Integer},   {"I8", 1, DTypeInfo::Integer},
    {"U64", 8, DTypeInfo::Integer},  {"U32", 4, DTypeInfo::Integer},   {"U16", 2, DTypeInfo::Integer},   {"U8", 1, DTypeInfo::Integer},
    {"BOOL", 1, DTypeInfo::Integer}, {"F8_E4M3", 1, DTypeInfo::Other}, {"F8_E5M2", 1, DTypeInfo::Other},
};

static const DTypeInfo &infoOf(DType dtype) { return table[static_cast<size_t>(dtype)]; }

const char *attune::dtypeName(DType dtype) { return infoOf(dtype).name; }
size_t attune::elementSize(DType dtype) { return infoOf(dtype).size; }
bool attune::isFloat(DType dtype) { return infoOf(dtype).kind == DTypeInfo::Float; }
bool attune::isInteger(DType dtype) { return infoOf(dtype).kind == DTypeInfo::Integer; }

std::optional<DType> attune::parseDType(std::string_view name) {
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i)
    if (name == table[i].name)
      return static_cast<DType>(i);
  return std::nullopt;
}

std::string attune::shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::optional<int64_t> attune::elementCount(const std::vector<int64_t> &shape) {
  constexpr int64_t limit = int64_t(1) << 62;
  // A zero extent makes the product zero, even if the product of the other extents overflows.
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    empty |= extent == 0;
  }
  if (empty)
    return 0;
  int64_t product = 1;
  for (int64_t extent : shape) {
    if (extent > limit / product)
      return std::nullopt;
    product *= extent;
  }
  return product;
}

std::optional<int64_t> attune::sumSizes(const std::vector<int64_t> &sizes) {
  int64_t sum = 0;
  for (int64_t size : sizes)
    if (__builtin_add_overflow(sum, size, &sum))
      return std::nullopt;
  return sum;
}

/// Converts an IEEE half to float exactly, including subnormals and NaN payloads.
static float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, mantissa = half & 1023u, bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  } else {
    float value = static_cast<float>(mantissa) * 5.9604644775390625e-08f; // 2^-24, exact
    std::memcpy(&bits, &value, 4);
    bits |= sign;
  }
  float result;
  std::memcpy(&result, &bits, 4);
  return result;
}

/// Converts |count| elements of type From at |data|, which need not be aligned, to type To by |convert|.
template <typename From, typename To, typename Fn>
static void convertRun(const uint8_t *data, int64_t count, To *out, Fn convert) {
  for (int64_t i = 0; i < count; ++i) {
    From element;
    std::memcpy(&element, data + i * sizeof(From), sizeof(From));
    out[i] = convert(element);
  }
}

void attune::convertToF32(DType dtype, const uint8_t *data, int64_t begin, int64_t count, float *out) {
  if (count == 0)
    return;
  data += static_cast<size_t>(begin) * elementSize(dtype);
  switch (dtype) {
  case DType::F32:
    std::memcpy(out, data, static_cast<size_t>(count) * 4);
    return;
  case DType::F64:
    return convertRun<double>(data, count, out, [](double value) { return static_cast<float>(value); });
  case DType::F16:
    return convertRun<uint16_t>(data, count, out, halfToFloat);
  case DType::BF16:
    return convertRun<uint16_t>(data, count, out, [](uint16_t value) {
      uint32_t bits = uint32_t(value) << 16;
      float result;
      std::memcpy(&result, &bits, 4);
      return result;
    });
  default:
    assert(false && "convertToF32 of a type that is not a float");
  }
}

void attune::convertToI64(DType dtype, const uint8_t *data, int64_t begin, int64_t count, int64_t *out) {
  if (count == 0)
    return;
  data += static_cast<size_t>(begin) * elementSize(dtype);
  auto widen = [](auto value) { return static_cast<int64_t>(value); };
  switch (dtype) {
  case DType::I64:
    return convertRun<int64_t>(data, count, out, widen);
  case DType::I32:
    return convertRun<int32_t>(data, count, out, widen);
  case DType::I16:
    return convertRun<int16_t>(data, count, out, widen);
  case DType::I8:
    return convertRun<int8_t>(data, count, out, widen);
  case DType::U64:
    return convertRun<uint64_t>(data, count, out, widen);
  case DType::U32:
    return convertRun<uint32_t>(data, count, out, widen);
  case DType::U16:
    return convertRun<uint16_t>(data, count, out, widen);
  case DType::U8:
    return convertRun<uint8_t>(data, count, out, widen);
  case DType::BOOL:
    return convertRun<uint8_t>(data, count, out, [](uint8_t value) { return int64_t(value != 0); });
  default:
    assert(false && "convertToI64 of a type that is not an integer");
  }
}
