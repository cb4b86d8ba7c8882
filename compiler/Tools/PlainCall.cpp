//===- PlainCall.cpp - A call by the plain path ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/PlainCall.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Tools/CaseFile.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/FlagInputs.h"
#include "compiler/Tools/InputRequests.h"
#include "compiler/Tools/StepCall.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace attune;

/// The compile flags that a PlainCall does not take: it sets inputs and outputs itself, and has no --set.
static constexpr llvm::StringRef kOwnFlags[] = {"inputs", "outputs", "set"};

void PlainCall::addTo(FlagTable &flags) {
  flags.addString("input", "FILE", input, "inputs by name, a safetensors file");
  flags.addCustom("ids", "N,N,...", "input_ids, a row; once for each row of a batch, all equally long",
                  [&](const std::string &text) { return parseIds(text, ids); });
  flags.addList("outputs", "LIST", outputs, "outputs or groups to give (default: all the model computes)");
  flags.addList("steps", "N,N,...", steps, "feed the ids in chunks of these sizes through the cache");
  addCompileFlags(flags, compile, kOwnFlags);
}

Result<PlainInputs> PlainCall::readInputs() const {
  PlainInputs inputs;
  if (!input.empty()) {
    if (Status status = declareInput(input); status.failed())
      return status;
    Result<std::vector<OwnedTensor>> loaded = loadSafetensors(input);
    if (!loaded)
      return loaded.status();
    inputs.tensors = std::move(*loaded);
  }
  if (!ids.empty()) {
    OwnedTensor made{{"input_ids", DType::I64, {int64_t(ids.size()), int64_t(ids[0].size())}}, {}};
    for (const std::vector<int64_t> &row : ids) {
      if (row.size() != ids[0].size())
        return Status::error("--ids: expected rows of one length, got " + std::to_string(ids[0].size()) + " and " +
                             std::to_string(row.size()) + " ids");
      const auto *bytes = reinterpret_cast<const uint8_t *>(row.data());
      made.data.insert(made.data.end(), bytes, bytes + row.size() * sizeof(int64_t));
    }
    inputs.tensors.push_back(std::move(made));
  }
  if (inputs.tensors.empty())
    return Status::error("expected inputs, --input=FILE or --ids=N,N,..., which are missing");
  for (const std::string &text : steps) {
    Result<int64_t> size = parseInteger(text);
    if (!size || *size < 1)
      return Status::error("--steps: expected sizes of at least 1, got '" + text + "'");
    inputs.steps.push_back(*size);
  }
  return inputs;
}

Result<std::optional<PlainInputs>> PlainCall::readCase() {
  const std::string path = compile.model + "/case.json";
  if (!llvm::sys::fs::exists(path))
    return std::optional<PlainInputs>();
  Result<CaseFile> file = CaseFile::read(path);
  if (!file)
    return file.status();
  if (file->function != "forward" && file->function != "incremental")
    return Status::error(path + ": the call '" + file->function + "' is not one of the model, expected forward or incremental");
  Result<std::vector<OwnedTensor>> tensors = loadCaseInputs(*file, compile.model);
  if (!tensors)
    return tensors.status();
  if (compile.pruneHeads.empty() && !file->pruneHeads.empty()) {
    compile.pruneHeads = file->pruneHeads;
    words.push_back("--prune-heads=" + file->pruneHeads);
  }
  for (const std::string &adapter : file->adapters) {
    compile.adapters.push_back(parseAdapter(compile.model + "/" + adapter));
    words.push_back("--adapter=" + compile.model + "/" + adapter);
  }
  if (outputs.empty())
    for (const CaseOutput &output : file->outputs)
      outputs.push_back(output.name);
  return std::optional<PlainInputs>(PlainInputs{std::move(*tensors), file->steps});
}

void PlainCall::keepWords(const FlagTable &table) {
  CompileOptions unused;
  FlagTable ofCompilation;
  addCompileFlags(ofCompilation, unused, kOwnFlags);
  for (const FlagText &flag : ofCompilation.texts())
    for (const auto &[name, value] : table.given())
      if (flag.name == "--" + name)
        words.push_back(flag.name + "=" + value);
}

std::vector<std::string> PlainCall::repeat(const PlainInputs &inputs, const std::string &from, const std::string &to) const {
  std::vector<std::string> arguments = words;
  arguments.push_back("--input=" + from);
  arguments.push_back("--output=" + to);
  if (!outputs.empty())
    arguments.push_back("--outputs=" + llvm::join(outputs, ","));
  if (!inputs.steps.empty())
    arguments.push_back("--steps=" + llvm::join(llvm::map_range(inputs.steps, [](int64_t size) { return std::to_string(size); }), ","));
  arguments.push_back("--");
  arguments.push_back(compile.model);
  return arguments;
}

void PlainCall::request(const PlainInputs &inputs) {
  if (compile.inputs.empty())
    for (const OwnedTensor &tensor : inputs.tensors)
      compile.inputs.push_back(requestInput(tensor.spec));
  compile.outputs = outputs;
  compile.entries = inputs.steps.empty() ? std::vector<std::string>{"forward"} : stepEntries();
}

Status attune::checkExactProducts(const CompileOptions &options) {
  if (options.target.precision != mlir::xfmr::Precision::F32)
    return Status::error("--dtype: expected f32, since other products round operands, which two settings may do otherwise");
  if (!options.target.weightFormats.isNative())
    return Status::error("--weights-format: expected native, since the weights of two settings may be rounded otherwise");
  return {};
}
