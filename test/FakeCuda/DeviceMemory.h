//===- DeviceMemory.h - The memory of the fake GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory is one large range of addresses in this program. Addresses are never reused, an inaccessible page
// follows each allocation, new memory holds NaN, and device memory is accessible only while the driver works, so the
// host cannot touch it. This reveals errors that a real GPU might tolerate.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_DEVICEMEMORY_H
#define ATTUNE_TEST_FAKECUDA_DEVICEMEMORY_H

#include <cstdint>
#include <map>
#include <string>

namespace attune::fake {

class DeviceMemory {
public:
  static DeviceMemory &get();

  /// Allocates |bytes| bytes, aligned to a page. Returns null if the allocations would exceed Settings::memory, or if
  /// no addresses are left.
  void *allocate(uint64_t bytes);
  /// Frees the allocation at |data|; returns false if none begins there.
  bool free(void *data);
  /// `contains` returns true if |data| is in the range of addresses of device memory, `isAllocated` if [data, data +
  /// bytes) is in one allocation.
  bool contains(const void *data) const;
  bool isAllocated(const void *data, uint64_t bytes) const;
  /// Returns "" if a kernel may access |bytes| bytes at |data|, else a description of the problem. Does not check
  /// addresses outside of the range of device memory, and returns "" for them.
  std::string describeAccess(const void *data, uint64_t bytes) const;
  /// Makes all allocations accessible to this program, or inaccessible.
  void open(bool isOpen);

private:
  DeviceMemory();

  char *base, *next;
  uint64_t used = 0;
  std::map<char *, uint64_t> allocations; ///< the size of each allocation in bytes, by its address
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_DEVICEMEMORY_H
