//===- Run.cpp - The command run ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes `run`: one call with inputs from a safetensors file or from flags, whole or in chunks through the caches.
// Outputs are written to a file or printed.
//===----------------------------------------------------------------------===//
#include "compiler/Support/InputFiles.h"
#include "compiler/Support/Strings.h"
#include "compiler/Tools/Commands.h"
#include "compiler/Tools/FlagInputs.h"
#include "compiler/Tools/InputFile.h"
#include "compiler/Tools/PrintTensors.h"
#include "compiler/Tools/StepCall.h"

#include <cerrno>
#include <cstdlib>

using namespace attune;

namespace {
struct RunOptions {
  std::string input;
  FlagInputs flagInputs{FlagInputs::Padding::None};
  OutputTarget target;
  std::vector<std::string> outputs, settings, steps;
  int64_t threads = 0;
};
} // namespace

/// Returns the group of outputs that |key|, an argument of `forward`, requests; null if it requests none.
static const char *groupOf(const std::string &key) {
  return key == "output_hidden_states" ? "hidden_states" : key == "output_attentions" ? "attentions" : nullptr;
}

/// Parses the values of `--set`, KEY=VALUE. Adds the groups of outputs that they switch on to |request|, and those that
/// they switch off to |refused|.
static Status applySettings(const std::vector<std::string> &settings, ModelRequest &request, std::vector<std::string> &refused) {
  for (const std::string &setting : settings) {
    size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      return Status::error("--set: expected KEY=VALUE, got '" + setting + "'");
    std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
    const char *group = groupOf(key);
    if (!group)
      return Status::error("--set: unknown call argument '" + key + "'; run knows output_hidden_states and output_attentions");
    if (value != "true" && value != "false")
      return Status::error("--set: '" + key + "': expected true or false, got '" + value + "'");
    (value == "true" ? request.extraOutputs : refused).push_back(group);
  }
  return {};
}

static bool belongsTo(const std::string &name, const std::string &group) { return name == group || startsWith(name, group + "."); }

/// Removes the outputs that were switched off. Fails if an output that was switched on is missing.
static Status selectGroups(std::vector<OwnedTensor> &outputs, const ModelRequest &request, const std::vector<std::string> &refused) {
  std::vector<OwnedTensor> kept;
  for (OwnedTensor &output : outputs) {
    bool drop = false;
    for (const std::string &group : refused)
      drop |= belongsTo(output.spec.name, group);
    if (!drop)
      kept.push_back(std::move(output));
  }
  outputs = std::move(kept);
  for (const std::string &group : request.extraOutputs) {
    bool found = !request.outputs.empty(); // EntryCall::outputs has checked an explicit list
    for (const OwnedTensor &output : outputs)
      found |= belongsTo(output.spec.name, group);
    if (!found)
      return Status::error("--set: the model was compiled without the output '" + group + "'");
  }
  return {};
}

/// Parses the sizes of --steps.
static Result<std::vector<int64_t>> parseSteps(const std::vector<std::string> &texts) {
  std::vector<int64_t> steps;
  for (const std::string &text : texts) {
    char *end = nullptr;
    errno = 0;
    long long size = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0 || size < 1)
      return Status::error("--steps: expected sizes of at least 1, got '" + text + "'");
    steps.push_back(size);
  }
  return steps;
}

/// Executes the call in chunks, and writes or prints its outputs.
static Status runInSteps(const Artifact &artifact, const std::vector<TensorView> &inputs, const RunOptions &options) {
  Result<std::vector<int64_t>> steps = parseSteps(options.steps);
  if (!steps)
    return steps.status();
  Result<std::vector<OwnedTensor>> outputs = runSteps(artifact, {inputs, *steps, options.outputs, options.threads});
  return outputs ? deliverTensors(options.target, *outputs) : outputs.status();
}

static Status runModel(const CommandHost &host, const std::string &model, const RunOptions &options) {
  if (options.input.empty() && options.flagInputs.empty())
    return Status::error("expected inputs, --input=FILE, --ids=N,N,... or --value=NAME=V,V,..., which are missing");
  if (Status status = declareOutput(options.target.file); status.failed())
    return status;
  ModelRequest request;
  std::vector<std::string> refused;
  if (Status status = applySettings(options.settings, request, refused); status.failed())
    return status;
  Result<InputFile> file = InputFile::open(options.input);
  if (!file)
    return file.status();
  std::vector<TensorView> inputs = file->tensors();
  bool inSteps = !options.steps.empty();
  for (TensorSpec &input : file->specs())
    // In a call in chunks, past keys and values are written to the caches, so no entry takes them as inputs.
    if (!inSteps || !isPastKeyValue(input.name))
      request.inputs.push_back(std::move(input));
  request.inputNames = options.flagInputs.names();
  request.entries = inSteps ? stepEntries() : std::vector<std::string>{"forward"};
  for (const std::string &output : options.outputs)
    if (!inSteps || !isPastKeyValue(output))
      request.outputs.push_back(output);

  Result<Artifact> artifact = host.openModel(model, request);
  if (!artifact)
    return artifact.status();
  inSteps |= beginsInCaches(*artifact, inputs);
  Result<std::vector<OwnedTensor>> made =
      options.flagInputs.make(*artifact, inSteps ? stepEntries() : std::vector<std::string>{"forward"}, inputs);
  if (!made)
    return made.status();
  for (const OwnedTensor &tensor : *made)
    inputs.push_back(viewOf(tensor));
  if (inSteps)
    return runInSteps(*artifact, inputs, options);
  Result<EntryCall> call = EntryCall::prepare(*artifact, "forward", inputs, options.threads);
  if (!call)
    return call.status();
  if (Status status = call->run(); status.failed())
    return status;
  Result<std::vector<OwnedTensor>> outputs = call->outputs(options.outputs);
  if (!outputs)
    return outputs.status();
  if (Status status = selectGroups(*outputs, request, refused); status.failed())
    return status;
  return deliverTensors(options.target, *outputs);
}

int attune::runRunCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  RunOptions options;
  FlagTable flags;
  flags.addString("input", "FILE", options.input, "inputs by name, a safetensors file");
  options.flagInputs.addTo(flags);
  flags.addString("output", "FILE", options.target.file, "write the outputs, F32 and I64 safetensors");
  flags.addSwitch("print", options.target.print, "print the outputs, large ones abbreviated (default without --output)");
  flags.addList("outputs", "LIST", options.outputs, "outputs or groups to give (default: all the model computes)");
  flags.addList("steps", "N,N,...", options.steps, "feed the ids in chunks of these sizes through the cache");
  addThreadsFlag(flags, options.threads);
  flags.addRepeated("set", "KEY=VALUE", options.settings, "any other call argument, e.g. output_attentions=true");
  std::string model;
  if (std::optional<int> status = parseModelArguments(host, flags, arguments, model,
                                                      "run " + host.modelHelp + " [--input=FILE] [--ids=N,N,...] [--output=FILE] [flags]",
                                                      "Runs one forward call, or its tokens in steps, and writes or prints the outputs."))
    return *status;
  Status status = runModel(host, model, options);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
