//===- DeviceMemory.h - The memory of the fake GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One large range of addresses. It finds errors that a real GPU may tolerate: addresses are never used twice, a page
// without access follows each allocation, new memory is filled with NaN, and the host may access the range only while
// the driver works.
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

  /// Allocates memory; returns null if there is none left.
  void *allocate(uint64_t bytes);
  /// Frees an allocation; returns false if |data| is none.
  bool free(void *data);
  /// Return true if |data| is in the range, and if [data, data + bytes) is in one allocation.
  bool contains(const void *data) const;
  bool isAllocated(const void *data, uint64_t bytes) const;
  /// Returns "" if a kernel may access |bytes| at |data|, else the error; does not check addresses outside of the
  /// range.
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
