//===- Bisect.cpp - The command bisect ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Exit status: 0 no wrong numbers, 1 wrong numbers, 2 the search was not possible or its files cannot be written.
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
#include "compiler/Tools/StepCall.h"
#include "llvm/Support/FileSystem.h"

#include <cstdio>

using namespace attune;

namespace {
/// The command line.
struct CommandLine : BisectCall {
  std::string folder;
  std::vector<std::string> goodValues;
};

/// A model, imported with the entries of a call, and the search on it.
struct ModelSearch {
  explicit ModelSearch(CommandLine request) : request(std::move(request)) {}
  Status import();

  CommandLine request;
  std::unique_ptr<LoadedModel> model;
  std::optional<BisectSession> session;
  /// True if the previous search on this model found all phases right. The next search is then brief (BisectSession).
  bool wasRight = false;
};

/// A search, the inputs of its last call, and the result.
struct BisectRun {
  std::unique_ptr<ModelSearch> search;
  PlainInputs inputs;
  BisectOutcome outcome;
};
} // namespace

Status ModelSearch::import() {
  Result<std::unique_ptr<LoadedModel>> imported = LoadedModel::import(request.call.compile, createListener());
  if (!imported)
    return imported.status();
  model = std::move(*imported);
  session.emplace(request, *model, createListener());
  return {};
}

static Status bisectOnce(BisectRun &run) {
  Result<BisectOutcome> outcome = run.search->session->search(run.inputs, run.search->wasRight);
  if (!outcome)
    return outcome.status();
  run.outcome = std::move(*outcome);
  run.search->wasRight = !run.outcome.verdict.isFound && run.outcome.verdict.unknown.empty();
  return {};
}

/// Returns a text such as "batch of 2 with 9 tokens in steps of 5, 1, 3".
static std::string describeShape(const BatchShape &shape) {
  std::string text = "batch of " + std::to_string(shape.batch) + " with " + std::to_string(shape.length) + " tokens";
  for (auto [index, step] : llvm::enumerate(shape.steps))
    text += (index == 0 ? " in steps of " : ", ") + std::to_string(step);
  return text;
}

/// Bisects calls with batches of several shapes until one call has wrong numbers. A model with caches is also called in
/// steps. A call whose search fails is skipped with a notice; fails if all of them do.
static Status bisectBatches(const CommandLine &request, BisectRun &run) {
  auto ofForward = std::make_unique<ModelSearch>(request), ofSteps = std::make_unique<ModelSearch>(request);
  ofForward->request.call.compile.entries = {"forward"};
  ofSteps->request.call.compile.entries = stepEntries();
  if (Status status = ofForward->import(); status.failed())
    return status;
  bool hasSteps = !ofSteps->import().failed();
  Status last = Status::error("no batch could be executed");
  bool isJudged = false;
  for (const BatchShape &shape : listBatchShapes()) {
    if (!shape.steps.empty() && !hasSteps)
      continue;
    std::unique_ptr<ModelSearch> &search = shape.steps.empty() ? ofForward : ofSteps;
    Result<PlainSignature> signature = readPlainSignature(search->model->module());
    if (!signature)
      return signature.status();
    Result<PlainInputs> inputs = makeBatch(*signature, shape);
    if (!inputs)
      return inputs.status();
    run.inputs = std::move(*inputs);
    reportNotice("attune", describeShape(shape));
    std::swap(run.search, search);
    last = bisectOnce(run);
    isJudged |= !last.failed();
    if (last.failed())
      reportNotice("attune", "not judged: " + last.message());
    if (!last.failed() && run.outcome.verdict.isFound)
      return {};
    std::swap(run.search, search);
  }
  return isJudged ? Status() : last;
}

/// Bisects the call that the flags or the case describe. Without either, bisects batches of several shapes until one
/// has wrong numbers.
static Status bisect(CommandLine &request, BisectRun &run) {
  PlainCall &call = request.call;
  if (call.compile.model.empty())
    return Status::error("expected a model folder or a case");
  if (!llvm::sys::fs::is_directory(call.compile.model))
    return Status::error("'" + call.compile.model + "': expected a folder with a config.json");
  // The test that -o writes names the folder of the model. The test may run in another working directory.
  llvm::SmallString<256> absolute(call.compile.model);
  llvm::sys::fs::make_absolute(absolute);
  call.compile.model = absolute.str().str();
  // Of the files that -o writes, only inputs.safetensors has a name that a file of the model or of the case may have.
  const std::string tensors = "/inputs.safetensors";
  if (!request.folder.empty())
    if (Status status = declareOutput(request.folder + tensors); status.failed())
      return status;
  if (Status status = declareInput(call.compile.model + tensors); status.failed())
    return status;
  if (Status status = declareInputs(call.compile); status.failed())
    return status;
  if (!request.goodValues.empty()) {
    if (Status status = checkExactProducts(call.compile); status.failed())
      return Status::error("--good: " + status.message());
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
  if (!given) {
    call.compile.outputs = call.outputs;
    return bisectBatches(request, run);
  }
  run.inputs = std::move(*given);
  call.request(run.inputs);
  run.search = std::make_unique<ModelSearch>(request);
  if (Status status = run.search->import(); status.failed())
    return status;
  return bisectOnce(run);
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
