//===- Compile.cpp - The command compile ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Cache.h"
#include "compiler/Support/HubCache.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/CompilerCommands.h"

#include <cstdio>

using namespace attune;

/// Compiles into the cache and prints the path of the shared object. |emitGiven| is true if --emit was given.
static Status compileIntoCache(const CompileOptions &options, const CompileListener &listener, bool emitGiven) {
  if (!options.output.empty() || emitGiven || options.compileTo || !options.dumpPhases.empty() || !options.remarksFile.empty() ||
      options.debugInfo)
    return Status::error("--cached: not with -o, -g, --emit, --compile-to, --dump-phases or --remarks");
  if (options.ranks > 1)
    return Status::error("--ranks: not with --cached, expected -o");
  Result<CachedModel> cached = compileCached(options, listener);
  if (!cached)
    return cached.status();
  std::printf("%s\n", cached->object.c_str());
  return {};
}

int attune::runCompileCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  CompileOptions options;
  bool timeReport = false, cached = false, progress = false, emitGiven = false;
  FlagTable flags;
  flags.addString("o", "OUT", options.output, "output; OUT's stem .h and .weights go beside it");
  addChoice(flags, "emit", "object|shared|asm|ptx", "kind of output (object)", [&](const std::string &value) {
    emitGiven = true;
    options.emit = value == "shared" ? EmitKind::Shared
                   : value == "asm"  ? EmitKind::Assembly
                   : value == "ptx"  ? EmitKind::Ptx
                                     : EmitKind::Object;
    return Status();
  });
  flags.addCustom("compile-to", "PHASE", "print the IR after a phase, write nothing else", [&](const std::string &value) {
    options.compileTo = symbolizePhase(value);
    return options.compileTo ? Status() : Status::error("expected " + listPhases() + ", got '" + value + "'");
  });
  flags.addString("dump-phases", "DIR", options.dumpPhases, "write the IR after each phase, numbered");
  flags.addFormerName("dump-stages", "dump-phases");
  flags.addSwitch("g", options.debugInfo, "symbols and line tables for debuggers and profilers; their source is OUT's stem .vector.mlir");
  flags.addString("remarks", "FILE", options.remarksFile, "write what passes did and did not do, and why, as LLVM's YAML");
  flags.addSwitch("time-report", timeReport, "print time and memory of each phase to stderr");
  flags.addSwitch("cached", cached, "keep the result as other commands do, print the path of its shared object");
  flags.addSwitch("progress", progress, "print lines of progress to stderr, for programs");
  addRanksFlag(flags, options);
  addCompileFlags(flags, options);
  if (std::optional<int> status = parseModelArguments(host, flags, arguments, options.model, "compile MODEL -o OUT [flags]",
                                                      "Compiles a model folder, or IR in the xfmr dialect (.mlir), to a native object.\n\n"
                                                      "Phases: import dialect linalg tiled kernels bufferized vector target llvm object"))
    return *status;
  if (options.model.empty())
    return reportError(host.tool, "expected a model, attune compile MODEL -o OUT");
  Result<ModelPath> model = findModel(options.model);
  if (!model)
    return reportError(host.tool, model.message());
  options.model = model->path;
  CompileListener listener = createListener();
  if (timeReport)
    listener.timeReport = [](const std::string &report) { std::fputs(report.c_str(), stderr); };
  if (progress) {
    listener.packing = [](uint64_t done, uint64_t total) { printProgress("packing", done, total); };
    listener.calibrating = [](uint64_t done, uint64_t total) { printProgress("calibrating", done, total); };
  }
  Status status = cached ? compileIntoCache(options, listener, emitGiven) : compileModel(options, listener);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
