//===- SharedRaces.h - Unordered accesses to shared memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads race if both access a byte, at least one of them writes it, and no barrier separates the accesses: a
// barrier of the block or a warpgroup, an mbarrier or, if both threads are in one warp, a barrier of the warp.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_SHAREDRACES_H
#define ATTUNE_TEST_FAKECUDA_SHAREDRACES_H

#include <cstdint>
#include <vector>

namespace attune::fake {

/// The time of a thread for the race detector. |block| is the number of the last barrier that the thread passed. A
/// barrier of the block or of a warpgroup gets the next number when it completes, an mbarrier when a thread passes it.
/// Accesses with different |block| count as separated. |warp| is the number of bar.warp.sync operations that the thread
/// has passed.
struct ThreadTime {
  uint32_t block = 0, warp = 0;
};

class SharedRaces {
public:
  explicit SharedRaces(uint32_t bytes) : bytes(bytes) {}
  /// Forgets all accesses.
  void clear() { bytes.assign(bytes.size(), Byte()); }
  /// Records that |thread| at |time| accesses |count| bytes at |offset| in shared memory. Returns -1, or the number of
  /// a thread that it races with: its own number if several threads have read the byte.
  int64_t access(uint32_t thread, ThreadTime time, uint64_t offset, uint64_t count, bool isWrite);

private:
  static constexpr uint32_t none = UINT32_MAX, several = UINT32_MAX - 1;
  struct Access {
    /// The thread and the warp of the last access; |several| if more than one have read since the last barrier.
    uint32_t thread = none, warp = none;
    ThreadTime time;
  };
  /// The last write of a byte, and its reads.
  struct Byte {
    Access write, read;
  };
  static bool races(const Access &earlier, uint32_t thread, ThreadTime time);

  std::vector<Byte> bytes;
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_SHAREDRACES_H
