//===- ScratchFolder.cpp - A folder for files that need names --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/ScratchFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

Result<ScratchFolder> ScratchFolder::create(const std::string &prefix) {
  llvm::SmallString<128> parent;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
  removeLeftovers(parent.str().str(), prefix, TemporaryKind::Folder);
  for (;;) {
    ScratchFolder folder;
    std::string path = makeTemporaryName((parent + "/" + prefix).str());
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST)
        continue;
      return Status::error(parent.str().str() + ": cannot create a temporary folder: " + std::strerror(errno));
    }
    folder.name = TemporaryName(path, TemporaryKind::Folder);
    folder.fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Another process that looks for leftovers may have come before the lock; then it has removed the folder.
    struct stat opened, named;
    if (folder.fd >= 0 && lockTemporary(folder.fd) && ::fstat(folder.fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
        opened.st_ino == named.st_ino)
      return folder;
    if (folder.fd < 0 && errno != ENOENT)
      return Status::error(path + ": cannot open the temporary folder: " + std::strerror(errno));
  }
}

ScratchFolder &ScratchFolder::operator=(ScratchFolder &&other) noexcept {
  std::swap(name, other.name);
  std::swap(fd, other.fd);
  return *this;
}

ScratchFolder::~ScratchFolder() {
  if (name)
    llvm::sys::fs::remove_directories(name.path());
  if (fd >= 0)
    ::close(fd);
}
