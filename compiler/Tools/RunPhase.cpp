//===- RunPhase.cpp - The command run on IR of a phase --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Executes `attune run --from-phase=PHASE`: the IR of a phase, from a file or of a model that is lowered to it, by the plain
// path instead of the phases that follow.
//
//===----------------------------------------------------------------------===//

#include "compiler/Tools/RunPhase.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Plain/PlainSteps.h"
#include "compiler/Tools/CompileFlags.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/FlagInputs.h"
#include "compiler/Tools/InputRequests.h"
#include "compiler/Tools/PrintTensors.h"
#include "compiler/Tools/StepCall.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace attune;

void PhaseRunFlags::addTo(FlagTable &flags) {
  flags.addCustom("from-phase", "PHASE", "run the IR of this phase by definitions of operations and loops (import to llvm)",
                  [this](const std::string &value) {
                    phase = symbolizePhase(value);
                    if (phase && *phase != Phase::Object)
                      return Status();
                    return Status::error("expected import, dialect, linalg, tiled, kernels, bufferized, vector, target or llvm, got '" +
                                         value + "'");
                  });
  flags.addSwitch("f64", wide, "with --from-phase up to kernels: compute in f64");
  flags.addString("signature", "FILE", signature, "with --from-phase=target or llvm and a file: IR of bufferized or vector of the model");
}

bool attune::asksForPhase(const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments) {
    if (argument == "--")
      return false;
    if (argument == "--from-phase" || argument.rfind("--from-phase=", 0) == 0)
      return true;
  }
  return false;
}

namespace {
/// The command line.
struct PhaseCall {
  CompileOptions compile;
  PhaseRunFlags flags;
  std::string input;
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::string> steps, outputs;
  OutputTarget target;
};
} // namespace

/// Returns the inputs of the call: the tensors of the file, and rows of ids.
static Result<PlainInputs> readInputs(const PhaseCall &call) {
  PlainInputs inputs;
  if (!call.input.empty()) {
    Result<SafetensorsFile> file = SafetensorsFile::open(call.input);
    if (!file)
      return file.status();
    for (const auto &[name, view] : file->tensors())
      inputs.tensors.push_back({{name, view.dtype, view.shape}, {view.data, view.data + view.bytes}});
  }
  if (!call.ids.empty()) {
    OwnedTensor ids{{"input_ids", DType::I64, {int64_t(call.ids.size()), int64_t(call.ids[0].size())}}, {}};
    for (const std::vector<int64_t> &row : call.ids) {
      if (row.size() != call.ids[0].size())
        return Status::error("--ids: expected rows of one length, got " + std::to_string(call.ids[0].size()) + " and " +
                             std::to_string(row.size()) + " ids");
      const auto *bytes = reinterpret_cast<const uint8_t *>(row.data());
      ids.data.insert(ids.data.end(), bytes, bytes + row.size() * sizeof(int64_t));
    }
    inputs.tensors.push_back(std::move(ids));
  }
  if (inputs.tensors.empty())
    return Status::error("expected inputs, --input=FILE or --ids=N,N,..., which are missing");
  for (const std::string &text : call.steps) {
    Result<int64_t> size = parseInteger(text);
    if (!size || *size < 1)
      return Status::error("--steps: expected sizes of at least 1, got '" + text + "'");
    inputs.steps.push_back(*size);
  }
  return inputs;
}

/// Adds the inputs, outputs and entries that the call needs to the options of an import.
static void requestCall(PhaseCall &call, const PlainInputs &inputs) {
  if (call.compile.inputs.empty())
    for (const OwnedTensor &tensor : inputs.tensors)
      call.compile.inputs.push_back(requestInput(tensor.spec));
  call.compile.outputs = call.outputs;
  call.compile.entries = inputs.steps.empty() ? std::vector<std::string>{"forward"} : stepEntries();
}

