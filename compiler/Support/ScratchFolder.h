//===- ScratchFolder.h - A folder for files that need names -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SCRATCHFOLDER_H
#define ATTUNE_COMPILER_SUPPORT_SCRATCHFOLDER_H

#include "runtime/io/Status.h"
#include "runtime/io/Temporaries.h"

namespace attune {

/// A private flat folder in the system's folder for temporary files, removed with its files on destruction, by the
/// tool's signal handler, or by the next process that creates one with this prefix. For files too large for memory;
/// MemoryFile is for the others.
class ScratchFolder {
public:
  /// Creates a folder whose name begins with |prefix|.
  static Result<ScratchFolder> create(const std::string &prefix);

  ScratchFolder(ScratchFolder &&other) noexcept { *this = std::move(other); }
  ScratchFolder &operator=(ScratchFolder &&other) noexcept;
  ~ScratchFolder();

  std::string path() const { return name.path(); }

private:
  ScratchFolder() = default;

  TemporaryName name;
  /// Has the folder open, which holds its lock.
  int fd = -1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SCRATCHFOLDER_H
