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

/// The memory that compiled code allocates on this thread during the lifetime of this object. The destructor frees the
/// memory. A thread may have only one such object at a time.
class PlainMemory {
public:
  explicit PlainMemory(uint8_t poison);
  ~PlainMemory();
  PlainMemory(const PlainMemory &) = delete;

  /// Returns memory of |bytes| bytes, aligned to 64 bytes and valid as long as this object. Each byte has the value
  /// that the constructor got as |poison|. Aborts the process if there is no memory left.
  void *allocate(uint64_t bytes);
  /// Returns the names and the addresses of the functions that compiled code calls: those of MLIR for allocation,
  /// deallocation and copies, and those of OpCall.h.
  static std::vector<std::pair<std::string, void *>> symbols();

private:
  uint8_t poison;
  std::vector<void *> blocks;
};

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_PLAINMEMORY_H
