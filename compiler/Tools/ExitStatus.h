//===- ExitStatus.h - Exit statuses of the tools, and errors ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_EXITSTATUS_H
#define ATTUNE_COMPILER_TOOLS_EXITSTATUS_H

#include <string>

namespace attune {

/// Exit statuses of the tools.
enum ExitStatus { exitDone = 0, exitRejected = 1, exitNotComparable = 2 };

/// Prints "TOOL: error: MESSAGE" and returns exitRejected.
int reportError(const std::string &tool, const std::string &message);
/// Prints "TOOL: warning: MESSAGE".
void reportWarning(const std::string &tool, const std::string &message);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_EXITSTATUS_H
