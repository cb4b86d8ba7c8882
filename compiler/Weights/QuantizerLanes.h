//===- QuantizerLanes.h - Rounding of weights, eight at a time --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of eight lanes, and the rounding to f16 and to integers, that WeightQuantizer.cpp and ExactScales.cpp share.
// No other file should include this header. Functions take vectors by reference, since the registers in which the ABI
// passes vectors by value depend on the instruction set.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_QUANTIZERLANES_H
#define ATTUNE_COMPILER_WEIGHTS_QUANTIZERLANES_H

#include "compiler/Weights/QuantizedGroup.h"
#include "dialect/Xfmr/IR/WeightFormat.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#define ATTUNE_INLINE inline __attribute__((always_inline))

namespace attune::quantizer {

/// The number of rows that are quantized side by side, one per lane.
constexpr int64_t kLanes = 8;
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Words __attribute__((vector_size(32)));

/// The largest finite f16 value, and the smallest positive normal one.
constexpr float kLargestHalf = 65504.0f, kNormalHalf = 0x1p-14f;
/// Adding and then subtracting this number in f32 rounds a number of magnitude below 2^22 to an integer, ties to even.
constexpr float kShifter = 12582912.0f;

/// Rounds |values| to f16, to nearest, ties to even. Magnitudes beyond the range become the largest f16.
ATTUNE_INLINE void roundToHalf(Floats &values) {
  Floats lowest = Floats{} - kLargestHalf, highest = Floats{} + kLargestHalf;
  values = values < lowest ? lowest : highest < values ? highest : values;
  Words bits, sign;
  std::memcpy(&bits, &values, sizeof(bits));
  sign = bits & int32_t(0x80000000);
  Words magnitudeBits = bits ^ sign;
  Floats magnitude;
  std::memcpy(&magnitude, &magnitudeBits, sizeof(bits));
  // Between 0.5 and 1, f32 values are 2^-24 apart, as subnormal f16 values are. So adding 0.75 rounds a magnitude below
  // kNormalHalf to a multiple of 2^-24.
  Floats shifted = magnitude + 0.75f, subnormal = shifted - 0.75f;
  Words subnormalBits, normalBits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fff;
  std::memcpy(&subnormalBits, &subnormal, sizeof(bits));
  bits = magnitude < kNormalHalf ? subnormalBits | sign : normalBits;
  std::memcpy(&values, &bits, sizeof(bits));
}

/// The range of the integers q of a format (WeightFormat), both ends included.
struct IntegerRange {
  explicit IntegerRange(mlir::xfmr::WeightFormat format)
      : lowest(static_cast<float>(-format.zero())), highest(static_cast<float>((int64_t(1) << format.bits) - 1 - format.zero())) {}
  float lowest, highest;
};

/// Returns 1 / |scale|, or 0 if the quotient is not finite.
inline float inverseOf(float scale) {
  float inverse = 1.0f / scale;
  return std::isfinite(inverse) ? inverse : 0.0f;
}

/// Returns the integer q, as a float, that represents |weight| in |group|. |inverse| is inverseOf the group's scale.
inline float toInteger(float weight, QuantizedGroup group, float inverse, const IntegerRange &range) {
  float integer = std::min(std::max((weight - group.minimum) * inverse, range.lowest), range.highest);
  return (integer + kShifter) - kShifter;
}

} // namespace attune::quantizer

#endif // ATTUNE_COMPILER_WEIGHTS_QUANTIZERLANES_H
