//===- TemporaryFolder.cpp - A folder for the files of one task -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/TemporaryFolder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

Result<TemporaryFolder> TemporaryFolder::create(const std::string &prefix) {
  const char *chosen = std::getenv("TMPDIR");
  const std::string parent = chosen && *chosen ? chosen : "/tmp";
  removeLeftovers(parent, prefix, TemporaryKind::Folder);
  for (;;) {
    TemporaryName name(makeTemporaryName(parent + "/" + prefix), TemporaryKind::Folder);
    if (::mkdir(name.path(), 0700) != 0)
      return Status::error("'" + std::string(name.path()) + "': " + std::strerror(errno));
    int fd = ::open(name.path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT) {
      std::string reason = std::strerror(errno);
      ::rmdir(name.path());
      return Status::error("'" + std::string(name.path()) + "': " + reason);
    }
    // Another process that looks for leftovers may have removed the folder before it was locked.
    struct stat info;
    if (fd >= 0 && lockTemporary(fd) && ::fstat(fd, &info) == 0 && info.st_nlink != 0)
      return TemporaryFolder(std::move(name), fd);
    if (fd >= 0)
      ::close(fd);
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (!path)
    return;
  std::error_code ignored;
  std::filesystem::remove_all(path.path(), ignored);
  ::close(lock);
}
