//===- Decisions.h - Bytes as a sequence of decisions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_DECISIONS_H
#define ATTUNE_TEST_FUZZ_DECISIONS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attune {

/// An endless sequence of decisions. Each two bytes after the first eight make one decision, as does a last single
/// byte. After the last byte, a generator that the first eight bytes seed makes the decisions. So an input of eight
/// random bytes is a whole test. The further bytes of a longer input choose its first decisions one by one.
class Decisions {
public:
  Decisions(const uint8_t *data, size_t size) : data(data), end(data + size) {
    for (size_t i = 0; i < 8 && this->data != end; ++i)
      state = state << 8 | *this->data++;
  }

  /// Returns a number from 0 to |count| - 1; |count| is positive.
  size_t pick(size_t count) { return next() % count; }
  /// Returns true once in |times| on average.
  bool once(size_t times) { return pick(times) == 0; }
  /// Returns an element of |values|, which is not empty.
  template <typename Range>
  auto &of(Range &&values) {
    return values[pick(values.size())];
  }

private:
  uint64_t next() {
    if (data != end) {
      uint64_t value = *data++;
      return data == end ? value : value << 8 | *data++;
    }
    // SplitMix64.
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  const uint8_t *data, *end;
  uint64_t state = 0;
};

} // namespace attune

#endif // ATTUNE_TEST_FUZZ_DECISIONS_H
