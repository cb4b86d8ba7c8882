//===- ElementTypes.cpp - Floats as elements of other types ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/ElementTypes.h"
#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace mlir;
using namespace attune;

llvm::StringRef attune::elementTypeName(Type type) {
  if (type.isF32())
    return "f32";
  if (type.isBF16())
    return "bf16";
  if (type.isF16())
    return "f16";
  if (type.isInteger(8))
    return "i8";
  if (type.isInteger(32))
    return "i32";
  return "";
}

/// Returns the bits of |value| rounded to bf16, to nearest, ties to even.
static uint16_t toBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40); // stays a NaN
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static llvm::APFloat roundTo(const llvm::fltSemantics &semantics, float value) {
  llvm::APFloat rounded(value);
  bool inexact;
  rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return rounded;
}

static uint16_t toF16(float value) {
  return static_cast<uint16_t>(roundTo(llvm::APFloat::IEEEhalf(), value).bitcastToAPInt().getZExtValue());
}

float attune::roundToType(FloatType type, float value) {
  if (type.isF32())
    return value;
  if (type.isBF16()) {
    uint32_t bits = uint32_t(toBF16(value)) << 16;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  llvm::APFloat rounded = roundTo(type.getFloatSemantics(), value);
  bool inexact;
  rounded.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return rounded.convertToFloat();
}

/// Writes |count| values, which |convert| converts to T, to |out|, which need not be aligned.
template <typename T, typename Convert>
static void write(const float *values, int64_t count, uint8_t *out, Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    T element = convert(values[i]);
    std::memcpy(out + i * sizeof(T), &element, sizeof(T));
  }
}

void attune::writeElements(Type type, const float *values, int64_t count, uint8_t *out) {
  if (type.isF32())
    std::memcpy(out, values, count * sizeof(float));
  else if (type.isBF16())
    write<uint16_t>(values, count, out, toBF16);
  else if (type.isF16())
    write<uint16_t>(values, count, out, toF16);
  else if (type.isInteger(8))
    write<int8_t>(values, count, out, [](float value) { return static_cast<int8_t>(value); });
  else
    write<int32_t>(values, count, out, [](float value) { return static_cast<int32_t>(value); });
}
