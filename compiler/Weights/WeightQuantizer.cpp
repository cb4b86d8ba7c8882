//===- WeightQuantizer.cpp - Weights in formats of few bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/WeightQuantizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attune;

/// The largest f16, and its smallest normal number.
static constexpr float kLargestHalf = 65504.0f, kNormalHalf = 0x1p-14f;

/// Adding and subtracting this rounds a number of magnitude below 2^22 to an integer, ties to even.
static constexpr float kShifter = 12582912.0f;

/// Returns |value| rounded to f16, to nearest, ties to even; its magnitude is at most that of the largest f16.
static float roundToHalf(float value) {
  if (std::fabs(value) < kNormalHalf) {
    // The sum has the distance of subnormal numbers, 2^-24.
    volatile float sum = std::fabs(value) + 0.75f;
    return std::copysign(sum - 0.75f, value);
  }
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = (bits + 0xfff + (bits >> 13 & 1)) & ~uint32_t(0x1fff);
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

/// Returns the bits of |value|, a value of f16.
static uint16_t bitsOfHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (std::fabs(value) < kNormalHalf)
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::fabs(value) * 0x1p24f));
  return static_cast<uint16_t>(sign | ((bits & 0x7fffffff) - (112u << 23)) >> 13);
}

WeightQuantizer::WeightQuantizer(mlir::xfmr::WeightFormat format)
    : format(format), lowest(static_cast<float>(-format.zero())),
      highest(static_cast<float>((int64_t(1) << format.bits) - 1 - format.zero())) {}

float WeightQuantizer::store(float number) const {
  if (format.wideScales)
    return number;
  return roundToHalf(std::clamp(number, -kLargestHalf, kLargestHalf));
}

float WeightQuantizer::integerOf(float weight, float minimum, float inverse) const {
  // The bounds come first: the shifter rounds small numbers only.
  float integer = std::min(std::max((weight - minimum) * inverse, lowest), highest);
  return (integer + kShifter) - kShifter;
}

/// Returns the inverse of |scale|, or 0 if that is not finite.
static float inverseOf(float scale) {
  float inverse = 1.0f / scale;
  return std::isfinite(inverse) ? inverse : 0.0f;
}

double WeightQuantizer::errorOf(llvm::ArrayRef<float> weights, QuantizedGroup group) const {
  // Eight sums, which a compiler makes vectors of, in an order that does not depend on it.
  constexpr size_t kParts = 8;
  float parts[kParts] = {}, inverse = inverseOf(group.scale);
  size_t whole = weights.size() / kParts * kParts;
  auto add = [&](float weight, float &part) {
    float difference = weight - group.minimum - group.scale * integerOf(weight, group.minimum, inverse);
    part += difference * difference;
  };
  for (size_t i = 0; i < whole; i += kParts)
    for (size_t j = 0; j < kParts; ++j)
      add(weights[i + j], parts[j]);
  for (size_t i = whole; i < weights.size(); ++i)
    add(weights[i], parts[i - whole]);
  double error = 0;
  for (float part : parts)
    error += part;
  return error;
}

bool WeightQuantizer::isExact(llvm::ArrayRef<float> weights, QuantizedGroup group) const {
  float inverse = inverseOf(group.scale);
  for (float weight : weights)
    if (static_cast<float>(static_cast<double>(group.scale) * integerOf(weight, group.minimum, inverse) + group.minimum) != weight)
      return false;
  return true;
}

