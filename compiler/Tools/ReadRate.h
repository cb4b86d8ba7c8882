//===- ReadRate.h - How fast memory can be read, measured -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The other roof: a kernel that reads each weight once for a few tokens cannot be faster than this.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_READRATE_H
#define ATTUNE_COMPILER_TOOLS_READRATE_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace attune {

/// Memory to read, and the best rate seen at reading it.
class ReadRate {
public:
  /// Enough that what one pass leaves in a cache is of no use to the next.
  static constexpr size_t defaultBytes = size_t(1) << 30;

  /// Maps and fills |bytes| (a multiple of 2^20) of memory, on large pages where the system has them. The rate stays 0 if there is none.
  explicit ReadRate(size_t bytes = defaultBytes);

  /// Reads the memory once with |threads| threads, each its own part, in one of several patterns in turn. Returns bytes per second.
  double measure(int64_t threads);
  /// The best of |passes| measurements, in bytes per second.
  double best(int64_t threads, int passes);

private:
  std::shared_ptr<uint64_t> memory;
  size_t bytes;
  unsigned turn = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_READRATE_H
