//===- Temporaries.h - Temporary names and their removal -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file or folder that exists only while a process works is removed three times over: by its owner; by the tool's
// signal handler (removeTemporaries), when the process is interrupted; by the next process with the same purpose
// (removeLeftovers), when the process was killed. The last one tells leftovers from the files of living processes by a
// lock (flock), which the kernel releases with the process that holds it: unlike a process number it also holds across
// containers that share a folder. A file system without locks keeps its leftovers.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_TEMPORARIES_H
#define ATTUNE_COMPILER_SUPPORT_TEMPORARIES_H

#include <csignal>
#include <memory>
#include <string>

namespace attune {

/// Kinds of temporary names. A folder is flat: it has no folders inside.
enum class TemporaryKind { File, Folder };

/// |prefix| followed by 16 random hexadecimal digits.
std::string makeTemporaryName(const std::string &prefix);

/// Locks the file or folder that |fd| has open. The lock ends when the last descriptor of this open file is closed.
/// False if another process holds the lock; true also where the file system has no locks.
bool lockTemporary(int fd);

/// Removes from |folder| the files (or folders) of this user whose names makeTemporaryName made of |prefix| and that no
/// living process has locked. Errors are ignored: a leftover that cannot be removed is harmless.
void removeLeftovers(const std::string &folder, const std::string &prefix, TemporaryKind kind);

/// The path of a file or flat folder that removeTemporaries removes while this object holds it; move-only.
class TemporaryName {
public:
  TemporaryName() = default;
  TemporaryName(const std::string &path, TemporaryKind kind);
  TemporaryName(TemporaryName &&other) noexcept { *this = std::move(other); }
  TemporaryName &operator=(TemporaryName &&other) noexcept;
  /// Forgets the name; removes nothing.
  ~TemporaryName() { release(); }

  /// True if there is a name.
  explicit operator bool() const { return text != nullptr; }
  /// The path; only if there is one.
  const char *path() const { return text.get(); }
  /// Forgets the name, whose file has another name or is removed.
  void release();

private:
  /// On the heap, as a signal handler reads it while this object moves.
  std::unique_ptr<char[]> text;
  /// The slot in which the handler finds it; -1 if all slots were taken.
  int slot = -1;
};

/// Removes all files and flat folders that TemporaryNames hold. Safe in signal handlers.
void removeTemporaries();

/// Holds back the signals that may end this thread's process, for steps that belong together and are short.
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
