//===- ExactScales.cpp - Scales of weights that were quantized ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Weights/ExactScales.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

using namespace attune;
using namespace attune::quantizer;

/// getListed has a table for odd numbers below this bound: for each, the integers whose odd part divides it. The odd
/// part of a number is the number without its factors of 2.
static constexpr uint32_t kListed = 256;
using Integers = llvm::SmallVector<int16_t, 0>;

static uint32_t oddPart(uint32_t number) { return number == 0 ? 0 : number >> __builtin_ctz(number); }

/// Appends the integers from -128 to 127, except 0, whose odd part divides |odd|; all of them if |odd| is 0.
static void addDivisors(uint32_t odd, Integers &integers) {
  bool divides[128] = {};
  for (uint32_t part = 1; part < 128; part += 2)
    divides[part] = odd % part == 0;
  for (int16_t integer = -128; integer < 128; ++integer)
    if (integer != 0 && divides[oddPart(static_cast<uint32_t>(std::abs(integer)))])
      integers.push_back(integer);
}

/// Returns the integers that addDivisors appends for |odd|, an odd number below kListed, from a table.
static const Integers &getListed(uint32_t odd) {
  static const std::vector<Integers> lists = [] {
    std::vector<Integers> lists(kListed);
    for (uint32_t odd = 1; odd < kListed; odd += 2)
      addDivisors(odd, lists[odd]);
    return lists;
  }();
  return lists[odd];
}

bool ExactScales::find(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const {
  return format.minima ? findWithMinimum(weights, least, largest, group) : findScale(weights, largest > -least ? largest : least, group);
}

bool ExactScales::isPossible(float extreme) const {
  uint32_t bits;
  std::memcpy(&bits, &extreme, sizeof(bits));
  return format.minima || format.wideScales || bits << (9 + 10 + format.bits) == 0;
}

float ExactScales::store(float number) const {
  if (format.wideScales)
    return number;
  Floats all = Floats{} + number;
  roundToHalf(all);
  return all[0];
}

bool ExactScales::isExact(llvm::ArrayRef<float> weights, QuantizedGroup group) const {
  float inverse = inverseOf(group.scale);
  for (float weight : weights)
    if (static_cast<float>(static_cast<double>(group.scale) * toInteger(weight, group, inverse, range) + group.minimum) != weight)
      return false;
  return true;
}

bool ExactScales::findWithMinimum(llvm::ArrayRef<float> weights, float least, float largest, QuantizedGroup &group) const {
  // The least weight has the integer 0. The integer of the largest weight is unknown, so all are tried.
  QuantizedGroup found{0, store(least)};
  for (float integer = 1; integer <= range.highest; ++integer) {
    found.scale = store((largest - least) / integer);
    if (isExact(weights, found))
      return group = found, true;
  }
  return false;
}

bool ExactScales::findScale(llvm::ArrayRef<float> weights, float extreme, QuantizedGroup &group) const {
  uint32_t bits;
  std::memcpy(&bits, &extreme, sizeof(bits));
  uint32_t odd = oddPart((bits & 0x7fffff) | (bits & 0x7f800000 ? 0x800000 : 0));
  Integers divisors;
  if (format.wideScales)
    addDivisors(0, divisors);
  else if (odd >= kListed)
    addDivisors(odd, divisors);
  for (int16_t integer : divisors.empty() ? getListed(odd) : divisors) {
    float number = integer;
    if (number < range.lowest || number > range.highest)
      continue;
    float scale = store(extreme / number);
    if (tryScale(weights, scale, number, extreme, group))
      return true;
    // |extreme| may be the rounded product of |number| and an f32 scale. Then the scale may be a neighbor of the
    // quotient.
    if (format.wideScales && (tryScale(weights, std::nextafter(scale, -HUGE_VALF), number, extreme, group) ||
                              tryScale(weights, std::nextafter(scale, HUGE_VALF), number, extreme, group)))
      return true;
  }
  return false;
}

bool ExactScales::tryScale(llvm::ArrayRef<float> weights, float scale, float integer, float extreme, QuantizedGroup &group) const {
  QuantizedGroup found{scale, 0};
  if (scale * integer != extreme || !isExact(weights, found))
    return false;
  group = found;
  return true;
}
