//===- MemoryFile.h - Files without a name, in memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files in memory, for external programs that read or write files. Nothing is left behind, however the program or this
// process ends.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_MEMORYFILE_H
#define ATTUNE_COMPILER_SUPPORT_MEMORYFILE_H

#include "compiler/Support/Status.h"

#include <string>
#include <string_view>

namespace attune {

/// An unnamed file in memory; move-only. A subprocess can use the file only if it inherits the descriptor
/// (SubprocessOptions::inherited).
class MemoryFile {
public:
  /// Creates a file with |content|; the next read or write of the descriptor begins at byte 0. |label| is the name of
  /// the file in the system's lists of open files.
  static Result<MemoryFile> create(const char *label, std::string_view content = "");

  MemoryFile(MemoryFile &&other) noexcept { std::swap(fd, other.fd); }
  MemoryFile &operator=(MemoryFile &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~MemoryFile();

  int descriptor() const { return fd; }
  /// Returns the path by which a subprocess that has the descriptor opens the file.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  /// Returns all bytes of the file. Does not move the position of the descriptor.
  Result<std::string> read() const;

private:
  explicit MemoryFile(int fd) : fd(fd) {}

  int fd = -1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_MEMORYFILE_H
