//===- CompileCommand.cpp - The command compile without its process -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/CompileCommand.h"
#include "compiler/Driver/Cache.h"
#include "compiler/Driver/CompileInputs.h"
#include "compiler/Support/HubCache.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Tools/CompileFlags.h"

using namespace attune;

CompileCommand::CompileCommand() {
  flags.addString("o", "OUT", options.output, "output; OUT's stem .h and .weights go beside it");
  addChoice(flags, "emit", "object|shared|asm|ptx", "kind of output (object)", [this](const std::string &value) {
    emitGiven = true;
    options.emit = value == "shared" ? EmitKind::Shared
                   : value == "asm"  ? EmitKind::Assembly
                   : value == "ptx"  ? EmitKind::Ptx
                                     : EmitKind::Object;
    return Status();
  });
  flags.addCustom("compile-to", "PHASE", "print the IR after a phase, write nothing else", [this](const std::string &value) {
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
}

Result<std::string> CompileCommand::runCached(const CompileListener &listener) {
  if (!options.output.empty() || emitGiven || options.compileTo || !options.dumpPhases.empty() || !options.remarksFile.empty() ||
      options.debugInfo)
    return Status::error("--cached: not with -o, -g, --emit, --compile-to, --dump-phases or --remarks");
  if (options.ranks > 1)
    return Status::error("--ranks: not with --cached, expected -o");
  Result<CachedModel> model = compileCached(options, listener);
  if (!model)
    return model.status();
  return model->object;
}

Result<std::string> CompileCommand::run(const std::string &model, const CompileListener &listener) {
  // An earlier command on this thread may have left declarations of files (InputFiles.h).
  forgetFiles();
  if (model.empty())
    return Status::error("expected a model, attune compile MODEL -o OUT");
  Result<ModelPath> found = findModel(model);
  if (!found)
    return found.status();
  options.model = found->path;
  if (Status status = declareInputs(options); status.failed())
    return status;
  if (cached)
    return runCached(listener);
  if (Status status = compileModel(options, listener); status.failed())
    return status;
  return std::string();
}
