//===- Bisect.cpp - The command bisect ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Exit status: 0 no wrong numbers, 1 their origin was found, 2 the search was not possible.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CompileInputs.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Support/CompilerFile.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Tools/BisectCall.h"
#include "compiler/Tools/BisectInputs.h"
#include "compiler/Tools/BisectReport.h"
#include "compiler/Tools/CompilerCommands.h"
#include "llvm/Support/FileSystem.h"

#include <cstdio>

using namespace attune;

namespace {
/// The command line.
struct CommandLine : BisectCall {
  std::string folder;
  std::vector<std::string> goodValues;
};

/// A model, what was computed with it, and the result of the search.
struct BisectRun {
  std::unique_ptr<LoadedModel> model;
  PlainInputs inputs;
  BisectOutcome outcome;
};
} // namespace

static Status bisectOnce(BisectSession &session, BisectRun &run) {
  Result<BisectOutcome> outcome = session.search(run.inputs);
  if (!outcome)
    return outcome.status();
  run.outcome = std::move(*outcome);
  return {};
}

/// Bisects the call of the flags or of the case, or else batches of several shapes until one is wrong.
static Status bisect(CommandLine &request, BisectRun &run) {
  PlainCall &call = request.call;
  if (call.compile.model.empty())
    return Status::error("expected a model folder or a case");
  if (!llvm::sys::fs::is_directory(call.compile.model))
    return Status::error("'" + call.compile.model + "': expected a folder with a config.json");
  // A test that is written names the folder, and may run in another one.
  llvm::SmallString<256> absolute(call.compile.model);
  llvm::sys::fs::make_absolute(absolute);
  call.compile.model = absolute.str().str();
  // The tensors of the call are the only file of the report with a name that a model or case may have.
  const std::string tensors = "/inputs.safetensors";
  if (!request.folder.empty())
    if (Status status = declareOutput(request.folder + tensors); status.failed())
      return status;
  if (Status status = declareInput(call.compile.model + tensors); status.failed())
    return status;
  if (Status status = declareInputs(call.compile); status.failed())
    return status;
  if (Status status = checkPlainProducts(call.compile.target); status.failed())
    return status;
  if (!request.goodValues.empty()) {
    Result<GoodSetting> good = GoodSetting::create(request.goodValues, compilerFile());
    if (!good)
      return Status::error("--good: " + good.message());
    request.good = std::move(*good);
  }
  std::optional<PlainInputs> given;
  if (call.hasInputs()) {
    Result<PlainInputs> inputs = call.readInputs();
    if (!inputs)
      return inputs.status();
    given = std::move(*inputs);
  } else {
    Result<std::optional<PlainInputs>> inputs = call.readCase();
    if (!inputs)
      return inputs.status();
    given = std::move(*inputs);
    std::string stored = call.compile.model + "/expected.safetensors";
    if (given && llvm::sys::fs::exists(stored)) {
      Result<std::vector<OwnedTensor>> expected = loadSafetensors(stored);
      if (!expected)
        return expected.status();
      request.expected = std::move(*expected);
    }
  }
  if (given) {
    run.inputs = std::move(*given);
    call.request(run.inputs);
  } else {
    call.compile.outputs = call.outputs;
    call.compile.entries = {"forward"};
  }
  Result<std::unique_ptr<LoadedModel>> imported = LoadedModel::import(call.compile, createListener());
  if (!imported)
    return imported.status();
  run.model = std::move(*imported);
  BisectSession session(request, *run.model, createListener());
  if (given)
    return bisectOnce(session, run);
  Result<PlainSignature> signature = readPlainSignature(run.model->module());
  if (!signature)
    return signature.status();
  Status last = Status::error("no batch could be executed");
  bool isJudged = false;
  for (BatchShape shape : listBatchShapes()) {
    Result<PlainInputs> inputs = makeBatch(signature->entries.front(), shape);
    if (!inputs)
      return inputs.status();
    run.inputs = std::move(*inputs);
    reportNotice("attune", "batch of " + std::to_string(shape.batch) + " with " + std::to_string(shape.length) + " tokens");
    last = bisectOnce(session, run);
    isJudged |= !last.failed();
    if (last.failed())
      reportNotice("attune", "not judged: " + last.message());
    if (!last.failed() && run.outcome.verdict.isFound)
      return {};
  }
  return isJudged ? Status() : last;
}

int attune::runBisectCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  CommandLine request;
  FlagTable flags;
  flags.addString("o", "DIR", request.folder, "write the modules before and after the pass, inputs and a test that fails to DIR");
  flags.addRepeated("good", "FLAGS|PATH", request.goodValues,
                    "compare with a setting that is right: flags of attune compile, or another attune executable");
  addThreadsFlag(flags, request.threads);
  request.call.addTo(flags);
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, request.call.compile.model,
          "bisect MODEL|CASE [--input=FILE] [--ids=N,N,...] [--good=FLAGS|PATH] [-o DIR] [flags]",
          "Finds the phase, pass, function and rewrite after which the numbers of a model are wrong. Without inputs those of\n"
          "the case are taken, or batches of several shapes are tried. Exit status: 0 none, 1 found, 2 not possible."))
    return *status == exitRejected ? int(exitNotComparable) : *status;
  request.call.keepWords(flags);
  registerCompilerPasses();
  BisectRun run;
  Status status = bisect(request, run);
  if (!status.failed()) {
    std::printf("%s\n", describeOutcome(run.outcome).c_str());
    for (const auto &[phase, reason] : run.outcome.verdict.unknown)
      std::printf("not judged: the phase %s: %s\n", stringifyPhase(phase).str().c_str(), reason.c_str());
    // The search may have taken minutes: its result is not lost if DIR cannot be written.
    std::fflush(stdout);
    if (!request.folder.empty())
      status = writeReproducer(run.outcome, run.inputs, request.folder);
  }
  if (status.failed()) {
    reportError(host.tool, status.message());
    return exitNotComparable;
  }
  return run.outcome.verdict.isFound ? exitRejected : exitDone;
}
