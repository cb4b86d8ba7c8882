//===- Temporaries.h - Temporary names and their removal --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A temporary file or folder is removed in one of three ways: by its owner; by the tool's signal handler
// (removeTemporaries), when the process is interrupted; by the next process with the same purpose (removeLeftovers),
// when the process was killed. removeLeftovers distinguishes leftovers from the files of living processes by a lock
// (flock), which the kernel releases when a process ends. Unlike a process number, a lock also works across containers
// that share a folder. On a file system without locks, leftovers stay.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_TEMPORARIES_H
#define ATTUNE_COMPILER_SUPPORT_TEMPORARIES_H

#include <csignal>
#include <memory>
#include <string>

namespace attune {

/// Kinds of temporary names. A temporary folder is flat: it contains no folders.
enum class TemporaryKind { File, Folder };

/// Returns |prefix| followed by 16 random hexadecimal digits.
std::string makeTemporaryName(const std::string &prefix);

/// Locks the file or folder that |fd| refers to. The lock ends when the last descriptor of this open file is closed.
/// Returns false if another process, or another open file of this one, holds the lock; returns true also on file
/// systems without locks.
bool lockTemporary(int fd);

/// Removes leftovers from |folder|: this user's files (or folders) whose names makeTemporaryName made from |prefix| and
/// that no living process has locked. Errors are ignored: a leftover that cannot be removed is harmless.
void removeLeftovers(const std::string &folder, const std::string &prefix, TemporaryKind kind);

/// The path of a temporary file or flat folder. While this object holds the path, removeTemporaries removes the file or
/// folder. Move-only.
class TemporaryName {
public:
  TemporaryName() = default;
  TemporaryName(const std::string &path, TemporaryKind kind);
  TemporaryName(TemporaryName &&other) noexcept { *this = std::move(other); }
  TemporaryName &operator=(TemporaryName &&other) noexcept;
  /// Forgets the name, but removes no file.
  ~TemporaryName() { release(); }

  /// True if there is a name.
  explicit operator bool() const { return text != nullptr; }
  /// Returns the path. Must only be called if there is a name.
  const char *path() const { return text.get(); }
  /// Forgets the name after the file has been renamed or removed.
  void release();

private:
  /// The path, on the heap since a signal handler may read it while this object moves. Null if there is none.
  std::unique_ptr<char[]> text;
  /// The slot in which removeTemporaries finds the name. -1 if there is no name, or if all slots were in use, so that
  /// removeTemporaries does not remove the file.
  int slot = -1;
};

/// Removes all files and flat folders that TemporaryNames hold. Safe in signal handlers.
void removeTemporaries();

/// A guard that holds back the signals of the calling thread, except those of faults such as SIGSEGV, while it exists.
/// It is for short steps that a signal handler must not see half done.
class SignalPause {
public:
  SignalPause();
  ~SignalPause();
  SignalPause(const SignalPause &) = delete;
  SignalPause &operator=(const SignalPause &) = delete;

private:
  sigset_t former;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_TEMPORARIES_H
