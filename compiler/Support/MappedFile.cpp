//===- MappedFile.cpp - A file mapped read-only ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// POSIX implementation of MappedFile.
//===----------------------------------------------------------------------===//
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/SystemError.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

Result<MappedFile> MappedFile::open(const std::string &path) {
  auto special = [&](const struct stat &info) {
    return Status::error(path + ": expected a regular file, got " + (S_ISDIR(info.st_mode) ? "a folder" : "a special file"));
  };
  // A pipe is not even opened: its writer would take this process for its reader, write, and lose the data at the close.
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return special(info);
  // O_NONBLOCK: the open must not block if the file has become a pipe since then.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return systemError(path, "open");
  if (::fstat(fd, &info) != 0) {
    Status error = systemError(path, "stat");
    ::close(fd);
    return error;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return special(info);
  }
  MappedFile file;
  file.name = path;
  file.length = static_cast<size_t>(info.st_size);
  if (file.length != 0) {
    void *address = ::mmap(nullptr, file.length, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
      Status error = systemError(path, "map");
      file.length = 0;
      ::close(fd);
      return error;
    }
    file.bytes = static_cast<const uint8_t *>(address);
    file.owned = true;
  }
  ::close(fd);
  return file;
}

MappedFile MappedFile::borrow(std::string name, const uint8_t *bytes, size_t length) {
  MappedFile file;
  file.name = std::move(name);
  file.bytes = bytes;
  file.length = length;
  return file;
}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(bytes, other.bytes);
  std::swap(length, other.length);
  std::swap(owned, other.owned);
  return *this;
}

MappedFile::~MappedFile() {
  if (owned)
    ::munmap(const_cast<uint8_t *>(bytes), length);
}
