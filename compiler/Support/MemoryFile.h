//===- MemoryFile.h - Files without a name, in memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that we call want files; with these they leave none behind, however they or we end.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_MEMORYFILE_H
#define ATTUNE_COMPILER_SUPPORT_MEMORYFILE_H

#include "compiler/Support/Status.h"

#include <string>
#include <string_view>

namespace attune {

/// An unnamed file in memory; move-only. Subprocesses have it open only if they are given its descriptor.
class MemoryFile {
public:
  /// A file that holds |content|, to be read from its beginning. |label| is what the system calls it in lists of open
  /// files.
  static Result<MemoryFile> create(const char *label, std::string_view content = "");

  MemoryFile(MemoryFile &&other) noexcept { std::swap(fd, other.fd); }
  MemoryFile &operator=(MemoryFile &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~MemoryFile();

  int descriptor() const { return fd; }
  /// By this name a subprocess that has the descriptor opens the file.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  /// All bytes of the file.
  Result<std::string> read() const;

private:
  explicit MemoryFile(int fd) : fd(fd) {}

  int fd = -1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_MEMORYFILE_H
