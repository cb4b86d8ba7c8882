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

/// The bytes of a file, mapped from the page cache, or bytes in memory that another object owns.
class MappedFile {
public:
  /// Maps the file |path|. Fails if it is no regular file. For an empty file, size() is 0 and data() is null.
  static Result<MappedFile> open(const std::string &path);
  /// Returns an object for |length| bytes in memory, which must outlive the object. |name| stands for the path in
  /// messages.
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
  /// True if the bytes are a mapping, which the destructor removes.
  bool owned = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_MAPPEDFILE_H
