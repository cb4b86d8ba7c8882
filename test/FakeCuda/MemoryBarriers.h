//===- MemoryBarriers.h - mbarriers and the copies they wait for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A barrier in shared memory ends a phase when the number of threads that it was initialized for have arrived and all
// expected bytes have been copied. A bulk copy may happen at any time from its start: at once, or, if the driver is
// lazy, when no thread can continue without it.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_MEMORYBARRIERS_H
#define ATTUNE_TEST_FAKECUDA_MEMORYBARRIERS_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace attune::fake {

class Block;

/// The content of a CUtensorMap of the fake driver.
struct TensorMap {
  uint64_t magic;
  char *data;
  uint32_t rank, elementBytes, swizzle, reserved;
  uint32_t sizes[5], box[5];
  uint64_t strides[5]; ///< bytes
};
static_assert(sizeof(TensorMap) <= 128, "what a kernel gets");
constexpr uint64_t tensorMapMagic = 0x3150414d534e4554; // "TENSMAP1"

/// Returns the offset in a swizzled tile of the byte that is at |offset| without swizzling: the 16-byte chunks of
/// 128-byte rows are exchanged by the number of the row modulo 8.
inline uint64_t swizzle128(uint64_t offset) { return offset ^ (offset >> 3 & 0x70); }

class MemoryBarriers {
public:
  /// Clears the state of a block.
  void clear();
  void init(Block &block, uint64_t address, uint32_t count);
  /// Counts |arrivals| of threads and |bytes| that are expected.
  void arrive(Block &block, uint64_t address, uint32_t arrivals, int64_t bytes);
  /// Waits for the end of the phase of parity |parity|.
  void wait(Block &block, uint64_t address, uint32_t parity);
  /// Starts a copy that brings |bytes| to the barrier.
  void copy(Block &block, uint64_t address, int64_t bytes, std::function<void()> perform);
  /// Performs one of the pending copies; returns false if there is none.
  bool performOne(Block &block, uint32_t random);
  /// Returns "", or the error if a block may not end in this state.
  std::string describeRest() const;

private:
  struct Barrier {
    uint32_t count, pending, phase;
    int64_t bytes;
    std::vector<uint32_t> waiting; ///< threads
  };
  struct Copy {
    uint64_t address;
    int64_t bytes;
    std::function<void()> perform;
  };
  Barrier &find(Block &block, uint64_t address);
  static void endPhase(Block &block, Barrier &barrier);

  std::map<uint64_t, Barrier> barriers; ///< by address
  std::vector<Copy> copies;
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_MEMORYBARRIERS_H
