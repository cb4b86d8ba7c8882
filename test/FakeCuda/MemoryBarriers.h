//===- MemoryBarriers.h - mbarriers and the copies they wait for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An mbarrier is a barrier in shared memory. It completes a phase when as many arrivals as its initialization asked
// for, and all bytes that threads told it to expect, have arrived. On a GPU a bulk copy, which brings such bytes, may
// happen at any time after its start. Here it happens at once or, with `lazy`, when no thread can continue without it.
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

/// The contents of the fake driver's CUtensorMap. Index 0 of the arrays is the innermost dimension; |box| is the size
/// in elements of the part that one copy brings.
struct TensorMap {
  uint64_t magic;
  char *data;
  uint32_t rank, elementBytes, swizzle, reserved;
  uint32_t sizes[5], box[5];
  uint64_t strides[5]; ///< bytes
};
static_assert(sizeof(TensorMap) <= 128, "what a kernel gets");
constexpr uint64_t tensorMapMagic = 0x3150414d534e4554; // "TENSMAP1"

/// Returns the offset in bytes at which the 128-byte swizzle stores the byte with the linear |offset|. Chunk c of 16
/// bytes of the 128-byte row r is stored as chunk c XOR (r mod 8) of that row.
inline uint64_t swizzle128(uint64_t offset) { return offset ^ (offset >> 3 & 0x70); }

class MemoryBarriers {
public:
  /// Removes all barriers and copies, before a block starts.
  void clear();
  /// Initializes the barrier at |address|, each phase of which takes |count| arrivals.
  void init(Block &block, uint64_t address, uint32_t count);
  /// Records |arrivals| arrivals at the barrier at |address|, and that |bytes| more bytes are expected in this phase.
  void arrive(Block &block, uint64_t address, uint32_t arrivals, int64_t bytes);
  /// Makes the running thread wait until the phase with |parity| has completed; the first phase has parity 0.
  void wait(Block &block, uint64_t address, uint32_t parity);
  /// Starts a copy, which |perform| executes and which then counts as |bytes| bytes that arrive at the barrier.
  void copy(Block &block, uint64_t address, int64_t bytes, std::function<void()> perform);
  /// Performs the pending copy that the number |random| selects; returns false if there is none.
  bool performOne(Block &block, uint32_t random);
  /// Returns "", or a description of the problem if a block ends before all copies and expected bytes have arrived.
  std::string describeRest() const;

private:
  struct Barrier {
    uint32_t count, pending, phase; ///< arrivals of each phase, arrivals that this phase still lacks, its parity
    int64_t bytes;                  ///< expected bytes that have not arrived
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
