//===- Arena.h - Arrays in one block of memory ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_ARENA_H
#define ATTUNE_RUNTIME_GENERATION_ARENA_H

#include <cstddef>
#include <cstdint>

namespace attune {

/// Hands out consecutive arrays of a block of memory. Without a block, returns null and only counts bytes, so the same
/// code first measures and then places.
class Arena {
public:
  explicit Arena(void *block = nullptr) : block(static_cast<char *>(block)) {}

  /// Returns an array of |count| elements whose offset in the block is a multiple of 64 bytes, null without a block.
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
