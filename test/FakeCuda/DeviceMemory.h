//===- DeviceMemory.h - The memory of the fake GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One large range of addresses. Addresses are never reused, an inaccessible page follows each allocation, new memory
// holds NaN, and the host may touch device memory only while the driver works. So errors are found that a real GPU
// might tolerate.
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

  /// Allocates |bytes|; returns null if no memory is left.
  void *allocate(uint64_t bytes);
  /// Frees an allocation; returns false if |data| is not one.
  bool free(void *data);
  /// Return true if |data| is anywhere in the range, and if [data, data + bytes) is in one allocation.
  bool contains(const void *data) const;
  bool isAllocated(const void *data, uint64_t bytes) const;
  /// Returns "" if a kernel may access |bytes| at |data|, else the problem; addresses outside of the range are not
  /// checked.
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
