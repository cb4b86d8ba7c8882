//===- MemoryBarriers.cpp - mbarriers and the copies they wait for ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "MemoryBarriers.h"
#include "DeviceMemory.h"
#include "Operations.h"
#include "Settings.h"

#include <cstdlib>

using namespace attune;
using namespace attune::fake;

void MemoryBarriers::clear() {
  barriers.clear();
  copies.clear();
}

MemoryBarriers::Barrier &MemoryBarriers::find(Block &block, uint64_t address) {
  auto found = barriers.find(address);
  if (found == barriers.end())
    block.fail("uses a barrier in memory that is not initialized");
  return found->second;
}

void MemoryBarriers::init(Block &block, uint64_t address, uint32_t count) {
  uint64_t offset;
  if (address % 8 || !block.isShared(reinterpret_cast<void *>(address), offset) || count == 0)
    block.fail("initializes a barrier that is not 8 aligned bytes of shared memory, or for nobody");
  if (barriers.count(address))
    block.fail("initializes a barrier in memory twice");
  block.checkShared(reinterpret_cast<void *>(address), 8, /*isWrite=*/true);
  barriers[address] = {count, count, 0, 0, {}};
}

void MemoryBarriers::endPhase(Block &block, Barrier &barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0)
    return;
  barrier.phase ^= 1;
  barrier.pending = barrier.count;
  for (uint32_t thread : barrier.waiting)
    block.wake(thread);
  barrier.waiting.clear();
}

void MemoryBarriers::arrive(Block &block, uint64_t address, uint32_t arrivals, int64_t bytes) {
  Barrier &barrier = find(block, address);
  if (arrivals > barrier.pending)
    block.fail("arrives at a barrier in memory that waits for nobody more");
  barrier.pending -= arrivals;
  barrier.bytes += bytes;
  endPhase(block, barrier);
}

void MemoryBarriers::wait(Block &block, uint64_t address, uint32_t parity) {
  block.maybeYield();
  while (find(block, address).phase == parity) {
    find(block, address).waiting.push_back(block.threadNumber());
    block.wait("mbarrier.try_wait.parity");
  }
  block.order();
}

void MemoryBarriers::copy(Block &block, uint64_t address, int64_t bytes, std::function<void()> perform) {
  find(block, address);
  copies.push_back({address, bytes, std::move(perform)});
  if (!Settings::get().lazy)
    performOne(block, static_cast<uint32_t>(copies.size()) - 1);
}

bool MemoryBarriers::performOne(Block &block, uint32_t random) {
  if (copies.empty())
    return false;
  size_t at = random % copies.size();
  Copy copy = std::move(copies[at]);
  copies.erase(copies.begin() + static_cast<ptrdiff_t>(at));
  copy.perform();
  Barrier &barrier = find(block, copy.address);
  barrier.bytes -= copy.bytes;
  endPhase(block, barrier);
  return true;
}

std::string MemoryBarriers::describeRest() const {
  if (!copies.empty())
    return "ends while copies to its shared memory are under way";
  for (const auto &[address, barrier] : barriers)
    if (barrier.bytes != 0)
      return "ends while a barrier in memory waits for " + std::to_string(barrier.bytes) + " bytes";
  return "";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static void initBarrier(const emulated::Operation &, const uint64_t *inputs, uint64_t *) {
  Block &block = Block::current();
  block.memoryBarriers.init(block, inputs[0], static_cast<uint32_t>(inputs[1]));
}

static void arriveAtBarrier(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *outputs) {
  Block &block = Block::current();
  block.maybeYield();
  bool expects = has(operation, "expect");
  block.memoryBarriers.arrive(block, inputs[0], 1, expects ? static_cast<int64_t>(inputs[1]) : 0);
  if (operation.numOutputs)
    outputs[0] = 0;
}

static void waitAtBarrier(const emulated::Operation &, const uint64_t *inputs, uint64_t *) {
  Block &block = Block::current();
  block.memoryBarriers.wait(block, inputs[0], static_cast<uint32_t>(inputs[1]) & 1);
}

/// Copies the TMA tile of |map| whose first element has the coordinates |at|, innermost dimension first, to |to| in
/// shared memory. Elements outside of the tensor become zeros.
static void copyBox(const TensorMap &map, const int32_t *at, char *to) {
  uint32_t count[5], element[5] = {};
  uint64_t total = 1;
  for (uint32_t d = 0; d < map.rank; ++d)
    total *= count[d] = map.box[d];
  auto base = reinterpret_cast<uint64_t>(to) & ~uint64_t(1023);
  uint64_t place = reinterpret_cast<uint64_t>(to) - base;
  for (uint64_t i = 0; i < total; ++i, place += map.elementBytes) {
    uint64_t offset = 0;
    bool isInside = true;
    for (uint32_t d = 0; d < map.rank; ++d) {
      int64_t index = int64_t(at[d]) + element[d];
      isInside &= index >= 0 && index < int64_t(map.sizes[d]);
      offset += static_cast<uint64_t>(index) * map.strides[d];
    }
    auto *target = reinterpret_cast<char *>(base + (map.swizzle ? swizzle128(place) : place));
    if (isInside)
      std::memcpy(target, map.data + offset, map.elementBytes);
    else
      std::memset(target, 0, map.elementBytes);
    for (uint32_t d = 0; d < map.rank && ++element[d] == count[d]; ++d)
      element[d] = 0;
  }
}

/// Executes cp.async.bulk.tensor from global to shared memory. The inputs are the address to copy to, the address of
/// the barrier, the address of the TensorMap, and the coordinates of the first element, innermost dimension first.
static void copyTensor(const emulated::Operation &operation, const uint64_t *inputs, uint64_t *) {
  Block &block = Block::current();
  block.maybeYield();
  const auto &map = *reinterpret_cast<const TensorMap *>(inputs[2]);
  auto rank = static_cast<uint32_t>(std::atoi(std::strstr(operation.name, "tile.") + 5));
  if (map.magic != tensorMapMagic || map.rank != rank)
    block.fail("copies by what is no map of a tensor of " + std::to_string(rank) + " dimensions");
  auto *to = reinterpret_cast<char *>(inputs[0]);
  if (inputs[0] % (map.swizzle ? 1024 : 128))
    block.fail("copies a tensor to an address in shared memory that is not aligned");
  int64_t bytes = map.elementBytes;
  for (uint32_t d = 0; d < rank; ++d)
    bytes *= map.box[d];
  block.checkRange(to, static_cast<uint64_t>(bytes));
  int32_t at[5] = {};
  for (uint32_t d = 0; d < rank; ++d)
    at[d] = static_cast<int32_t>(inputs[3 + d]);
  block.memoryBarriers.copy(block, inputs[1], bytes, [map, at, to] { copyBox(map, at, to); });
}

/// Executes setmaxnreg: the number of registers has no meaning here.
static void nothing(const emulated::Operation &, const uint64_t *, uint64_t *) {}

const HandlerEntry fake::memoryBarrierHandlers[] = {{"mbarrier.init", initBarrier},
                                                    {"mbarrier.arrive", arriveAtBarrier},
                                                    {"mbarrier.try_wait.parity", waitAtBarrier},
                                                    {"cp.async.bulk.tensor.g2s.tile.", copyTensor},
                                                    {"setmaxnreg", nothing},
                                                    {nullptr, nullptr}};
