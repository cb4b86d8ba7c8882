//===- Sampling.cpp - Drawing the next id -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Sampling.h"

#include <algorithm>
#include <cmath>

using namespace attune;

int64_t attune::argMax(const float *values, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i)
    if (values[i] > values[best])
      best = i;
  return best;
}

/// A number in [0, 1) that depends on its arguments alone: the finaliser of SplitMix64 over each in turn.
static double noise(uint64_t seed, uint64_t row, uint64_t step) {
  uint64_t z = seed;
  for (uint64_t next : {row, step}) {
    z += (next + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
  }
  return static_cast<double>(z >> 11) * 0x1p-53;
}

/// Best first, the smaller of two ids with equal scores first.
static bool isBefore(const Candidate &a, const Candidate &b) { return a.score > b.score || (a.score == b.score && a.id < b.id); }

int64_t attune::sampleId(const attune_generation_options &options, const float *scores, int64_t vocabSize, int64_t row, int64_t step,
                         Candidate *scratch) {
  int64_t count = 0;
  for (int64_t id = 0; id < vocabSize; ++id)
    if (scores[id] > -INFINITY)
      scratch[count++] = {static_cast<float>(scores[id] / options.temperature), static_cast<int32_t>(id)};
  if (count == 0)
    return argMax(scores, vocabSize);
  if (options.top_k > 0 && options.top_k < count) {
    std::nth_element(scratch, scratch + options.top_k - 1, scratch + count, isBefore);
    float least = scratch[options.top_k - 1].score;
    count = std::partition(scratch, scratch + count, [least](const Candidate &c) { return c.score >= least; }) - scratch;
  }
  std::sort(scratch, scratch + count, isBefore);
  double most = scratch[0].score, total = 0;
  for (int64_t i = 0; i < count; ++i)
    total += std::exp(scratch[i].score - most);
  if (options.top_p < 1) {
    // An id goes if those before it reach top_p without it.
    double kept = 0, limit = options.top_p * total;
    int64_t keep = 0;
    while (keep < count && (keep == 0 || kept <= limit))
      kept += std::exp(scratch[keep++].score - most);
    count = keep;
    total = kept;
  }
  double target = noise(options.seed, static_cast<uint64_t>(row), static_cast<uint64_t>(step)) * total;
  for (int64_t i = 0; i < count; ++i) {
    target -= std::exp(scratch[i].score - most);
    if (target < 0)
      return scratch[i].id;
  }
  return scratch[count - 1].id;
}
