//===- OutputFile.cpp - Files that appear whole or not at all --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// POSIX implementation of OutputFile.
//===----------------------------------------------------------------------===//
#include "runtime/io/OutputFile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

static Status systemError(const std::string &path, const char *what) {
  return Status::error(path + ": cannot " + what + ": " + std::strerror(errno));
}

Result<OutputFile> OutputFile::create(const std::string &path) {
  // Renaming over a device such as /dev/null would replace it (or fail): only files and free names are destinations.
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return Status::error(path + ": expected a file or a free name to write to, got " +
                         (S_ISDIR(info.st_mode) ? "a folder" : "a special file"));
  OutputFile file;
  file.path = path;
  std::string pattern = path + ".tmp-XXXXXX";
  file.fd = ::mkstemp(pattern.data());
  if (file.fd < 0)
    return systemError(path, "create");
  file.temporary = pattern;
  // mkstemp makes the file private; give it what open(2) would have given.
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(file.fd, 0666 & ~mask) != 0)
    return systemError(path, "set the permissions");
  return file;
}

Status OutputFile::write(const void *data, size_t bytes) {
  Status status = writeAt(offset, data, bytes);
  if (!status.failed())
    offset += bytes;
  return status;
}

Status OutputFile::writeAt(uint64_t at, const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes != 0) {
    ssize_t written = ::pwrite(fd, next, bytes, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return systemError(path, "write");
    next += written, at += written, bytes -= written;
  }
  return {};
}

Status OutputFile::commit() {
  int closed = ::close(fd);
  fd = -1;
  if (closed != 0)
    return systemError(path, "write");
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return systemError(path, "rename");
  temporary.clear();
  return {};
}

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  std::swap(path, other.path);
  std::swap(temporary, other.temporary);
  std::swap(fd, other.fd);
  std::swap(offset, other.offset);
  return *this;
}

OutputFile::~OutputFile() {
  if (fd >= 0)
    ::close(fd);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}
