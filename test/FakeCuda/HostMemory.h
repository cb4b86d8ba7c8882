//===- HostMemory.h - Host memory that copies read and write ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FAKECUDA_HOSTMEMORY_H
#define ATTUNE_TEST_FAKECUDA_HOSTMEMORY_H

#include <string>

namespace attune::fake {

/// Host memory that a queued copy to the GPU will read. A real driver may read this memory at any time until the copy
/// is done, so the host must not change it until then, whether it is pinned or not.
class HostSource {
public:
  HostSource(const void *data, size_t bytes) : data(static_cast<const char *>(data)), expected(this->data, bytes) {}
  /// Reads the memory into |out|. Returns "", or a description of the problem if the memory is no longer mapped or,
  /// unless |mayChange|, its contents have changed since the copy was queued.
  std::string read(void *out, bool mayChange) const;

private:
  const char *data;
  std::string expected; ///< the contents when the copy was queued
};

/// Writes the |bytes| bytes at |data| to the host memory at |to|. Returns "", or a description of the problem if that
/// memory is not mapped.
std::string writeHost(void *to, const void *data, size_t bytes);

} // namespace attune::fake

#endif // ATTUNE_TEST_FAKECUDA_HOSTMEMORY_H
