//===- Subprocess.h - Programs that end with their parent process ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::sys::Execute* leave a program running when the compiler is killed, and redirect only to files with names. A
// Subprocess ends when its parent ends, for whatever reason, and inherits descriptors of unnamed files. Linux takes the
// thread that started the program as its parent, not the whole process. So this thread must not end before the program
// does: call start and wait, or the destructor, which kills the program, on the same thread.
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
  /// The path of the program, and its arguments without the program's name.
  std::string program;
  std::vector<std::string> arguments;
  /// Descriptors that become the program's standard input, output and error; -1 for /dev/null.
  int input = -1, output = -1, errors = -1;
  /// Descriptors that the program inherits under the same numbers.
  std::vector<int> inherited;
  /// The signal that the program receives when its parent ends. SIGTERM suits programs that remove temporary files of
  /// their own when they receive it.
  int signalAtParentsEnd = SIGKILL;
};

/// The way in which a subprocess ended.
struct SubprocessEnd {
  /// The exit status; -1 if the program did not exit by itself.
  int status = -1;
  /// The signal that ended the program; 0 if no signal did, or if |timedOut|.
  int signal = 0;
  /// True if wait killed the program because the time limit had passed.
  bool timedOut = false;

  bool succeeded() const { return status == 0; }
  /// Returns a description of the end, such as "status 2", "File size limit exceeded" or "took longer than 5 seconds".
  std::string text() const;

  /// The time limit in seconds; 0 if there was none.
  unsigned seconds = 0;
};

/// A running program; move-only.
class Subprocess {
public:
  /// Starts a program. Fails if the program cannot be executed; the error names it.
  static Result<Subprocess> start(const SubprocessOptions &options);
  /// Starts a program and waits for its end, with the time limit |seconds| (see wait).
  static Result<SubprocessEnd> run(const SubprocessOptions &options, unsigned seconds = 0);
  /// Runs a tool without a time limit, and fails if its exit status is not 0. The tool receives SIGTERM when its parent
  /// ends. Captures the tool's standard error, and also its standard output unless |options| redirects it. The error is
  /// "NAME failed: ", where |name| is NAME, and the first line of the captured text that is not blank or, without such
  /// a line, SubprocessEnd::text().
  static Status runTool(SubprocessOptions options, const std::string &name);

  Subprocess(Subprocess &&other) noexcept { std::swap(pid, other.pid); }
  Subprocess &operator=(Subprocess &&other) noexcept {
    std::swap(pid, other.pid);
    return *this;
  }
  /// Kills the program unless wait was called, in which case it has ended.
  ~Subprocess();

  /// Waits for the end of the program, and kills it after |seconds| unless |seconds| is 0. Must be called at most once.
  SubprocessEnd wait(unsigned seconds = 0);

private:
  explicit Subprocess(pid_t pid) : pid(pid) {}

  pid_t pid = -1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SUBPROCESS_H