/// Compiles the IR of the call by the plain path.
static Result<std::unique_ptr<PlainModel>> openPhase(PhaseCall &call, std::unique_ptr<LoadedModel> &loaded) {
  PlainOptions options;
  options.wide = call.flags.wide;
  Phase phase = *call.flags.phase;
  if (options.wide && phase > Phase::Kernels)
    return Status::error("--f64: expected a phase up to kernels, got '" + stringifyPhase(phase).str() + "'");
  bool isFile = !llvm::sys::fs::is_directory(call.compile.model);
  bool needsSignature = phase == Phase::Target || phase == Phase::Llvm;
  if (!call.flags.signature.empty() && (!needsSignature || !isFile))
    return Status::error("--signature: only for a file of the phases target and llvm");
  if (isFile) {
    if (needsSignature && call.flags.signature.empty())
      return Status::error("'" + call.compile.model + "': IR of the phase '" + stringifyPhase(phase).str() +
                           "' does not describe its entries, expected --signature=FILE, IR of bufferized or vector of the same model");
    CompileOptions parsed = call.compile;
    parsed.inputs.clear();
    parsed.outputs.clear();
    if (phase == Phase::Llvm)
      parsed.model = call.flags.signature;
    Result<std::unique_ptr<LoadedModel>> opened = LoadedModel::parse(parsed, createListener());
    if (!opened)
      return opened.status();
    loaded = std::move(*opened);
    if (!needsSignature)
      return PlainModel::create(loaded->module(), loaded->tensors(), options);
    if (phase == Phase::Llvm) {
      auto file = llvm::MemoryBuffer::getFile(call.compile.model);
      if (!file)
        return Status::error("'" + call.compile.model + "': " + file.getError().message());
      options.llvmText = (*file)->getBuffer().str();
      Result<PlainSignature> signature = readPlainSignature(loaded->module());
      return signature ? PlainModel::create(loaded->module(), loaded->tensors(), options, &*signature)
                       : Result<std::unique_ptr<PlainModel>>(signature.status());
    }
    Result<mlir::OwningOpRef<mlir::ModuleOp>> described = loaded->parseFile(call.flags.signature);
    if (!described)
      return described.status();
    Result<PlainSignature> signature = readPlainSignature(**described);
    return signature ? PlainModel::create(loaded->module(), loaded->tensors(), options, &*signature)
                     : Result<std::unique_ptr<PlainModel>>(signature.status());
  }
  Result<std::unique_ptr<LoadedModel>> imported = LoadedModel::import(call.compile, createListener());
  if (!imported)
    return imported.status();
  loaded = std::move(*imported);
  if (Status status = loaded->lowerTo(needsSignature ? Phase::Vector : phase); status.failed())
    return status;
  if (!needsSignature)
    return PlainModel::create(loaded->module(), loaded->tensors(), options);
  Result<PlainSignature> signature = readPlainSignature(loaded->module());
  if (!signature)
    return signature.status();
  if (phase == Phase::Llvm) {
    Result<std::string> text = loaded->compileToLLVM();
    if (!text)
      return text.status();
    options.llvmText = std::move(*text);
  } else if (Status status = loaded->lowerTo(phase); status.failed()) {
    return status;
  }
  return PlainModel::create(loaded->module(), loaded->tensors(), options, &*signature);
}

static Status runPhase(PhaseCall &call) {
  Result<PlainInputs> inputs = readInputs(call);
  if (!inputs)
    return inputs.status();
  if (call.compile.model.empty())
    return Status::error("expected a model, a folder or IR of the phase");
  if (llvm::sys::fs::is_directory(call.compile.model))
    requestCall(call, *inputs);
  std::unique_ptr<LoadedModel> loaded;
  Result<std::unique_ptr<PlainModel>> model = openPhase(call, loaded);
  if (!model)
    return model.status();
  Result<std::vector<OwnedTensor>> outputs = runPlainly(**model, *inputs);
  if (!outputs)
    return Status::error("'" + call.compile.model + "': " + outputs.message());
  std::vector<OwnedTensor> wanted;
  for (OwnedTensor &output : *outputs)
    if (call.outputs.empty() || isWanted(call.outputs, output.spec.name))
      wanted.push_back(std::move(output));
  if (wanted.empty())
    return Status::error("--outputs: the model computes none of these");
  return deliverTensors(call.target, wanted);
}

int attune::runPhaseCommand(const std::vector<std::string> &arguments) {
  PhaseCall call;
  FlagTable flags;
  flags.addString("input", "FILE", call.input, "inputs by name, a safetensors file");
  flags.addCustom("ids", "N,N,...", "input_ids, a row; once for each row of a batch, all equally long",
                  [&](const std::string &text) { return parseIds(text, call.ids); });
  flags.addString("output", "FILE", call.target.file, "write the outputs, F32 (F64 with --f64) and I64 safetensors");
  flags.addSwitch("print", call.target.print, "print the outputs, large ones abbreviated (default without --output)");
  flags.addList("outputs", "LIST", call.outputs, "outputs or groups to give (default: all the model computes)");
  flags.addList("steps", "N,N,...", call.steps, "feed the ids in chunks of these sizes through the cache");
  call.flags.addTo(flags);
  addCompileFlags(flags, call.compile, {"inputs", "outputs", "set"});
  CommandHost host;
  host.tool = "attune";
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, call.compile.model, "run --from-phase=PHASE MODEL|FILE.mlir [--input=FILE] [--ids=N,N,...] [flags]",
          "Runs the IR of a phase by a path of its own: definitions of operations, and loops over elements. It shares no\n"
          "code with the phases that follow."))
    return *status;
  Status status = runPhase(call);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
