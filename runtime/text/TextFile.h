//===- TextFile.h - A mapped .text file -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TEXTFILE_H
#define ATTUNE_RUNTIME_TEXT_TEXTFILE_H

#include "attune/runtime.h"
#include "runtime/text/TextFormat.h"

namespace attune::text {

/// The bytes of a section of a file. They are untrusted: readers check every offset in them.
struct Section {
  const uint8_t *data = nullptr; ///< aligned to kSectionAlignment; null if the file has no such section
  size_t bytes = 0;

  explicit operator bool() const { return data != nullptr; }
};

/// A section as an array of |T|; bytes after the last whole element are left out. Users compare indices with |size|,
/// the number of elements.
template <typename T>
struct Table {
  const T *data = nullptr;
  size_t size = 0;

  Table() = default;
  explicit Table(Section section) : data(reinterpret_cast<const T *>(section.data)), size(section.bytes / sizeof(T)) {}
  const T &operator[](size_t index) const { return data[index]; }
};

/// A .text file, mapped read-only or in the caller's memory. Opening it checks its header and section table, but not
/// the contents of its sections.
class TextFile {
public:
  /// Maps the file |path|. Fails with NOT_FOUND, IO_ERROR, CORRUPT or INCOMPATIBLE.
  attune_status open(const char *path);
  /// Opens the contents of a file, the |bytes| bytes at the address |data|, which are borrowed until close. |name| is
  /// the name of the file in messages. Fails with INVALID_ARGUMENT if |data| is not a multiple of kSectionAlignment, or
  /// with CORRUPT or INCOMPATIBLE.
  attune_status borrow(const char *name, const void *data, size_t bytes);
  void close();

  /// Returns the first section of |kind|; its data is null if the file has none.
  Section find(uint32_t kind) const;
  const TextHeader &header() const { return *reinterpret_cast<const TextHeader *>(base); }
  /// Reads the whole file |name|. Fails with CORRUPT if a section does not match its checksum, or if a byte between
  /// sections or after the last one is not 0.
  attune_status verify(const char *name) const;

private:
  attune_status check(const char *name) const;

  const uint8_t *base = nullptr;
  size_t bytes = 0;
  bool mapped = false;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TEXTFILE_H
