//===- BisectCommand.h - The command bisect with a hook ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTCOMMAND_H
#define ATTUNE_COMPILER_TOOLS_BISECTCOMMAND_H

#include "compiler/Bisect/PassSteps.h"
#include "compiler/Tools/Commands.h"

namespace attune {

/// Executes `attune bisect` and calls |hook| after each pass. Returns the exit status.
int runBisect(const CommandHost &host, const std::vector<std::string> &arguments, const PassHook &hook);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTCOMMAND_H
