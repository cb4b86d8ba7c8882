//===- SharedRaces.h - Unordered accesses to shared memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two accesses of different threads to a byte, one of them a write, need a barrier between them: of the block, or of
// the warp if they are in one.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_SHAREDRACES_H
#define ATTUNE_TEST_FAKECUDA_SHAREDRACES_H

#include <cstdint>
#include <vector>

namespace attune::fake {

/// The number of barriers that a thread has passed.
struct ThreadTime {
  uint32_t block = 0, warp = 0;
};

class SharedRaces {
public:
  explicit SharedRaces(uint32_t bytes) : bytes(bytes) {}
  /// Clears all accesses.
  void clear() { bytes.assign(bytes.size(), Byte()); }
  /// Records that |thread| accesses |count| bytes at |offset|. Returns the number of a thread that it races with, or
  /// -1.
  int64_t access(uint32_t thread, ThreadTime time, uint64_t offset, uint64_t count, bool isWrite);

private:
  static constexpr uint32_t none = UINT32_MAX, several = UINT32_MAX - 1;
  struct Access {
    uint32_t thread = none, warp = none; ///< |several| if more than one since the last barrier
    ThreadTime time;
  };
  struct Byte {
    Access write, read;
  };
  static bool races(const Access &earlier, uint32_t thread, ThreadTime time);

  std::vector<Byte> bytes;
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_SHAREDRACES_H
