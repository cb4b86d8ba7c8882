//===- OutputFile.h - Files that appear whole or not at all ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes beside the destination and renames on commit; a file that is not committed leaves nothing behind.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IO_OUTPUTFILE_H
#define ATTUNE_IO_OUTPUTFILE_H

#include "runtime/io/Status.h"

#include <cstddef>
#include <cstdint>

namespace attune {

/// A file being written; move-only.
class OutputFile {
public:
  /// Creates a temporary file in the folder of |path|.
  static Result<OutputFile> create(const std::string &path);

  OutputFile(OutputFile &&other) noexcept { *this = std::move(other); }
  OutputFile &operator=(OutputFile &&other) noexcept;
  /// Removes the temporary file unless committed.
  ~OutputFile();

  /// Appends |bytes| bytes (the caller's chunks should be large: there is no buffer).
  Status write(const void *data, size_t bytes);
  /// Overwrites bytes at |offset|, which have been written before or will be.
  Status writeAt(uint64_t offset, const void *data, size_t bytes);
  /// Bytes appended so far.
  uint64_t position() const { return offset; }
  /// Where the bytes are until commit, for those who clean up after a signal.
  const std::string &temporaryPath() const { return temporary; }
  /// Gives the file its name, replacing what had it.
  Status commit();

private:
  OutputFile() = default;

  std::string path;
  std::string temporary;
  int fd = -1;
  uint64_t offset = 0;
};

} // namespace attune

#endif // ATTUNE_IO_OUTPUTFILE_H
