//===- Check.cpp - The command check --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs golden cases and compares every output within its tolerance.
//===----------------------------------------------------------------------===//
#include "compiler/Tools/Commands.h"
#include "compiler/Tools/CompareCase.h"
#include "compiler/Tools/GenerateCall.h"
#include "compiler/Tools/StepCall.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

using namespace attune;

namespace {
struct CheckOptions {
  int64_t threads = 0;
  std::string dtype = "f32";
};
} // namespace

/// Returns the group of an output: "hidden_states" for "hidden_states.3", "past_key_values" for "past_key_values.0.1".
/// A name that does not end with a number is returned as it is. A case lists single outputs of a group; a model is
/// asked for whole groups.
static std::string groupName(std::string name) {
  for (size_t dot; (dot = name.rfind('.')) != std::string::npos && dot != 0 && dot + 1 < name.size();) {
    if (name.find_first_not_of("0123456789", dot + 1) != std::string::npos)
      break;
    name.resize(dot);
  }
  return name;
}

/// Sets the parts of |request| that change the model itself: pruned heads, adapters, and the seed of generated weights.
static void setModel(ModelRequest &request, const std::string &folder, const CaseFile &caseFile) {
  request.pruneHeads = caseFile.pruneHeads;
  request.weightsSeed = caseFile.weightsSeed;
  for (const std::string &adapter : caseFile.adapters)
    request.adapters.push_back(folder + "/" + adapter);
}

static ModelRequest requestOf(const CaseFile &caseFile, const std::vector<OwnedTensor> &inputs) {
  ModelRequest request;
  for (const OwnedTensor &input : inputs)
    if (caseFile.function != "incremental" || !isPastKeyValue(input.spec.name)) // those are written to the caches
      request.inputs.push_back(input.spec);
  for (const CaseOutput &output : caseFile.outputs)
    if (std::string group = groupName(output.name);
        std::find(request.outputs.begin(), request.outputs.end(), group) == request.outputs.end())
      request.outputs.push_back(group);
  return request;
}

/// Runs a case of text generation and returns its outputs.
static Result<std::vector<OwnedTensor>> generateCase(const CommandHost &host, const std::string &folder, const CaseFile &caseFile,
                                                     const std::vector<OwnedTensor> &inputs, const CheckOptions &options) {
  GenerationSettings settings;
  for (const auto &[name, value] : caseFile.kwargs.items())
    // These select the form of the result, not its values.
    if (name != "use_cache" && name != "output_scores" && name != "return_dict_in_generate")
      if (Status status = settings.set(name, value, caseFile.path); status.failed())
        return status;
  std::vector<TensorSpec> specs;
  std::vector<TensorView> views;
  for (const OwnedTensor &input : inputs) {
    specs.push_back(input.spec);
    views.push_back(viewOf(input));
  }
  std::vector<std::string> wanted;
  for (const CaseOutput &output : caseFile.outputs)
    wanted.push_back(output.name);
  ModelRequest request = generationRequest(specs);
  setModel(request, folder, caseFile);
  request.dtype = options.dtype;
  Result<Artifact> artifact = host.openCase(folder, request);
  if (!artifact)
    return artifact.status();
  return runGeneration(*artifact, views, settings, wanted, options.threads);
}

