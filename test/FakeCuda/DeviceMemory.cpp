//===- DeviceMemory.cpp - The memory of the fake GPU ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Settings.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace attune::fake;

static constexpr uint64_t rangeBytes = uint64_t(1) << 40, pageBytes = 4096;

static uint64_t roundUp(uint64_t bytes) { return (bytes + pageBytes - 1) / pageBytes * pageBytes; }

DeviceMemory &DeviceMemory::get() {
  static DeviceMemory memory;
  return memory;
}

DeviceMemory::DeviceMemory() {
  void *range = mmap(nullptr, rangeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    std::abort();
  base = next = static_cast<char *>(range);
}

void *DeviceMemory::allocate(uint64_t bytes) {
  uint64_t limit = Settings::get().memory, size = roundUp(bytes);
  if (bytes > rangeBytes || (limit && used + bytes > limit) || size + pageBytes > static_cast<uint64_t>(base + rangeBytes - next))
    return nullptr;
  if (mprotect(next, size, PROT_READ | PROT_WRITE) != 0)
    return nullptr;
  char *data = next;
  std::memset(data, 0xff, size);
  next += size + pageBytes;
  used += bytes;
  allocations[data] = bytes;
  open(false);
  return data;
}

bool DeviceMemory::free(void *data) {
  auto found = allocations.find(static_cast<char *>(data));
  if (found == allocations.end())
    return false;
  used -= found->second;
  mprotect(data, roundUp(found->second), PROT_NONE);
  madvise(data, roundUp(found->second), MADV_DONTNEED);
  allocations.erase(found);
  return true;
}

bool DeviceMemory::contains(const void *data) const { return data >= base && data < base + rangeBytes; }

bool DeviceMemory::isAllocated(const void *data, uint64_t bytes) const {
  auto *begin = const_cast<char *>(static_cast<const char *>(data));
  auto found = allocations.upper_bound(begin);
  if (found == allocations.begin())
    return false;
  --found;
  return begin + bytes <= found->first + found->second;
}

std::string DeviceMemory::describeAccess(const void *data, uint64_t bytes) const {
  if (!contains(data) || isAllocated(data, bytes))
    return "";
  auto *begin = const_cast<char *>(static_cast<const char *>(data));
  auto found = allocations.upper_bound(begin);
  std::string text = std::to_string(bytes) + " bytes outside of every allocation";
  if (found == allocations.begin())
    return text;
  --found;
  return text + ", at " + std::to_string(begin - found->first) + " of one of " + std::to_string(found->second) + " bytes";
}

void DeviceMemory::open(bool isOpen) {
  for (auto &[data, bytes] : allocations)
    mprotect(data, roundUp(bytes), isOpen ? PROT_READ | PROT_WRITE : PROT_NONE);
}
