//===- OutputFile.cpp - Files that appear complete or not at all ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux implementation of OutputFile.
//===----------------------------------------------------------------------===//
#include "compiler/Support/OutputFile.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Support/Strings.h"
#include "compiler/Support/SystemError.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

/// Returns the folder of |path|, "." for a path without a slash.
static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Returns the part of |path| after its folder.
static std::string baseOf(const std::string &path) { return path.substr(path.rfind('/') + 1); }

/// Returns the path by which the unnamed file of the descriptor |fd| can be linked and opened.
static std::string descriptorPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

Result<OutputFile> OutputFile::create(const std::string &path) { return createIn(folderOf(path), path); }

Result<OutputFile> OutputFile::createWithFolders(const std::string &path) {
  // Create the unnamed file in the innermost folder that exists. New folders inside it are on the same file system, so
  // the file can be linked into them.
  std::string folder = folderOf(path);
  struct stat info;
  while (::stat(folder.c_str(), &info) != 0) {
    struct stat link;
    if (errno != ENOENT || ::lstat(folder.c_str(), &link) == 0)
      return systemError(folderOf(path), "create the folder");
    folder.erase(folder.find_last_not_of('/') + 1);
    folder = folderOf(folder);
  }
  if (!S_ISDIR(info.st_mode)) {
    errno = ENOTDIR;
    return systemError(folderOf(path), "create the folder");
  }
  Result<OutputFile> file = createIn(folder, path);
  if (file)
    file->withFolders = true;
  return file;
}

Result<OutputFile> OutputFile::createIn(const std::string &folder, const std::string &path) {
  // Renaming over a device such as /dev/null would replace it or fail, so only files and free names are destinations.
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return Status::error(path + ": expected a file or a free name to write to, got " +
                         (S_ISDIR(info.st_mode) ? "a folder" : "a special file"));
  // A link such as /dev/stdout leads to a file that is open already; renaming would replace the link itself.
  char target[PATH_MAX];
  if (ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
      length > 0 && startsWith(std::string_view(target, length), "/proc/"))
    return Status::error(path + ": expected a file or a free name to write to, got a link to an open file");
  if (Status status = checkOutput(path); status.failed())
    return status;
  OutputFile file;
  file.path = path;
  // The name must fit in NAME_MAX bytes with the appended digits.
  const std::string mark = ".tmp-attune-";
  file.prefix = baseOf(path).substr(0, NAME_MAX - mark.size() - 16) + mark;
  removeLeftovers(folder, file.prefix, TemporaryKind::File);
  file.fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  // Without /proc an unnamed file could never get a name, so the file is created with one.
  if (file.fd >= 0 && ::access(descriptorPath(file.fd).c_str(), F_OK) == 0)
    return file;
  if (file.fd >= 0)
    ::close(file.fd);
  if (Status status = file.createNamed(folder); status.failed())
    return status;
  return file;
}

Status OutputFile::createNamed(const std::string &folder) {
  for (;;) {
    temporary = TemporaryName(makeTemporaryName(folder + "/" + prefix), TemporaryKind::File);
    fd = ::open(temporary.path(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0) {
      int error = errno;
      temporary.release(); // the name, if it exists, belongs to another process
      errno = error;
      if (error == EEXIST)
        continue;
      return systemError(path, "create");
    }
    // Another process that looks for leftovers may have removed the file before it was locked.
    struct stat info;
    if (lockTemporary(fd) && ::fstat(fd, &info) == 0 && info.st_nlink != 0)
      return {};
    ::unlink(temporary.path());
    ::close(fd);
    fd = -1;
  }
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

Status OutputFile::complete() {
  // Network file systems report a full disk only on close. Closing a copy of the descriptor gets this error while the
  // file still has no name.
  int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || ::close(copy) != 0)
    return systemError(path, "write");
  return {};
}

Status OutputFile::createFolders() {
  if (!withFolders)
    return {};
  std::string folder = folderOf(path);
  for (size_t end = 0; end != std::string::npos;) {
    end = folder.find('/', end + 1);
    std::string part = folder.substr(0, end);
    if (::mkdir(part.c_str(), 0777) == 0) {
      folders.push_back(part);
      continue;
    }
    struct stat info;
    int error = errno;
    if (::stat(part.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      continue;
    errno = error;
    return systemError(folder, "create the folder");
  }
  return {};
}

Status OutputFile::linkTemporary() {
  lockTemporary(fd);
  do {
    temporary = TemporaryName(makeTemporaryName(folderOf(path) + "/" + prefix), TemporaryKind::File);
    if (::linkat(AT_FDCWD, descriptorPath(fd).c_str(), AT_FDCWD, temporary.path(), AT_SYMLINK_FOLLOW) == 0)
      return {};
  } while (errno == EEXIST);
  Status status = systemError(path, "create");
  temporary.release();
  return status;
}

Status OutputFile::giveName(bool revocable) {
  if (Status status = createFolders(); status.failed())
    return status;
  if (!temporary) {
    if (::linkat(AT_FDCWD, descriptorPath(fd).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      naming = Naming::Linked;
      return {};
    }
    if (errno != EEXIST)
      return systemError(path, "create");
    // Links do not replace files.
    if (Status status = linkTemporary(); status.failed())
      return status;
  }
  // Unlike a rename, an exchange would also replace a folder.
  struct stat info;
  if (revocable && ::lstat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode) &&
      ::renameat2(AT_FDCWD, temporary.path(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
    naming = Naming::Exchanged;
    return {};
  }
  if (::rename(temporary.path(), path.c_str()) != 0)
    return systemError(path, "rename");
  temporary.release();
  naming = Naming::Renamed;
  return {};
}

void OutputFile::takeNameBack() {
  if (naming == Naming::Exchanged)
    ::renameat2(AT_FDCWD, temporary.path(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE);
  else if (naming != Naming::None)
    ::unlink(path.c_str());
  naming = Naming::None;
  for (; !folders.empty(); folders.pop_back())
    ::rmdir(folders.back().c_str());
}

void OutputFile::finish() {
  if (naming == Naming::Exchanged)
    ::unlink(temporary.path());
  temporary.release();
  folders.clear();
  ::close(fd);
  fd = -1;
}

Status OutputFile::commit() { return commitTogether({this}); }

Status OutputFile::commitTogether(const std::vector<OutputFile *> &files) {
  for (OutputFile *file : files)
    if (Status status = file->complete(); status.failed())
      return status;
  SignalPause pause;
  for (size_t i = 0; i < files.size(); ++i)
    if (Status status = files[i]->giveName(files.size() > 1); status.failed()) {
      for (size_t undone = i + 1; undone-- > 0;)
        files[undone]->takeNameBack();
      return status;
    }
  for (OutputFile *file : files)
    file->finish();
  return {};
}

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  std::swap(path, other.path);
  std::swap(prefix, other.prefix);
  std::swap(temporary, other.temporary);
  std::swap(naming, other.naming);
  std::swap(withFolders, other.withFolders);
  std::swap(folders, other.folders);
  std::swap(fd, other.fd);
  std::swap(offset, other.offset);
  return *this;
}

OutputFile::~OutputFile() {
  // Remove the temporary name before close releases the lock.
  if (temporary)
    ::unlink(temporary.path());
  if (fd >= 0)
    ::close(fd);
}
