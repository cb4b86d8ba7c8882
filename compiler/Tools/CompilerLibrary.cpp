//===- CompilerLibrary.cpp - The compiler in the caller's process ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/CompilerLibrary.h"
#include "compiler/Support/CompilerFile.h"
#include "compiler/Target/All/RegisterTargets.h"
#include "compiler/Tools/CompileCommand.h"
#include "compiler/Tools/CompilerCommands.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace attune;

#define ATTUNE_EXPORT __attribute__((visibility("default")))

/// Returns a function that passes the progress of |work| to the callback of |events|; an empty function without a
/// callback.
static std::function<void(uint64_t, uint64_t)> forwardProgress(const attune_compiler_events &events, const char *work) {
  if (!events.progress)
    return {};
  return forEachPercent([&events, work](uint64_t done, uint64_t total) { events.progress(events.context, work, done, total); });
}

static CompileListener createListener(const attune_compiler_events &events) {
  CompileListener listener;
  if (events.warning)
    listener.warning = [&events](const std::string &message) { events.warning(events.context, Status::error(message).message().c_str()); };
  if (events.stop)
    listener.stops = [stop = events.stop] { return __atomic_load_n(stop, __ATOMIC_RELAXED) != 0; };
  listener.packing = forwardProgress(events, "packing");
  listener.calibrating = forwardProgress(events, "calibrating");
  return listener;
}

static Result<std::string> compile(const std::vector<std::string> &arguments, const attune_compiler_events &events) {
  static const bool registered = (registerAllTargets(), true);
  (void)registered;
  CompileCommand command;
  std::vector<std::string> words;
  if (Status status = command.flags.parse(arguments, words); status.failed())
    return status;
  if (command.flags.helpRequested())
    return Status::error("--help: only on the command line");
  Result<std::string> model = takeOnlyModel(words);
  if (!model)
    return model.status();
  CompileListener listener = createListener(events);
  if (command.timeReport)
    listener.timeReport = [](const std::string &report) { std::fputs(report.c_str(), stderr); };
  return command.run(*model, listener);
}

ATTUNE_EXPORT void attune_compiler_set_program(const char *path) { setCompilerFile(path); }

ATTUNE_EXPORT int attune_compiler_compile(const char *const *arguments, size_t count, const attune_compiler_events *events, char **result) {
  const attune_compiler_events none = {};
  Result<std::string> path = compile({arguments, arguments + count}, events ? *events : none);
  *result = ::strdup(path ? path->c_str() : path.message().c_str());
  return path ? exitDone : exitRejected;
}

ATTUNE_EXPORT void attune_compiler_free(char *result) { std::free(result); }
