//===- ExitStatus.h - Exit statuses and messages of the tools ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_EXITSTATUS_H
#define ATTUNE_COMPILER_TOOLS_EXITSTATUS_H

#include <string>

namespace attune {

/// Exit statuses of the tools. exitDone: success. exitRejected: an error, or a negative result such as a case that does
/// not pass. exitNotComparable: diff or bisect could not compare, or had an error.
enum ExitStatus { exitDone = 0, exitRejected = 1, exitNotComparable = 2 };

/// Prints "TOOL: error: MESSAGE" to standard error and returns exitRejected. If this process is one of several ranks,
/// ranks::printsError decides whether this rank prints the error. An error that the other ranks do not know ends all
/// ranks, and the function does not return.
int reportError(const std::string &tool, const std::string &message);
/// Prints "TOOL: warning: MESSAGE" to standard error, unless the tool is quiet.
void reportWarning(const std::string &tool, const std::string &message);
/// Prints "TOOL: MESSAGE" to standard error, unless the tool is quiet.
void reportNotice(const std::string &tool, const std::string &message);

/// Makes the tool print errors and results only, as --quiet asks.
void setQuiet();
/// Returns true after setQuiet.
bool isQuiet();

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_EXITSTATUS_H
