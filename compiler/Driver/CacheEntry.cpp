//===- CacheEntry.cpp - One compiled model in the cache -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CacheEntry.h"
#include "compiler/Driver/CacheRecord.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace attune;

namespace {
/// The bytes of a lock file on which locks are taken.
enum LockedByte : off_t { kMaking = 0, kUsing = 1, kBoth = 2 };
enum class LockResult { Granted, Held, Failed };
} // namespace

static struct flock makeLock(short type, LockedByte byte) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte == kBoth ? kMaking : byte;
  lock.l_len = byte == kBoth ? 2 : 1;
  return lock;
}

/// Takes a lock of |type| (F_RDLCK, F_WRLCK) on |byte| of the lock file |fd|, or releases it (F_UNLCK). Returns Held if
/// |wait| is false and the lock of another process excludes this one. After Failed, errno says why.
static LockResult setLock(int fd, short type, LockedByte byte, bool wait) {
  struct flock lock = makeLock(type, byte);
  int status;
  do
    status = ::fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
  while (status != 0 && errno == EINTR);
  if (status == 0)
    return LockResult::Granted;
  return errno == EAGAIN || errno == EACCES ? LockResult::Held : LockResult::Failed;
}

/// Returns true if a lock could not be taken because the file system has no locks. Processes then work without locks
/// and may do work twice.
static bool lacksLocks(LockResult result) {
  return result == LockResult::Failed && (errno == ENOLCK || errno == ENOSYS || errno == EINVAL || errno == EOPNOTSUPP);
}

/// Returns true if |fd| is still the file at |path|.
static bool isSameFile(int fd, const std::string &path) {
  struct stat opened, named;
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static std::shared_ptr<void> closeLater(int fd) {
  return std::shared_ptr<void>(nullptr, [fd](void *) { ::close(fd); });
}

static Status cannot(const char *what, const std::string &path) {
  return Status::error("cannot " + std::string(what) + " '" + path + "': " + std::strerror(errno));
}

/// Returns true if |path| is a folder, and no link to one.
static bool isRealFolder(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool CacheEntry::isEntry(const std::string &folder) {
  struct stat info;
  if (!isRealFolder(folder))
    return false;
  if (::lstat(lockFile(folder).c_str(), &info) == 0)
    return S_ISREG(info.st_mode);
  std::error_code error;
  return llvm::sys::fs::directory_iterator(folder, error) == llvm::sys::fs::directory_iterator() && !error;
}

Result<CacheEntry> CacheEntry::acquire(const std::string &folder, bool create) {
  const std::string file = lockFile(folder);
  // If another process removes the entry during a turn of this loop, |create| makes the next turn try again.
  for (unsigned turn = 0; turn < 1000; ++turn) {
    if (create && ::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
      return cannot("create", folder);
    // Making the entry removes all other files of its folder, so the folder must be that of an entry.
    if (create && !isEntry(folder))
      return Status::error("'" + folder + "': expected the folder of a compiled model, got " +
                           (isRealFolder(folder) ? "one with other files; move it away" : "a link or a file; remove it"));
    int fd = create ? ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0 && create && errno == ENOENT)
      continue;
    // An entry of another user, or on a read-only file system, can be used but not made again.
    if (int error = errno; fd < 0 && (!create || error == EACCES || error == EROFS)) {
      fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
      errno = create ? error : errno;
    }
    if (fd < 0)
      return cannot("open", file);
    std::shared_ptr<void> lock = closeLater(fd);
    LockResult result = setLock(fd, F_RDLCK, kUsing, /*wait=*/true);
    if (result != LockResult::Granted && !lacksLocks(result))
      return cannot("lock", file);
    if (isSameFile(fd, file))
      return CacheEntry(folder, std::move(lock), fd);
    if (!create)
      break;
  }
  return Status::error("'" + folder + "' was removed by another process");
}

Result<CacheEntry> CacheEntry::create(const std::string &folder) { return acquire(folder, /*create=*/true); }

Result<CacheEntry> CacheEntry::open(const std::string &folder) { return acquire(folder, /*create=*/false); }

Status CacheEntry::beginMaking(const std::function<void()> &waiting, const std::function<Status()> &mayWait) {
  using namespace std::chrono;
  auto start = steady_clock::now();
  for (bool said = false;;) {
    LockResult result = setLock(fd, F_WRLCK, kMaking, /*wait=*/false);
    if (result == LockResult::Granted || lacksLocks(result))
      return {};
    // A file that could only be opened for reading takes no exclusive lock.
    if (result == LockResult::Failed)
      return Status::error("cannot write to '" + path + "'" + (errno == EBADF ? "" : std::string(": ") + std::strerror(errno)));
    if (!said && steady_clock::now() - start > seconds(2)) {
      said = true;
      waiting();
    }
    if (Status status = mayWait(); status.failed())
      return status;
    std::this_thread::sleep_for(milliseconds(20));
  }
}

void CacheEntry::endMaking() { (void)setLock(fd, F_UNLCK, kMaking, /*wait=*/false); }

/// Removes the files and empty folders in |folder| for whose names |isKept| is false. Removes the record first, so that
/// an interruption leaves an incomplete entry.
static void removeFiles(const std::string &folder, llvm::function_ref<bool(llvm::StringRef)> isKept) {
  if (!isKept(CacheRecord::kFileName))
    ::unlink((folder + "/" + CacheRecord::kFileName).c_str());
  std::error_code error;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator it(folder, error, /*follow_symlinks=*/false), end; it != end && !error; it.increment(error))
    if (!isKept(llvm::sys::path::filename(it->path())))
      paths.push_back(it->path());
  for (const std::string &path : paths)
    if (::unlink(path.c_str()) != 0 && (errno == EISDIR || errno == EPERM))
      ::rmdir(path.c_str());
}

void CacheEntry::clear(const std::string &kept) const {
  removeFiles(path, [&](llvm::StringRef name) { return name == "lock" || name == kept; });
}

/// Removes the entry in |folder|, the lock file last. Expects that this process has its locks. Returns true if the
/// folder is gone.
static bool removeFolder(const std::string &folder) {
  removeFiles(folder, [](llvm::StringRef name) { return name == "lock"; });
  return ::unlink(CacheEntry::lockFile(folder).c_str()) == 0 && ::rmdir(folder.c_str()) == 0;
}

void CacheEntry::discard() {
  if (setLock(fd, F_WRLCK, kBoth, /*wait=*/false) == LockResult::Granted)
    removeFolder(path);
  lock.reset();
}

void CacheEntry::touch() const { (void)::futimens(fd, nullptr); }

CacheEntry::Removal CacheEntry::remove(const std::string &folder) {
  const std::string file = lockFile(folder);
  int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return errno == ENOENT ? Removal::Removed : Removal::Failed;
  std::shared_ptr<void> lock = closeLater(fd);
  LockResult result = setLock(fd, F_WRLCK, kBoth, /*wait=*/false);
  if (result != LockResult::Granted)
    return result == LockResult::Held ? Removal::InUse : Removal::Failed;
  if (!isSameFile(fd, file))
    return Removal::InUse;
  return removeFolder(folder) ? Removal::Removed : Removal::Failed;
}

bool CacheEntry::isInUse(const std::string &folder) {
  int fd = ::open(lockFile(folder).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  std::shared_ptr<void> lock = closeLater(fd);
  struct flock wanted = makeLock(F_WRLCK, kBoth);
  return ::fcntl(fd, F_OFD_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
}
