//===- DeviceMemory.h - The memory of the fake GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One large range of addresses. Addresses are never used twice, a page that nobody may touch follows each allocation, what is new holds no
// numbers, and the host may only touch any of it while the driver works: so that what a real GPU might forgive does not pass.
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

  /// Returns null if there is none left.
  void *allocate(uint64_t bytes);
  /// False if |data| is no allocation.
  bool free(void *data);
  /// Whether |data| is somewhere in the range, and whether [data, data + bytes) is in one allocation.
  bool contains(const void *data) const;
  bool isAllocated(const void *data, uint64_t bytes) const;
  /// "" if a kernel may access |bytes| at |data|, else what is wrong; addresses outside of the range are not looked at.
  std::string describeAccess(const void *data, uint64_t bytes) const;
  /// Opens or closes the memory to this program.
  void open(bool isOpen);

private:
  DeviceMemory();

  char *base, *next;
  uint64_t used = 0;
  std::map<char *, uint64_t> allocations; ///< bytes by address
};

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_DEVICEMEMORY_H
