//===- ToolProcess.h - Signals and limits of a tool's process ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command-line tool that is interrupted, or that meets a limit of the system, reports it in one line and leaves no
// temporary files. Only the tools install signal handlers: the libraries install none, since applications embed them.
//
//   signal or limit                          what happens
//   HUP INT QUIT TERM USR1 USR2 ALRM         "TOOL: interrupted by SIGINT", then the signal's default action: a shell
//                                            reports the status 128 + number of the signal
//   XCPU                                     as for HUP, but with a line on the limit of CPU time
//   PIPE                                     as for HUP, but without a line
//   XFSZ                                     nothing: the write that exceeded the limit fails, and its error names the
//                                            file
//   SEGV, full stack of less than 8 MiB      "TOOL: error: out of stack", exit status 1
//   SEGV near address 0, no memory left      "TOOL: error: out of memory", exit status 1
//   an allocation fails                      "TOOL: error: out of memory", exit status 1
//   BUS in the mapping of a file             "TOOL: error: FILE: was cut short while it was read", exit status 1
//
// A signal of this table other than BUS and SEGV stays ignored if it was ignored when the process started. All other
// faults are crashes and are not handled here.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H
#define ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H

#include <csignal>

namespace attune {

/// The process of a command-line tool. There is one object, in main.
class ToolProcess {
public:
  /// Records the ignored signals before libraries install handlers, and restores the default action of SIGCHLD if it is
  /// ignored. Delays interruptions until install. Opens standard streams that are closed, so that no other file gets
  /// their descriptors. |tool| is the name for messages, a string literal.
  explicit ToolProcess(const char *tool);
  /// Installs the handlers, replacing those of libraries.
  void install();

private:
  bool isIgnored(int signal) const { return sigismember(&ignored, signal) == 1; }

  /// |ignored|: the signals that were ignored at the start. |mask|: the signals that were blocked at the start.
  sigset_t ignored, mask;
};

/// A scope in which a first SIGINT is only recorded, and interrupts a read of standard input; a second SIGINT ends the
/// process as usual. At most one object lives at a time. If the process ignores SIGINT, the object has no effect.
class InterruptScope {
public:
  InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;
  ~InterruptScope();

  bool isInterrupted() const;
  /// Forgets a recorded SIGINT, so that the next one counts as the first.
  void clear();
};

/// Ends the process as a SIGINT does.
[[noreturn]] void endByInterruption();

/// Ends the process with exit status 1 and a line that reports the lack of memory, and the limit of address space if
/// there is one. Allocates nothing.
[[noreturn]] void endWithoutMemory();

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H
