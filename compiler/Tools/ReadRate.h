//===- ReadRate.h - How fast memory can be read, measured -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the read bandwidth of memory, the second limit of the roofline: a kernel that reads each weight once for a
// few tokens cannot be faster than this rate allows.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_READRATE_H
#define ATTUNE_COMPILER_TOOLS_READRATE_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace attune {

/// Memory to read, and the access pattern of the next measurement.
class ReadRate {
public:
  /// Size of the memory in bytes, large enough that the data that one pass leaves in a cache does not help the next
  /// pass.
  static constexpr size_t defaultBytes = size_t(1) << 30;

  /// Maps and fills |bytes| (a multiple of 2^20) bytes of memory, on large pages if the system has them. If this fails,
  /// all measured rates are 0.
  explicit ReadRate(size_t bytes = defaultBytes);

  /// Reads the memory once with |threads| threads, each its own part. Successive calls use 1, 4 and 8 streams in turn.
  /// Returns bytes per second; 0 if the threads cannot be started.
  double measure(int64_t threads);
  /// Returns the best of |passes| measurements, in bytes per second.
  double best(int64_t threads, int passes);

private:
  std::shared_ptr<uint64_t> memory;
  size_t bytes;
  unsigned turn = 0;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_READRATE_H
