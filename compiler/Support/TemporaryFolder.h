//===- TemporaryFolder.h - A folder for the files of one task ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_TEMPORARYFOLDER_H
#define ATTUNE_COMPILER_SUPPORT_TEMPORARYFOLDER_H

#include "compiler/Support/Status.h"
#include "compiler/Support/Temporaries.h"

namespace attune {

/// A flat folder in $TMPDIR, or /tmp if that is unset or empty. The destructor removes it; if this process is killed,
/// the next one that creates a folder with the same prefix does. Move-only.
class TemporaryFolder {
public:
  /// Removes the folders with |prefix| that killed processes have left, then makes a folder whose name begins with
  /// |prefix|.
  static Result<TemporaryFolder> create(const std::string &prefix);
  TemporaryFolder(TemporaryFolder &&) = default;
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  /// Returns the path of the file |name| in the folder.
  std::string file(const std::string &name) const { return std::string(path.path()) + "/" + name; }

private:
  TemporaryFolder(TemporaryName path, int lock) : path(std::move(path)), lock(lock) {}

  TemporaryName path;
  /// The descriptor of the folder, which holds the lock on it.
  int lock;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_TEMPORARYFOLDER_H
