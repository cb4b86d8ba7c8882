//===- ScratchBuffer.h - Memory for the time of a call --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_SCRATCHBUFFER_H
#define ATTUNE_RUNTIME_GENERATION_SCRATCHBUFFER_H

#include "../Error.h"

#include <cstdlib>
#include <cstring>

namespace attune {

/// A buffer of zeros that is freed at the end of the scope.
class ScratchBuffer {
public:
  ScratchBuffer() = default;
  ScratchBuffer(const ScratchBuffer &) = delete;
  ScratchBuffer &operator=(const ScratchBuffer &) = delete;
  ~ScratchBuffer() { std::free(memory); }

  /// Allocates |bytes| bytes of zeros at an address that is a multiple of 64; called once. Fails with OUT_OF_MEMORY.
  attune_status allocate(size_t bytes) {
    size_t rounded = (bytes + 63) / 64 * 64;
    memory = std::aligned_alloc(64, rounded ? rounded : 64);
    if (!memory)
      return fail(ATTUNE_OUT_OF_MEMORY, "cannot get %zu bytes for generating", bytes);
    std::memset(memory, 0, rounded);
    return ATTUNE_OK;
  }
  void *get() const { return memory; }
  /// Returns the memory and gives it to the caller, who frees it with free().
  void *release() {
    void *released = memory;
    memory = nullptr;
    return released;
  }

private:
  void *memory = nullptr;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_SCRATCHBUFFER_H
