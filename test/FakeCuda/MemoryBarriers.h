//===- MemoryBarriers.h - mbarriers and the copies they wait for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An mbarrier completes a phase when the number of arrivals of its initialization and all expected bytes have arrived.
// A bulk copy may happen at any time from its start on: here at once or, with `lazy`, when no thread can continue
// without it.
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

/// The fake driver's CUtensorMap.
struct TensorMap {
  uint64_t magic;
  char *data;
  uint32_t rank, elementBytes, swizzle, reserved;
  uint32_t sizes[5], box[5];
  uint64_t strides[5]; ///< bytes
};
static_assert(sizeof(TensorMap) <= 128, "what a kernel gets");
constexpr uint64_t tensorMapMagic = 0x3150414d534e4554; // "TENSMAP1"

/// Returns where the 128-byte swizzle puts the element at |offset|: it permutes the 16-byte chunks of 128-byte rows by
/// the row's number modulo 8.
inline uint64_t swizzle128(uint64_t offset) { return offset ^ (offset >> 3 & 0x70); }

class MemoryBarriers {
public:
  /// Removes the barriers and copies of a block.
  void clear();
  void init(Block &block, uint64_t address, uint32_t count);
  /// Records |arrivals| of threads and |bytes| that are expected.
  void arrive(Block &block, uint64_t address, uint32_t arrivals, int64_t bytes);
  /// Waits until the phase of parity |parity| has completed.
  void wait(Block &block, uint64_t address, uint32_t parity);
  /// Starts a copy that brings |bytes| to the barrier.
  void copy(Block &block, uint64_t address, int64_t bytes, std::function<void()> perform);
  /// Performs one of the pending copies; returns false if there is none.
  bool performOne(Block &block, uint32_t random);
  /// Returns "", or the problem at the end of a block.
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
