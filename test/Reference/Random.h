//===- Random.h - Decisions and numbers from a seed -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_REFERENCE_RANDOM_H
#define ATTUNE_TEST_REFERENCE_RANDOM_H

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace attune::reference {

/// A generator of random numbers: SplitMix64, as test/fixtures/README.md describes it for generated weights.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Returns a number from |low| to |high|, both included.
  int64_t range(int64_t low, int64_t high) { return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1)); }
  bool chance(int percent) { return range(1, 100) <= percent; }
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[range(0, choices.size() - 1)];
  }
  float uniform() { return static_cast<float>((next() >> 40) * (2.0 / (1 << 24)) - 1); }
  std::vector<float> values(int64_t count, float size) {
    std::vector<float> all(count);
    for (float &x : all)
      x = size * uniform();
    return all;
  }

private:
  uint64_t state;
};

} // namespace attune::reference

#endif // ATTUNE_TEST_REFERENCE_RANDOM_H
