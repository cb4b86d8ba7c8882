//===- CacheEntry.h - One compiled model in the cache -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry is a folder: the files of a compilation, a record of them (CacheRecord.h), which is written last, and a lock
// file.
//
//     CACHE/0f…a3/lock          empty; the time of its last change is that of the last use
//                 record.json
//                 bert.so  bert.h  bert.weights
//
// Two bytes of the lock file are locked, by locks that belong to an open file and that the kernel releases when the
// last process with this open file ends:
//
//     byte 0   exclusive: a process makes the entry
//     byte 1   shared:    a process uses the entry, from before it looks at the record until it has closed the model
//     both     exclusive: a process removes the entry
//
// So a process that ends at any point leaves either a complete entry or one with a missing or wrong record, and no lock
// in both cases. A damaged entry is made again in place: compilations are reproducible, so processes that use it
// continue with equal files. A process that gets the lock of an entry that was removed meanwhile (the path then has
// another inode, or none) begins again in create(); open() fails.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEENTRY_H
#define ATTUNE_COMPILER_DRIVER_CACHEENTRY_H

#include "compiler/Support/Status.h"

#include <functional>
#include <memory>

namespace attune {

/// An entry that this process uses. It is not removed while this object, or a pointer that use() returned, lives.
class CacheEntry {
public:
  /// Opens the entry in |folder|, which is created if it does not exist. Fails if |folder| is not the folder of an
  /// entry (see isEntry).
  static Result<CacheEntry> create(const std::string &folder);
  /// Opens the entry in |folder|, which may be in a read-only file system. Fails if it does not exist.
  static Result<CacheEntry> open(const std::string &folder);

  const std::string &folder() const { return path; }
  /// Returns a pointer that keeps the entry from being removed while it lives.
  std::shared_ptr<void> use() const { return lock; }
  /// Waits until no other process makes the entry, and then takes the lock for making it; on a file system without
  /// locks, does nothing. Calls |waiting| once after two seconds of waiting. Calls |mayWait| repeatedly while it waits,
  /// and fails with the error of |mayWait|. Also fails if the lock file could be opened only for reading.
  Status beginMaking(const std::function<void()> &waiting, const std::function<Status()> &mayWait);
  void endMaking();
  /// Removes all files and empty folders in the entry except the lock file and the file called |kept|; "" keeps no
  /// other file. Ignores errors.
  void clear(const std::string &kept) const;
  /// Removes the entry, which this process was making, unless another process uses it or waits for it. Releases the
  /// locks; the object must not be used afterwards.
  void discard();
  /// Sets the time of the last use of the entry to now.
  void touch() const;

  /// Returns true if |folder| is the folder of an entry: not a link, and empty or with a lock file. The user may have
  /// chosen for the cache a folder that also has other folders in it, which are no entries.
  static bool isEntry(const std::string &folder);
  enum class Removal { Removed, InUse, Failed };
  /// Removes the entry in |folder| unless a process makes or uses it. Returns Removed also if |folder| does not exist.
  /// Returns Failed if the lock file cannot be opened or locked, and, with the other files removed, if |folder| has a
  /// folder in it that is not empty.
  static Removal remove(const std::string &folder);
  /// Returns true if a process makes or uses the entry in |folder|.
  static bool isInUse(const std::string &folder);
  /// Returns the path of the lock file in |folder|.
  static std::string lockFile(const std::string &folder) { return folder + "/lock"; }

private:
  CacheEntry(std::string path, std::shared_ptr<void> lock, int fd) : path(std::move(path)), lock(std::move(lock)), fd(fd) {}
  static Result<CacheEntry> acquire(const std::string &folder, bool create);

  std::string path;
  /// Closes the lock file, which releases the locks.
  std::shared_ptr<void> lock;
  int fd;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEENTRY_H
