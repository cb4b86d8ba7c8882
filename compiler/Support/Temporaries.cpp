//===- Temporaries.cpp - Temporary names and their removal ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux implementation. Code that a signal handler calls uses only system calls: opendir, for example, allocates
// memory.
//===----------------------------------------------------------------------===//
#include "compiler/Support/Temporaries.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace attune;

/// Number of digits after the prefix of a temporary name.
static constexpr size_t kDigits = 16;

std::string attune::makeTemporaryName(const std::string &prefix) {
  uint64_t value = 0;
  if (::getrandom(&value, sizeof(value), GRND_NONBLOCK) != sizeof(value)) {
    // Random bytes may be missing shortly after boot. The name may then be in use already. Since callers create names
    // exclusively, this replaces nothing: OutputFile tries another name, and TemporaryFolder fails.
    static std::atomic<uint64_t> count{0};
    value =
        uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()) * 0x9e3779b97f4a7c15 + (uint64_t(::getpid()) << 32) + ++count;
  }
  std::string name = prefix;
  for (size_t i = 0; i < kDigits; ++i, value >>= 4)
    name += "0123456789abcdef"[value & 15];
  return name;
}

static bool isTemporaryName(const char *name, const std::string &prefix) {
  size_t length = std::strlen(name);
  return length == prefix.size() + kDigits && prefix.compare(0, prefix.size(), name, prefix.size()) == 0 &&
         std::strspn(name + prefix.size(), "0123456789abcdef") == kDigits;
}

bool attune::lockTemporary(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

// ---------------------------------------------------------------- names that a signal handler removes

namespace {
struct Slot {
  std::atomic<const char *> name{nullptr};
  /// Written before |name|, so that a signal handler that sees the name also sees its kind.
  std::atomic<TemporaryKind> kind{TemporaryKind::File};
};
} // namespace

static Slot slots[64];
static_assert(std::atomic<const char *>::is_always_lock_free, "read in signal handlers");
/// The name of a slot that is reserved and whose real name is not stored yet.
static const char reserved[] = "";

TemporaryName::TemporaryName(const std::string &path, TemporaryKind kind) : text(new char[path.size() + 1]) {
  std::memcpy(text.get(), path.c_str(), path.size() + 1);
  for (size_t i = 0; i < std::size(slots); ++i) {
    const char *empty = nullptr;
    if (!slots[i].name.compare_exchange_strong(empty, reserved))
      continue;
    slots[i].kind = kind;
    slots[i].name = text.get();
    slot = int(i);
    return;
  }
}

TemporaryName &TemporaryName::operator=(TemporaryName &&other) noexcept {
  std::swap(text, other.text);
  std::swap(slot, other.slot);
  return *this;
}

void TemporaryName::release() {
  if (slot >= 0)
    slots[slot].name = nullptr;
  slot = -1;
  text.reset();
}

/// Removes the files of the flat folder with the descriptor |fd|.
static void emptyFolder(int fd) {
  // The layout of a record of getdents64(2): the name begins at byte 19, and the length of the record is at byte 16.
  struct Entry {
    uint64_t inode;
    int64_t next;
    uint16_t length;
    uint8_t type;
    char name[1];
  };
  alignas(Entry) char buffer[4096];
  for (;;) {
    long bytes = ::syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
    if (bytes <= 0)
      return;
    bool removed = false;
    for (long at = 0; at < bytes;) {
      auto *entry = reinterpret_cast<Entry *>(buffer + at);
      removed |= ::unlinkat(fd, buffer + at + offsetof(Entry, name), 0) == 0;
      at += entry->length;
    }
    // A removal may move later entries, so read the folder again until nothing more can be removed.
    if (!removed || ::lseek(fd, 0, SEEK_SET) != 0)
      return;
  }
}

void attune::removeTemporaries() {
  for (Slot &slot : slots) {
    const char *name = slot.name;
    if (!name || name == reserved)
      continue;
    if (slot.kind == TemporaryKind::File) {
      ::unlink(name);
      continue;
    }
    int fd = ::open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
      continue;
    emptyFolder(fd);
    ::close(fd);
    ::rmdir(name);
  }
}

// ---------------------------------------------------------------- leftovers of processes that were killed

/// Removes the file or folder |name| of this user from the folder with the descriptor |at|, unless another process has
/// locked it.
static void removeLeftover(int at, const char *name, TemporaryKind kind) {
  bool isFolder = kind == TemporaryKind::Folder;
  int fd = ::openat(at, name, (isFolder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_NONBLOCK) | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  struct stat opened, named;
  // The name is looked up again under the lock: since the open, the owner may have removed the file, and another
  // process may have taken the name.
  if (::fstat(fd, &opened) == 0 && opened.st_uid == ::geteuid() && (isFolder ? S_ISDIR(opened.st_mode) : S_ISREG(opened.st_mode)) &&
      ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == opened.st_dev &&
      named.st_ino == opened.st_ino) {
    if (isFolder)
      emptyFolder(fd);
    ::unlinkat(at, name, isFolder ? AT_REMOVEDIR : 0);
  }
  ::close(fd);
}

void attune::removeLeftovers(const std::string &folder, const std::string &prefix, TemporaryKind kind) {
  DIR *entries = ::opendir(folder.c_str());
  if (!entries)
    return;
  while (const dirent *entry = ::readdir(entries))
    if (isTemporaryName(entry->d_name, prefix))
      removeLeftover(::dirfd(entries), entry->d_name, kind);
  ::closedir(entries);
}

// ---------------------------------------------------------------- short steps that belong together

SignalPause::SignalPause() {
  sigset_t held;
  ::sigfillset(&held);
  // Faults of this thread cannot wait.
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    ::sigdelset(&held, fault);
  ::pthread_sigmask(SIG_BLOCK, &held, &former);
}

SignalPause::~SignalPause() { ::pthread_sigmask(SIG_SETMASK, &former, nullptr); }
