//===- LogSoftmax.cpp - Logarithms of probabilities -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LogSoftmax.h"

#include <cmath>
#include <cstring>

using namespace attune;

/// Returns exp(x) for x <= 0; 0 if the result is at most 2^-126. Splits x / ln(2) into an integer n and a rest f from
/// -0.5 to 0.5, and returns 2^n * p(f), where the polynomial p is 2^f with a relative error of 1e-7. Has no branches,
/// so that compilers vectorize it.
static inline float expOf(float x) {
  float scaled = x * 1.44269504f;
  scaled = scaled < -126.0f ? -126.0f : scaled;
  float shifted = scaled + 12582912.0f; // adding 1.5 * 2^23 rounds to an integer, which is in the low bits
  uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  float f = scaled - (shifted - 12582912.0f);
  float p = 1.5403530e-4f;
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  uint32_t power = (bits + 127) << 23; // unsigned, as the bits above the exponent are shifted out
  float scale;
  std::memcpy(&scale, &power, sizeof(scale));
  return scaled <= -126.0f ? 0.0f : p * scale;
}

double attune::logSumExp(const float *values, int64_t count) {
  constexpr int64_t kLanes = 16, kBlock = 64 * kLanes;
  float largest[kLanes];
  for (float &lane : largest)
    lane = -INFINITY;
  int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      largest[lane] = values[i + lane] > largest[lane] ? values[i + lane] : largest[lane];
  float most = -INFINITY;
  for (float lane : largest)
    most = lane > most ? lane : most;
  for (int64_t i = whole; i < count; ++i)
    most = values[i] > most ? values[i] : most;
  if (most == -INFINITY)
    return -INFINITY;
  double sum = 0;
  for (int64_t block = 0; block < whole; block += kBlock) {
    float sums[kLanes] = {};
    int64_t end = block + kBlock < whole ? block + kBlock : whole;
    for (int64_t i = block; i < end; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        sums[lane] += expOf(values[i + lane] - most);
    for (float lane : sums)
      sum += static_cast<double>(lane);
  }
  for (int64_t i = whole; i < count; ++i)
    sum += static_cast<double>(expOf(values[i] - most));
  return static_cast<double>(most) + std::log(sum);
}

void attune::logSoftmax(float *values, int64_t count) {
  double all = logSumExp(values, count);
  if (all == -INFINITY)
    return;
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(values[i] - all);
}