/// Runs the call of a case and returns its outputs.
static Result<std::vector<OwnedTensor>> callModel(const CommandHost &host, const std::string &folder, const CaseFile &caseFile,
                                                  const CheckOptions &options) {
  Result<std::vector<OwnedTensor>> inputs = loadCaseInputs(caseFile, folder);
  if (!inputs)
    return inputs.status();
  if (caseFile.function == "generate")
    return generateCase(host, folder, caseFile, *inputs, options);
  std::vector<TensorView> views;
  for (const OwnedTensor &input : *inputs)
    views.push_back(viewOf(input));
  bool inSteps = caseFile.function == "incremental";
  ModelRequest request = requestOf(caseFile, *inputs);
  setModel(request, folder, caseFile);
  request.dtype = options.dtype;
  request.entries = inSteps ? stepEntries() : std::vector<std::string>{caseFile.function};
  StepRequest steps{views, caseFile.steps, request.outputs, options.threads};
  if (inSteps)
    request.outputs.erase(std::remove_if(request.outputs.begin(), request.outputs.end(), isPastKeyValue), request.outputs.end());
  Result<Artifact> artifact = host.openCase(folder, request);
  if (!artifact)
    return artifact.status();
  if (inSteps || beginsInCaches(*artifact, views))
    return runSteps(*artifact, steps);
  Result<EntryCall> call = EntryCall::prepare(*artifact, caseFile.function, views, options.threads);
  if (!call)
    return call.status();
  if (Status status = call->run(); status.failed())
    return status;
  return call->outputs({});
}

/// Checks one case and prints a line for each of its outputs. Returns true if the case passes; fails if it cannot be
/// run.
static Result<bool> checkCase(const CommandHost &host, const std::string &folder, const CheckOptions &options) {
  std::filesystem::path base(folder);
  Result<CaseFile> caseFile = CaseFile::read((base / "case.json").string());
  if (!caseFile)
    return caseFile.status();
  Result<SafetensorsFile> expected = SafetensorsFile::open((base / "expected.safetensors").string());
  if (!expected)
    return expected.status();
  Result<std::vector<OwnedTensor>> outputs = callModel(host, folder, *caseFile, options);
  if (!outputs)
    return outputs.status();

  bool passed = true;
  size_t width = 0;
  for (const CaseOutput &output : caseFile->outputs)
    width = std::max(width, output.name.size());
  std::printf("%s\n", folder.c_str());
  auto find = [&](const std::string &name) -> std::optional<TensorView> {
    for (const OwnedTensor &tensor : *outputs)
      if (tensor.spec.name == name)
        return viewOf(tensor);
    return std::nullopt;
  };
  std::optional<TensorView> ids = find("sequences");
  for (const CaseOutput &output : caseFile->outputs) {
    std::optional<TensorView> got = find(output.name);
    OutputReport report = compareOutput(output, got ? &*got : nullptr, *expected, options.dtype, ids ? &*ids : nullptr);
    bool good = report.verdict == OutputReport::Passed || report.verdict == OutputReport::Skipped;
    passed &= good;
    const char *word = report.verdict == OutputReport::Skipped ? "skip" : good ? "ok  " : "FAIL";
    std::printf("  %s  %-*s  %s\n", word, static_cast<int>(width), output.name.c_str(), report.text.c_str());
  }
  return passed;
}

int attune::runCheckCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  CheckOptions options;
  FlagTable flags;
  addThreadsFlag(flags, options.threads);
  flags.addString("dtype", "f32|bf16|f16|int8", options.dtype, "type the model computes in; others than f32 have coarser tolerances");
  if (host.addFlags)
    host.addFlags(flags);
  std::vector<std::string> folders;
  if (std::optional<int> status =
          parseArguments(host, flags, arguments, folders, "check CASE_DIR... [flags]",
                         "Runs golden cases: the worst error against the tolerance for each output. Exit 0 if all pass."))
    return *status;
  if (folders.empty())
    return reportError(host.tool, "expected one or more case folders, got none");
  if (!isCheckDType(options.dtype))
    return reportError(host.tool, "--dtype: expected f32, bf16, f16 or int8, got '" + options.dtype + "'");

  size_t passed = 0;
  for (const std::string &folder : folders) {
    Result<bool> good = checkCase(host, folder, options);
    std::fflush(stdout);
    if (!good)
      reportError(host.tool, good.message());
    else
      passed += *good;
  }
  std::printf("%zu of %zu cases pass\n", passed, folders.size());
  return passed == folders.size() ? exitDone : exitRejected;
}
