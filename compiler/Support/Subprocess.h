//===- Subprocess.h - Programs that end with the process that started them -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::sys::Execute* leave a program running when the compiler is killed, and exchange only files with names. A
// Subprocess ends with its parent, however that ends, and inherits descriptors of unnamed files. To Linux the parent is
// the thread that started it: that thread waits for it, too.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SUBPROCESS_H
#define ATTUNE_COMPILER_SUPPORT_SUBPROCESS_H

#include "compiler/Support/Status.h"

#include <csignal>
#include <string>
#include <sys/types.h>
#include <vector>

namespace attune {

/// A program to be started.
struct SubprocessOptions {
  /// The path of the program and the words behind it.
  std::string program;
  std::vector<std::string> arguments;
  /// Descriptors that become standard input, output and error; -1 for /dev/null.
  int input = -1, output = -1, errors = -1;
  /// Descriptors that the program has open under the same numbers.
  std::vector<int> inherited;
  /// The signal it gets when this process ends: SIGTERM for programs that have temporary files of their own to remove.
  int signalAtParentsEnd = SIGKILL;
};

/// The end of a subprocess.
struct SubprocessEnd {
  /// The exit status; -1 if there is none.
  int status = -1;
  /// The signal that ended it; 0 if none did.
  int signal = 0;
  /// True if it was stopped since it took too long.
  bool timedOut = false;

  bool succeeded() const { return status == 0; }
  /// "status 2", "File size limit exceeded", "took longer than 5 seconds".
  std::string text() const;

  /// The time it was given, in seconds, if it took longer.
  unsigned seconds = 0;
};

/// A running program; move-only.
class Subprocess {
public:
  /// Starts a program; an error that names it if it cannot be executed.
  static Result<Subprocess> start(const SubprocessOptions &options);
  /// Starts a program and waits for its end.
  static Result<SubprocessEnd> run(const SubprocessOptions &options, unsigned seconds = 0);
  /// Runs a tool that should succeed. Its standard error, and its standard output unless |options| redirects it, are read back: if it
  /// fails, the error is "|name| failed: " and the first line it wrote, or else how it ended.
  static Status runTool(SubprocessOptions options, const std::string &name);

  Subprocess(Subprocess &&other) noexcept { std::swap(pid, other.pid); }
  Subprocess &operator=(Subprocess &&other) noexcept {
    std::swap(pid, other.pid);
    return *this;
  }
  /// Kills the program unless its end was waited for.
  ~Subprocess();

  /// Waits for the end of the program, and kills it after |seconds| unless that is 0. To be called once.
  SubprocessEnd wait(unsigned seconds = 0);

private:
  explicit Subprocess(pid_t pid) : pid(pid) {}

  pid_t pid = -1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SUBPROCESS_H
