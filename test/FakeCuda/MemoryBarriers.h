//===- MemoryBarriers.h - mbarriers and the copies they wait for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An mbarrier is a barrier in shared memory. It completes a phase after as many arrivals as its initialization has set,
// when also all bytes have arrived that threads told it to expect. On a GPU the bulk copies that bring these bytes may
// happen at any time after their start. Here a copy happens at once or, with `lazy`, when no thread can continue
// without it; with `lazy,random` it may happen earlier.
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

/// The contents of the fake driver's CUtensorMap. Index 0 of the arrays is the innermost dimension; |sizes| are those
/// of the tensor and |box| those of a TMA tile, both in elements. |swizzle| is 1 for the 128-byte swizzle, 0 for none.
struct TensorMap {
  uint64_t magic;
  char *data;
  uint32_t rank, elementBytes, swizzle, reserved;
  uint32_t sizes[5], box[5];
  uint64_t strides[5]; ///< bytes
};
static_assert(sizeof(TensorMap) <= 128, "what a kernel gets");
constexpr uint64_t tensorMapMagic = 0x3150414d534e4554; // "TENSMAP1"

/// Returns the offset in bytes at which the 128-byte swizzle stores the byte with the linear |offset|, both from an
/// address that is a multiple of 1024. Chunk c of 16 bytes of the 128-byte row r is stored as chunk c XOR (r mod 8) of
/// that row.
inline uint64_t swizzle128(uint64_t offset) { return offset ^ (offset >> 3 & 0x70); }

/// The mbarriers of the running block and the copies that they wait for. A wrong use, such as of a barrier that is not
/// initialized, ends the block (Block::fail).
class MemoryBarriers {
public:
  /// Removes all barriers and copies, before a block starts.
  void clear();
  /// Initializes the barrier at |address|, 8 aligned bytes of shared memory, each phase of which takes |count| >= 1
  /// arrivals.
  void init(Block &block, uint64_t address, uint32_t count);
  /// Records |arrivals| arrivals at the barrier at |address|, and that |bytes| more bytes are expected in this phase.
  void arrive(Block &block, uint64_t address, uint32_t arrivals, int64_t bytes);
  /// Makes the running thread wait until the phase with |parity| has completed; the first phase has parity 0.
  void wait(Block &block, uint64_t address, uint32_t parity);
  /// Starts a copy, which |perform| executes. When it is done, |bytes| bytes have arrived at the barrier at |address|.
  void copy(Block &block, uint64_t address, int64_t bytes, std::function<void()> perform);
  /// Performs pending copy number |random| modulo their count; returns false if no copy is pending.
  bool performOne(Block &block, uint32_t random);
  /// Returns "", or a description of the problem if a block ends before all copies and expected bytes have arrived.
  std::string describeRest() const;

private:
  struct Barrier {
    uint32_t count, pending, phase; ///< arrivals of each phase; arrivals that this phase still lacks; its parity
    int64_t bytes;                  ///< expected bytes that have not arrived; negative if bytes arrived first
    std::vector<uint32_t> waiting; ///< the numbers of the waiting threads
  };
  struct Copy {
    uint64_t address; ///< of the barrier
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
