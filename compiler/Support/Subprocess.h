//===- Subprocess.h - Programs that end with their parent process ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::sys::Execute* leave a program running when the compiler is killed, and redirect only to files with names. A
// Subprocess ends when its parent ends, for whatever reason, and inherits descriptors of unnamed files. For Linux the
// parent is the thread that started the program, so that thread must also wait for it.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SUBPROCESS_H
#define ATTUNE_COMPILER_SUPPORT_SUBPROCESS_H

#include "compiler/Support/Status.h"

#include <csignal>
#include <string>
#include <sys/types.h>
#include <vector>

namespace attune {

/// The options for starting a program.
struct SubprocessOptions {
  /// The path of the program and its arguments.
  std::string program;
  std::vector<std::string> arguments;
  /// Descriptors that become standard input, output and error; -1 for /dev/null.
  int input = -1, output = -1, errors = -1;
  /// Descriptors that the program inherits under the same numbers.
  std::vector<int> inherited;
  /// The signal that the program receives when this process ends: SIGTERM for programs with temporary files of their
  /// own to remove.
  int signalAtParentsEnd = SIGKILL;
};

/// The way in which a subprocess ended.
struct SubprocessEnd {
  /// The exit status; -1 if there is none.
  int status = -1;
  /// The signal that ended the program; 0 if none did or if it took too long.
  int signal = 0;
  /// True if the program was killed because it took too long.
  bool timedOut = false;

  bool succeeded() const { return status == 0; }
  /// Returns a description such as "status 2", "File size limit exceeded" or "took longer than 5 seconds".
  std::string text() const;

  /// The time limit in seconds; 0 if there was none.
  unsigned seconds = 0;
};

/// A running program; move-only.
class Subprocess {
public:
  /// Starts a program. Fails with an error that names it if it cannot be executed.
  static Result<Subprocess> start(const SubprocessOptions &options);
  /// Starts a program and waits for its end; |seconds| as for wait.
  static Result<SubprocessEnd> run(const SubprocessOptions &options, unsigned seconds = 0);
  /// Runs a tool that should succeed, without a time limit; it receives SIGTERM when this process ends. Its standard
  /// error is captured, and also its standard output unless |options| redirects it. If the tool fails, the error is
  /// "|name| failed: " and the first line of the captured text that is not blank, or else a description of its end.
  static Status runTool(SubprocessOptions options, const std::string &name);

  Subprocess(Subprocess &&other) noexcept { std::swap(pid, other.pid); }
  Subprocess &operator=(Subprocess &&other) noexcept {
    std::swap(pid, other.pid);
    return *this;
  }
  /// Kills the program, unless wait was called.
  ~Subprocess();

  /// Waits for the end of the program, and kills it after |seconds| unless |seconds| is 0. To be called only once.
  SubprocessEnd wait(unsigned seconds = 0);

private:
  explicit Subprocess(pid_t pid) : pid(pid) {}

  pid_t pid = -1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SUBPROCESS_H
