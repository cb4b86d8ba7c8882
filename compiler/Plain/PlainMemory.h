//===- PlainMemory.h - Memory and callbacks of an execution -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_PLAINMEMORY_H
#define ATTUNE_COMPILER_PLAIN_PLAINMEMORY_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// The allocations of code that runs on this thread, from construction to destruction. Only one may exist on a thread.
class PlainMemory {
public:
  explicit PlainMemory(uint8_t poison);
  ~PlainMemory();
  PlainMemory(const PlainMemory &) = delete;

  /// Returns |bytes| bytes of poison, aligned to 64 bytes and valid as long as this object.
  void *allocate(uint64_t bytes);
  /// Returns the functions that compiled code calls, by name.
  static std::vector<std::pair<std::string, void *>> symbols();

private:
  uint8_t poison;
  std::vector<void *> blocks;
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINMEMORY_H
