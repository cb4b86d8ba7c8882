//===- Compile.cpp - The command compile ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/CompileCommand.h"
#include "compiler/Tools/CompilerCommands.h"

#include <cstdio>

using namespace attune;

/// Returns a function that prints a line "progress: WORK DONE TOTAL" to standard error whenever the percentage changes.
/// |work| is WORK; DONE and TOTAL are those of CompileListener.
static std::function<void(uint64_t, uint64_t)> printProgress(const char *work) {
  return forEachPercent([work](uint64_t done, uint64_t total) {
    std::fprintf(stderr, "progress: %s %llu %llu\n", work, static_cast<unsigned long long>(done), static_cast<unsigned long long>(total));
  });
}

int attune::runCompileCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  CompileCommand command;
  std::string model;
  if (std::optional<int> status = parseModelArguments(host, command.flags, arguments, model, "compile MODEL -o OUT [flags]",
                                                      "Compiles a model folder, or IR in the xfmr dialect (.mlir), to a native object.\n\n"
                                                      "Phases: import dialect linalg tiled kernels bufferized vector target llvm object"))
    return *status;
  CompileListener listener = createListener();
  if (command.timeReport)
    listener.timeReport = [](const std::string &report) { std::fputs(report.c_str(), stderr); };
  if (command.progress) {
    listener.packing = printProgress("packing");
    listener.calibrating = printProgress("calibrating");
  }
  Result<std::string> path = command.run(model, listener);
  if (!path)
    return reportError(host.tool, path.message());
  if (!path->empty())
    std::printf("%s\n", path->c_str());
  return exitDone;
}
