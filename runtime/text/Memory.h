//===- Memory.h - Memory of a call ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tokenizer has one block of memory. The tokenizer and its caches are at the beginning; each call takes its arrays
// from the rest. Unless the user supplies the block, it is reserved address space, so that only pages that are written
// become memory.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_MEMORY_H
#define ATTUNE_RUNTIME_TEXT_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace attune::text {

/// An array of at most |capacity| elements. Elements that do not fit are dropped, and |full| is set.
template <typename T>
struct Array {
  T *data = nullptr;
  size_t size = 0, capacity = 0;
  bool full = false;

  void clear() {
    size = 0;
    full = false;
  }
  void push(const T &value) {
    if (size == capacity) {
      full = true;
      return;
    }
    data[size++] = value;
  }
  T &operator[](size_t index) { return data[index]; }
  const T &operator[](size_t index) const { return data[index]; }
};

/// The memory block of a tokenizer, a stream or a task.
class Memory {
public:
  void open(void *block, size_t bytes) {
    base = reinterpret_cast<uintptr_t>(block);
    size = bytes;
    used = 0;
  }
  size_t mark() const { return used; }
  void release(size_t mark) { used = mark; }
  size_t left() const { return size - used; }

  /// Returns an empty array with room for |capacity| elements, or for as many as fit into the block. The room is not
  /// initialized and begins at a multiple of 64 bytes in the block.
  template <typename T>
  Array<T> take(size_t capacity) {
    size_t begin = (used + 63) / 64 * 64;
    Array<T> array;
    if (begin > size)
      return array;
    size_t fits = (size - begin) / sizeof(T);
    array.capacity = capacity < fits ? capacity : fits;
    array.data = reinterpret_cast<T *>(base + begin);
    used = begin + array.capacity * sizeof(T);
    return array;
  }

private:
  uintptr_t base = 0; ///< the address of the block; 0 where a caller only measures sizes, so not a pointer
  size_t size = 0, used = 0;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_MEMORY_H
