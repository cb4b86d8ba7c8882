//===- Bisect.cpp - The command bisect ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Exit status: 0 no wrong numbers, 1 their origin was found, 2 the search was not possible.
//
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/Bisector.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Tools/BisectInputs.h"
#include "compiler/Tools/CaseFile.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/PlainCall.h"
#include "llvm/Support/FileSystem.h"

#include <cstdio>

using namespace attune;

namespace {
/// The command line.
struct BisectCall {
  PlainCall call;
  std::string folder;
  /// Outputs by the reference implementation, from a case.
  std::vector<OwnedTensor> expected;
};

/// A model, what was computed with it, and the result of the search.
struct BisectRun {
  std::unique_ptr<LoadedModel> model;
  PlainInputs inputs;
  BisectVerdict verdict;
};
} // namespace

/// Returns the inputs of the case in the folder |model|, if it is one, and sets what else the case says.
static Result<std::optional<PlainInputs>> readCase(BisectCall &request) {
  CompileOptions &compile = request.call.compile;
  std::string path = compile.model + "/case.json";
  if (!llvm::sys::fs::exists(path))
    return std::optional<PlainInputs>();
  Result<CaseFile> file = CaseFile::read(path);
  if (!file)
    return file.status();
  if (file->function != "forward" && file->function != "incremental")
    return Status::error(path + ": the call '" + file->function + "' cannot be bisected, expected forward or incremental");
  Result<std::vector<OwnedTensor>> inputs = loadCaseInputs(*file, compile.model);
  if (!inputs)
    return inputs.status();
  if (compile.pruneHeads.empty())
    compile.pruneHeads = file->pruneHeads;
  for (const std::string &adapter : file->adapters)
    compile.adapters.push_back({compile.model + "/" + adapter, 1});
  PlainInputs made{std::move(*inputs), file->steps};
  if (request.call.outputs.empty())
    for (const CaseOutput &output : file->outputs)
      request.call.outputs.push_back(output.name);
  std::string expected = compile.model + "/expected.safetensors";
  if (!llvm::sys::fs::exists(expected))
    return std::optional<PlainInputs>(std::move(made));
  Result<SafetensorsFile> stored = SafetensorsFile::open(expected);
  if (!stored)
    return stored.status();
  for (const auto &[name, view] : stored->tensors())
    request.expected.push_back({{name, view.dtype, view.shape}, {view.data, view.data + view.bytes}});
  return std::optional<PlainInputs>(std::move(made));
}

static Status bisectOnce(BisectCall &request, BisectRun &run) {
  BisectOptions options;
  options.outputs = request.call.outputs;
  options.expected = request.expected;
  options.llvmText = [&] { return run.model->compileToLLVM(); };
  options.progress = [](const std::string &text) { reportNotice("attune", text); };
  Bisector bisector(run.model->module(), run.model->tensors(), run.inputs, options);
  Result<BisectVerdict> verdict = bisector.run();
  if (!verdict)
    return verdict.status();
  run.verdict = std::move(*verdict);
  return {};
}

/// Bisects the call of the flags or of the case, or else batches of several shapes until one is wrong.
static Status bisect(BisectCall &request, BisectRun &run) {
  PlainCall &call = request.call;
  if (call.compile.model.empty())
    return Status::error("expected a model folder or a case");
  if (!llvm::sys::fs::is_directory(call.compile.model))
    return Status::error("'" + call.compile.model + "': expected a folder with a config.json");
  if (call.compile.target.precision != mlir::xfmr::Precision::F32)
    return Status::error("--dtype: expected f32, since products of other types have no definition by which they could be executed");
  std::optional<PlainInputs> given;
  if (call.hasInputs()) {
    Result<PlainInputs> inputs = call.readInputs();
    if (!inputs)
      return inputs.status();
    given = std::move(*inputs);
  } else {
    Result<std::optional<PlainInputs>> inputs = readCase(request);
    if (!inputs)
      return inputs.status();
    given = std::move(*inputs);
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
  if (given)
    return bisectOnce(request, run);
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
    last = bisectOnce(request, run);
    isJudged |= !last.failed();
    if (!last.failed() && run.verdict.isFound)
      return {};
  }
  return isJudged ? Status() : last;
}

/// Says what is wrong: a value, or the reason why there is none.
static std::string describeWrong(const BisectVerdict &verdict) {
  const WrongValue &value = verdict.value;
  if (value.output.empty())
    return verdict.reason;
  std::string index;
  for (int64_t one : value.index)
    index += (index.empty() ? "" : ", ") + std::to_string(one);
  return value.output + "[" + index + "] is " + numberText(value.got, 9) + ", expected " + numberText(value.expected, 9) + " within " +
         numberText(value.allowed, 2);
}