bool WeightQuantizer::findExact(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const {
  if (format.minima) {
    // The least weight has the integer 0, the largest one up to the largest integer.
    QuantizedGroup found{0, store(least)};
    for (float integer = 1; integer <= highest; ++integer) {
      found.scale = store((largest - least) / integer);
      if (isExact(weights, found))
        return group = found, true;
    }
    return false;
  }
  // The weight of the largest magnitude has one of the integers.
  float extreme = largest > -least ? largest : least;
  for (float integer = lowest; integer <= highest; ++integer) {
    if (integer == 0)
      continue;
    float scale = store(extreme / integer);
    // Of an f32 scale whose product was rounded, the quotient may be a neighbor.
    float below = std::nextafter(scale, -HUGE_VALF), above = std::nextafter(scale, HUGE_VALF);
    for (float candidate : {scale, format.wideScales ? below : scale, format.wideScales ? above : scale}) {
      QuantizedGroup found{candidate, 0};
      if (candidate * integer == extreme && isExact(weights, found))
        return group = found, true;
    }
  }
  return false;
}

void WeightQuantizer::refine(llvm::ArrayRef<float> weights, QuantizedGroup &group) const {
  constexpr int kSteps = 2;
  double error = errorOf(weights, group);
  for (int step = 0; step < kSteps; ++step) {
    // Least squares for the integers of the group as it is.
    double count = 0, q = 0, qq = 0, w = 0, wq = 0;
    float inverse = inverseOf(group.scale);
    for (float weight : weights) {
      double integer = integerOf(weight, group.minimum, inverse);
      count += 1, q += integer, qq += integer * integer, w += weight, wq += integer * weight;
    }
    QuantizedGroup better = group;
    if (format.minima) {
      double determinant = count * qq - q * q;
      if (determinant <= 0)
        return;
      better.scale = store(static_cast<float>((count * wq - q * w) / determinant));
      better.minimum = store(static_cast<float>((qq * w - q * wq) / determinant));
    } else if (qq > 0) {
      better.scale = store(static_cast<float>(wq / qq));
    }
    double betterError = errorOf(weights, better);
    if (!(betterError < error))
      return;
    group = better, error = betterError;
  }
}

void WeightQuantizer::search(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const {
  double smallest = HUGE_VAL;
  auto consider = [&](float scale, float minimum) {
    QuantizedGroup candidate{store(scale), store(minimum)};
    double error = errorOf(weights, candidate);
    if (error < smallest)
      smallest = error, group = candidate;
  };
  // Integers of 8 bits need no search: their errors are small, and depend little on the scale.
  bool narrow = format.bits == 4;
  if (format.minima) {
    // Shares of the range of weights, from its middle.
    float range = largest - least;
    for (float share = narrow ? 0.75f : 1.0f; share <= 1.0f; share += 0.03125f)
      consider(range * share / highest, least + range * (1 - share) / 2);
  } else {
    // The integer of the weight of the largest magnitude, which may be beyond the bounds: that weight is then smaller.
    float extreme = largest > -least ? largest : least;
    for (float integer = narrow ? -9.0f : -128.0f; integer <= (narrow ? -6.5f : -127.0f); integer += narrow ? 0.25f : 1.0f)
      consider(extreme / integer, 0);
    for (float integer = narrow ? 6.5f : 127.0f; integer <= (narrow ? 9.0f : 127.0f); integer += 0.25f)
      consider(extreme / integer, 0);
  }
  refine(weights, group);
}

bool WeightQuantizer::quantize(llvm::ArrayRef<float> weights, QuantizedGroup &group, uint8_t *codes) const {
  llvm::SmallVector<float, 128> finite(weights);
  for (float &weight : finite)
    weight = std::isfinite(weight) ? weight : 0.0f;
  group = {};
  auto [least, largest] = std::minmax_element(finite.begin(), finite.end());
  float low = finite.empty() ? 0.0f : *least, high = finite.empty() ? 0.0f : *largest;
  float most = std::max(std::fabs(low), std::fabs(high));
  // The range of minima includes that of weights.
  if (!format.wideScales && (format.minima ? most : most / highest) > kLargestHalf)
    return false;
  if (low != 0 || high != 0)
    if (!findExact(finite, low, high, group))
      search(finite, low, high, group);
  float inverse = inverseOf(group.scale);
  for (size_t i = 0; i < finite.size(); ++i)
    codes[i] = static_cast<uint8_t>(static_cast<int>(integerOf(finite[i], group.minimum, inverse)) + format.zero());
  return true;
}

void WeightQuantizer::write(llvm::ArrayRef<QuantizedGroup> numbers, const uint8_t *codes, int64_t columns, uint8_t *out) const {
  auto put = [&](float number) {
    if (format.wideScales) {
      std::memcpy(out, &number, sizeof(number));
    } else {
      uint16_t bits = bitsOfHalf(number);
      std::memcpy(out, &bits, sizeof(bits));
    }
    out += format.scaleBytes();
  };
  for (const QuantizedGroup &group : numbers)
    put(group.scale);
  if (format.minima)
    for (const QuantizedGroup &group : numbers)
      put(group.minimum);
  constexpr int64_t kQuad = 4;
  int64_t step = format.bits == 4 ? 2 * kQuad : kQuad;
  for (int64_t column = 0; column < columns; column += step)
    for (size_t row = 0; row < numbers.size(); ++row)
      for (int64_t i = 0; i < kQuad; ++i) {
        const uint8_t *code = codes + row * columns + column + i;
        *out++ = format.bits == 4 ? static_cast<uint8_t>(code[0] | code[kQuad] << 4) : code[0];
      }
}
