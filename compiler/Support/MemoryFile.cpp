//===- MemoryFile.cpp - Files without a name, in memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/MemoryFile.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

static Status memoryFileError(const char *action) {
  return Status::error(std::string("cannot ") + action + " a temporary file in memory: " + std::strerror(errno));
}

Result<MemoryFile> MemoryFile::create(const char *label, std::string_view content) {
  MemoryFile file(::memfd_create(label, MFD_CLOEXEC));
  if (file.fd < 0)
    return memoryFileError("create");
  for (size_t done = 0; done < content.size();) {
    ssize_t written = ::pwrite(file.fd, content.data() + done, content.size() - done, off_t(done));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return memoryFileError("write");
    done += size_t(written);
  }
  return file;
}

Result<std::string> MemoryFile::read() const {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return memoryFileError("read");
  std::string bytes(size_t(info.st_size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done, off_t(done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return memoryFileError("read");
    if (got == 0)
      bytes.resize(done);
    done += size_t(got);
  }
  return bytes;
}

MemoryFile::~MemoryFile() {
  if (fd >= 0)
    ::close(fd);
}