/// Returns the verdict as a paragraph.
static std::string describe(const BisectVerdict &verdict) {
  std::string phase = stringifyPhase(verdict.phase).str();
  if (!verdict.isFound)
    return "no wrong numbers, up to the phase llvm.";
  if (verdict.phase == Phase::Import)
    return "the phase import differs from the reference: " + describeWrong(verdict) +
           ". The description of the model or its weights are read wrongly.";
  if (verdict.phase == Phase::Llvm)
    return "wrong numbers come from the translation to LLVM IR or from LLVM, after the last pass: " + describeWrong(verdict) + ".";
  if (verdict.steps.empty())
    return "wrong numbers come from the phase " + phase + " or those before it that cannot be executed: " + describeWrong(verdict) + ".";
  std::string text = "wrong numbers come from the pass " + verdict.steps.back().pass;
  for (size_t i = verdict.steps.size() - 1; i-- > 0;)
    text += " or " + verdict.steps[i].pass;
  text += ", phase " + phase;
  if (!verdict.function.empty())
    text += ", in the function @" + verdict.function + (verdict.kernel.empty() ? "" : " (" + verdict.kernel + ")");
  text += ": " + describeWrong(verdict) + ".";
  std::string where;
  llvm::raw_string_ostream stream(where);
  if (verdict.operation) {
    verdict.operation->location.print(stream);
    return text + " The operation: " + verdict.operation->name + ", " + where + ".";
  }
  if (!verdict.rewrite)
    return text;
  verdict.rewrite->location.print(stream);
  return text + " The rewrite: " + verdict.rewrite->pattern + " on " + verdict.rewrite->operation + ", " + where + ".";
}

static Status writeText(const std::string &path, const std::string &text) {
  Result<OutputFile> file = OutputFile::createWithFolders(path);
  if (!file)
    return file.status();
  if (Status status = file->write(text.data(), text.size()); status.failed())
    return status;
  return file->commit();
}

static std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text + "\n";
}

/// Returns a lit test that fails: the module before the pass, and what the pass makes of it, give different numbers.
static std::string makeTest(const BisectCall &request, const BisectVerdict &verdict, const PlainInputs &inputs) {
  std::string passes, steps;
  for (const PassStep &step : verdict.steps) {
    std::string pass = step.function.empty() ? step.pass : "func.func(" + step.pass + ")";
    passes += (passes.empty() ? "" : ",") + pass;
  }
  for (int64_t step : inputs.steps)
    steps += (steps.empty() ? " --steps=" : ",") + std::to_string(step);
  const WrongValue &value = verdict.operation ? verdict.operationValue : verdict.value;
  std::string run = "attune run --from-phase=" + stringifyPhase(verdict.phase).str() + " ";
  std::string flags = " --weights=" + request.call.compile.model + " --input=%S/inputs.safetensors" + steps + " --output=";
  std::string group = value.output.substr(0, value.output.rfind('.'));
  return "# " + describe(verdict) + "\n\n# RUN: " + run + "%S/before.mlir" + flags + "%t.before\n# RUN: attune-opt %S/before.mlir '" +
         "--pass-pipeline=builtin.module(" + passes + ")' -o %t.mlir\n# RUN: " + run + "%t.mlir" + flags +
         "%t.after\n# RUN: attune diff %t.before %t.after" + (group.empty() ? "" : " --outputs=" + group) +
         " --atol=" + numberText(value.allowed, 2) + "\n";
}

/// Writes files that reproduce the verdict to the folder of the flag -o: of the operation that was found, or of the whole
/// model.
static Status writeFiles(const BisectCall &request, const BisectRun &run) {
  const BisectVerdict &verdict = run.verdict;
  if (request.folder.empty() || !verdict.before)
    return {};
  std::string folder = request.folder + "/";
  const PlainInputs &inputs = verdict.operation ? verdict.operation->inputs : run.inputs;
  mlir::ModuleOp before = verdict.operation ? *verdict.operation->module : *verdict.before;
  if (Status status = writeText(folder + "before.mlir", print(before)); status.failed())
    return status;
  if (Status status = writeText(folder + "after.mlir", print(*verdict.after)); status.failed())
    return status;
  if (Status status = saveSafetensors(folder + "inputs.safetensors", inputs.tensors); status.failed())
    return status;
  // Modules of the phase target do not describe their entries, so they cannot be run alone.
  if (verdict.phase == Phase::Target || verdict.steps.empty())
    return {};
  return writeText(folder + "wrong.test", makeTest(request, verdict, inputs));
}

int attune::runBisectCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  BisectCall request;
  FlagTable flags;
  flags.addString("o", "DIR", request.folder, "write the modules before and after the pass, inputs and a test that fails to DIR");
  request.call.addTo(flags);
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, request.call.compile.model, "bisect MODEL|CASE [--input=FILE] [--ids=N,N,...] [-o DIR] [flags]",
          "Finds the phase, pass, function and rewrite after which the numbers of a model are wrong. Without inputs those of\n"
          "the case are taken, or batches of several shapes are tried. Exit status: 0 none, 1 found, 2 not possible."))
    return *status;
  registerCompilerPasses();
  BisectRun run;
  Status status = bisect(request, run);
  if (!status.failed())
    status = writeFiles(request, run);
  if (status.failed()) {
    reportError(host.tool, status.message());
    return exitNotComparable;
  }
  std::printf("%s\n", describe(run.verdict).c_str());
  for (const auto &[phase, reason] : run.verdict.unknown)
    std::printf("not judged: the phase %s: %s\n", stringifyPhase(phase).str().c_str(), reason.c_str());
  return run.verdict.isFound ? exitRejected : exitDone;
}
