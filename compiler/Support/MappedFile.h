//===- MappedFile.h - A file mapped read-only -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A read-only memory mapping of a whole file. It is move-only and unmapped on destruction.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_MAPPEDFILE_H
#define ATTUNE_COMPILER_SUPPORT_MAPPEDFILE_H

#include "compiler/Support/Status.h"

#include <cstddef>
#include <cstdint>

namespace attune {

/// The bytes of a file, shared with the page cache.
class MappedFile {
public:
  /// Maps |path|, which must be a regular file. An empty file has size 0 and no bytes.
  static Result<MappedFile> open(const std::string &path);
  /// Returns an object for bytes in memory instead of a file; |name| is its name in messages. The bytes must outlive
  /// the object.
  static MappedFile borrow(std::string name, const uint8_t *bytes, size_t length);

  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const std::string &path() const { return name; }
  const uint8_t *data() const { return bytes; }
  size_t size() const { return length; }

private:
  MappedFile() = default;

  std::string name;
  const uint8_t *bytes = nullptr;
  size_t length = 0;
  /// True if the bytes are a mapping that this object owns.
  bool owned = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_MAPPEDFILE_H
