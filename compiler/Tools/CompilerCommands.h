//===- CompilerCommands.h - Commands that only attune has -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_COMPILERCOMMANDS_H
#define ATTUNE_COMPILER_TOOLS_COMPILERCOMMANDS_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Tools/Commands.h"

namespace attune {

/// Returns a listener that prints warnings and notices to standard error. If that is a terminal, the listener also
/// prints the progress of packing and calibration, and a notice while the compilation waits for another process.
CompileListener createListener();
/// Shows "WHAT: 40 %" on standard error if that is a terminal, and removes the line when |done| reaches |total|. Both
/// are bytes; shows nothing if |total| is less than 64 MiB.
void showProgress(const char *what, uint64_t done, uint64_t total);
/// Shows "WHAT: 40 %, 90 s left" as showProgress does, also for small |total|. |done| and |total| may have any unit.
void showTimeLeft(const char *what, uint64_t done, uint64_t total);
/// Returns a function that forwards a call to |show| only if the percentage has changed since the previous call.
std::function<void(uint64_t done, uint64_t total)> forEachPercent(std::function<void(uint64_t done, uint64_t total)> show);

int runBisectCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runCompileCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runExploreCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runCacheCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runFamiliesCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runInitCommand(const CommandHost &host, const std::vector<std::string> &arguments);
int runPlanCommand(const CommandHost &host, const std::vector<std::string> &arguments);
/// Executes |command|, one of those of runCommand. If the command opens a model that is not compiled, compiles the
/// model first, or takes it from the compile cache. Returns the exit status.
int runArtifactCommand(const std::string &command, const std::vector<std::string> &arguments);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_COMPILERCOMMANDS_H
