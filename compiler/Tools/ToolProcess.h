//===- ToolProcess.h - Signals and limits of a tool's process ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command-line tool that is interrupted, or meets a limit of the system, says so in one line and leaves no temporary
// files. Handlers of signals belong to the tools: the libraries install none, as applications embed them.
//
//   signal or limit                          what happens
//   HUP INT QUIT TERM USR1 USR2 ALRM         "TOOL: interrupted by SIGINT", then the signal's default action: a shell sees 128 + its number
//   XCPU                                     the same with a line on the limit of CPU time
//   PIPE                                     the same without a line
//   XFSZ                                     nothing: the write that exceeded the limit fails, and its error names the file
//   BUS in the mapping of a file             "TOOL: error: FILE: was cut short while it was read", exit status 1
//   no memory (also SEGV for lack of it)     "TOOL: error: out of memory", exit status 1
//
// A signal that was ignored when the process started stays ignored. All other faults are crashes, and not handled here.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H
#define ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H

#include <csignal>

namespace attune {

/// The process of a command-line tool; one object, in main.
class ToolProcess {
public:
  /// Notes which signals are ignored, before libraries install handlers, and opens standard streams that are closed, so
  /// that no other file gets their numbers. |tool| is the name for messages, a literal.
  explicit ToolProcess(const char *tool);
  /// Installs the handlers, replacing those of libraries.
  void install();

private:
  bool isIgnored(int signal) const { return sigismember(&ignored, signal) == 1; }

  /// Signals that were ignored at the start.
  sigset_t ignored;
};

/// Ends the tool's process with a line that says that there is no memory, and the limit if there is one. Allocates
/// nothing.
[[noreturn]] void endWithoutMemory();

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TOOLPROCESS_H
