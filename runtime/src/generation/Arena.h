//===- Arena.h - One block of memory for many arrays ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_ARENA_H
#define ATTUNE_RUNTIME_GENERATION_ARENA_H

#include <cstddef>
#include <cstdint>

namespace attune {

/// Hands out arrays of a block one after the other. Without a block it only counts, so the same code first measures and then takes.
class Arena {
public:
  explicit Arena(void *block = nullptr) : block(static_cast<char *>(block)) {}

  /// |count| elements at a multiple of 64 bytes; null while counting.
  template <typename T>
  T *take(int64_t count) {
    size_t begin = (used + 63) / 64 * 64;
    used = begin + static_cast<size_t>(count) * sizeof(T);
    return block ? reinterpret_cast<T *>(block + begin) : nullptr;
  }
  size_t getBytes() const { return used; }

private:
  char *block;
  size_t used = 0;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_ARENA_H
