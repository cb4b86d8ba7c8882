//===- Bisect.cpp - The command bisect ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Maps flags and golden cases to the options of a bisection, prints the verdict and writes the test. Exit status: 0 no
// difference, 1 found, 2 cannot run.
//
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/EmitTest.h"
#include "compiler/Tools/BisectCommand.h"
#include "compiler/Tools/CaseFile.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/InputRequests.h"
#include "compiler/Tools/StepCall.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace attune;

namespace {
/// The command line.
struct BisectFlags {
  CompileOptions compile;
  std::string input, folder = "bisect";
  std::vector<std::string> steps;
  bool quick = false, withoutTest = false, verbose = false;
  int64_t seconds = 60;
};
} // namespace

/// Adds the tensors of the file |path| to |tensors|.
static Status addTensors(const std::string &path, std::vector<OwnedTensor> &tensors) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.status();
  for (const auto &[name, view] : file->tensors())
    tensors.push_back({{name, view.dtype, view.shape}, {view.data, view.data + view.bytes}});
  return {};
}

/// Returns the group of an output: "hidden_states" for "hidden_states.3".
static std::string groupOfOutput(std::string name) {
  size_t dot = name.rfind('.');
  bool numbered = dot != std::string::npos && name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return numbered ? groupOfOutput(name.substr(0, dot)) : name;
}

/// Takes the call, the model and the expectations of the golden case in |folder|.
static Status readCase(const std::string &folder, BisectOptions &options) {
  Result<CaseFile> read = CaseFile::read(folder + "/case.json");
  if (!read)
    return read.status();
  bool inSteps = read->function == "incremental";
  if (!inSteps && read->function != "forward")
    return Status::error("'" + folder + "': expected a case of forward or incremental, got '" + read->function + "'");
  Result<std::vector<OwnedTensor>> inputs = loadCaseInputs(*read, folder);
  if (!inputs)
    return inputs.status();
  options.inputs = {std::move(*inputs), inSteps ? read->steps : std::vector<int64_t>()};
  for (const CaseOutput &output : read->outputs) {
    std::string group = groupOfOutput(output.name);
    if (group != "past_key_values" && std::find(options.compile.outputs.begin(), options.compile.outputs.end(), group) ==
                                         options.compile.outputs.end())
      options.compile.outputs.push_back(group);
    if (!output.stats)
      options.tolerances[output.name] = output.tolerance.atol + output.tolerance.rtol * output.maxAbs;
  }
  options.compile.pruneHeads = read->pruneHeads;
  for (const std::string &adapter : read->adapters)
    options.compile.adapters.push_back(parseAdapter(folder + "/" + adapter));
  return addTensors(folder + "/expected.safetensors", options.expected);
}

static Status prepare(const BisectFlags &flags, BisectOptions &options) {
  options.compile = flags.compile;
  const std::string &model = flags.compile.model;
  if (model.empty())
    return Status::error("expected a golden case or a model, attune bisect CASE_DIR|MODEL");
  bool isCase = flags.input.empty() && llvm::sys::fs::exists(model + "/case.json");
  if (isCase) {
    if (Status status = readCase(model, options); status.failed())
      return status;
  } else if (!flags.input.empty()) {
    if (Status status = addTensors(flags.input, options.inputs.tensors); status.failed())
      return status;
  }
  for (const std::string &text : flags.steps) {
    Result<int64_t> size = parseInteger(text);
    if (!size || *size < 1)
      return Status::error("--steps: expected sizes of at least 1, got '" + text + "'");
    options.inputs.steps.push_back(*size);
  }
  if (options.compile.inputs.empty() && llvm::sys::fs::is_directory(model))
    for (const OwnedTensor &tensor : options.inputs.tensors)
      options.compile.inputs.push_back(requestInput(tensor.spec));
  options.compile.entries = options.inputs.steps.empty() ? std::vector<std::string>{"forward"} : stepEntries();
  return {};
}

int attune::runBisect(const CommandHost &host, const std::vector<std::string> &arguments, const PassHook &hook) {
  BisectFlags flags;
  FlagTable table;
  table.addString("input", "FILE", flags.input, "inputs by name, a safetensors file (those of the case, else made ones)");
  table.addList("steps", "N,N,...", flags.steps, "feed the ids in chunks of these sizes through the cache");
  table.addString("o", "DIR", flags.folder, "folder for the test (bisect)");
  table.addSwitch("quick", flags.quick, "neither other shapes nor passes of phases whose results are right");
  table.addSwitch("no-test", flags.withoutTest, "print the verdict only");
  table.addInteger("seconds", "N", flags.seconds, 0, 3600, "time for making the test small (60)");
  table.addSwitch("verbose", flags.verbose, "print each module that is compared");
  addCompileFlags(table, flags.compile, {"set"});
  if (std::optional<int> status = parseModelArguments(
          host, table, arguments, flags.compile.model, "bisect CASE_DIR|MODEL [--input=FILE] [-o DIR] [flags]",
          "Finds the first phase, pass, function and operation after which numbers are wrong, and writes a lit test\n"
          "that fails. Exit status: 0 no difference, 1 found, 2 cannot run."))
    return *status;
  BisectOptions options;
  options.hook = hook;
  options.searchFurther = !flags.quick;
  bool shows = isatty(STDERR_FILENO);
  if (flags.verbose)
    options.progress = [](const std::string &message) { std::fprintf(stderr, "%s\n", message.c_str()); };
  else if (shows)
    options.progress = [](const std::string &message) { std::fprintf(stderr, "\r\033[K%s", message.c_str()); };
  auto clear = [&] {
    if (shows && !flags.verbose)
      std::fputs("\r\033[K", stderr);
  };
  auto refuse = [&](const std::string &message) {
    clear();
    reportError(host.tool, message);
    return static_cast<int>(exitNotComparable);
  };
  if (Status status = prepare(flags, options); status.failed())
    return refuse(status.message());
  Result<Verdict> verdict = bisectModel(options);
  if (!verdict)
    return refuse(verdict.message());
  clear();
  std::printf("%s\n", verdict->text.c_str());
  if (!verdict->found)
    return exitDone;
  std::fflush(stdout);
  bool testable = !verdict->pass.empty() && verdict->phase != "target" && !flags.withoutTest;
  if (testable) {
    Result<std::string> path = emitTest(*verdict, hook, flags.folder, verdict->pass, flags.seconds);
    if (!path)
      return refuse(path.message());
    std::printf("Test: %s\n", path->c_str());
  }
  return exitRejected;
}

int attune::runBisectCommand(const CommandHost &host, const std::vector<std::string> &arguments) {
  return runBisect(host, arguments, nullptr);
}
