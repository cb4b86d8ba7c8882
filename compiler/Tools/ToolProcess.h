//===- ToolProcess.h - Signals and limits of a tool's process ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command-line tool that is interrupted, or that meets a limit of the system, reports it in one line and leaves no
// temporary files. Only the tools install signal handlers: the libraries install none, since applications embed them.
//
//   signal or limit                          what happens
//   HUP INT QUIT TERM USR1 USR2 ALRM         "TOOL: interrupted by SIGINT", then the signal's default action: a shell sees 128 + its number
//   XCPU                                     as for HUP, but with a line on the limit of CPU time
//   SEGV beyond a stack of less than 8 MiB   "TOOL: error: out of stack", exit status 1
//   PIPE                                     as for HUP, but without a line
//   XFSZ                                     nothing: the write that exceeded the limit fails, and its error names the file
//   BUS in the mapping of a file             "TOOL: error: FILE: was cut short while it was read", exit status 1
//   no memory (also SEGV for lack of it)     "TOOL: error: out of memory", exit status 1
//
// A signal other than CHLD, BUS and SEGV that was ignored when the process started stays ignored. All other faults are
// crashes and are not handled here.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H
#define ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H

#include <csignal>

namespace attune {

/// The process of a command-line tool. There is one object, in main.
class ToolProcess {
public:
  /// Records the ignored signals before libraries install handlers, delays interruptions until install, and opens
  /// standard streams that are closed, so that no other file gets their numbers. |tool| is the name for messages, a
  /// string literal.
  explicit ToolProcess(const char *tool);
  /// Installs the handlers, replacing those of libraries.
  void install();

private:
  bool isIgnored(int signal) const { return sigismember(&ignored, signal) == 1; }

  /// The signals that were ignored, and those that were blocked, at the start.
  sigset_t ignored, mask;
};

/// While an object lives, a first SIGINT is only recorded, and interrupts a read of standard input; a second one ends
/// the process as usual. There is at most one object. A SIGINT that the process ignores stays ignored.
class InterruptScope {
public:
  InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;
  ~InterruptScope();

  bool isInterrupted() const;
  /// Forgets a recorded signal.
  void clear();
};

/// Ends the process as a SIGINT does.
[[noreturn]] void endByInterruption();

/// Ends the process with a line that reports the lack of memory, and the memory limit if there is one. Allocates
/// nothing.
[[noreturn]] void endWithoutMemory();

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H
