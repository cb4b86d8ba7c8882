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

/// The memory that compiled code allocates on this thread during the lifetime of this object. Its destructor frees that
/// memory. A thread may have only one object at a time.
class PlainMemory {
public:
  explicit PlainMemory(uint8_t poison);
  ~PlainMemory();
  PlainMemory(const PlainMemory &) = delete;

  /// Returns memory of |bytes| bytes, each with the value |poison|, aligned to 64 bytes and valid as long as this
  /// object. Aborts the process if there is no memory.
  void *allocate(uint64_t bytes);
  /// Returns the functions that compiled code calls, with their names: allocations, copies, and those of OpCall.h.
  static std::vector<std::pair<std::string, void *>> symbols();

private:
  uint8_t poison;
  std::vector<void *> blocks;
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINMEMORY_H
