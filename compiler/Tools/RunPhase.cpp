//===- RunPhase.cpp - The command run on IR of a phase --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Executes `attune run --from-phase=PHASE`: takes the IR of a phase from a file, or lowers a model to that phase, and
// executes it by the plain path (compiler/Plain) instead of the phases that follow.
//
//===----------------------------------------------------------------------===//

#include "compiler/Tools/RunPhase.h"
#include "compiler/Driver/CompileInputs.h"
#include "compiler/Driver/LoadedModel.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Support/Strings.h"
#include "compiler/Tools/CompilerCommands.h"
#include "compiler/Tools/EntryCall.h"
#include "compiler/Tools/PlainCall.h"
#include "compiler/Tools/PrintTensors.h"
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
    if (argument == "--from-phase" || startsWith(argument, "--from-phase="))
      return true;
  }
  return false;
}

namespace {
/// The command line.
struct PhaseCall {
  PlainCall call;
  PhaseRunFlags flags;
  OutputTarget target;
};
} // namespace

/// Prepares the IR of the call for the plain path. Sets |loaded| to the model that owns the MLIR context of the result,
/// and |calibrated| to the calibrated rows of the weights. Both must outlive the result.
static Result<std::unique_ptr<PlainModel>> openPhase(PhaseCall &request, std::unique_ptr<LoadedModel> &loaded,
                                                     std::vector<CalibratedRows> &calibrated) {
  PlainOptions options;
  options.wide = request.flags.wide;
  Phase phase = *request.flags.phase;
  if (options.wide && phase > Phase::Kernels)
    return Status::error("--f64: expected a phase up to kernels, got '" + stringifyPhase(phase).str() + "'");
  bool isFile = !llvm::sys::fs::is_directory(request.call.compile.model);
  bool needsSignature = phase == Phase::Target || phase == Phase::Llvm;
  if (!request.flags.signature.empty() && (!needsSignature || !isFile))
    return Status::error("--signature: only for a file of the phases target and llvm");
  if (isFile) {
    if (!request.call.compile.calibrate.empty())
      return Status::error("--calibrate: only for a model folder, '" + request.call.compile.model + "' is IR");
    if (needsSignature && request.flags.signature.empty())
      return Status::error("'" + request.call.compile.model + "': IR of the phase '" + stringifyPhase(phase).str() +
                           "' does not describe its entries, expected --signature=FILE, IR of bufferized or vector of the same model");
    CompileOptions parsed = request.call.compile;
    parsed.inputs.clear();
    parsed.outputs.clear();
    if (phase == Phase::Llvm)
      parsed.model = request.flags.signature;
    Result<std::unique_ptr<LoadedModel>> opened = LoadedModel::parse(parsed, createListener());
    if (!opened)
      return opened.status();
    loaded = std::move(*opened);
    if (!needsSignature)
      return PlainModel::create(loaded->module(), loaded->tensors(), options);
    if (phase == Phase::Llvm) {
      auto file = llvm::MemoryBuffer::getFile(request.call.compile.model);
      if (!file)
        return Status::error("'" + request.call.compile.model + "': " + file.getError().message());
      options.llvmText = (*file)->getBuffer().str();
      Result<PlainSignature> signature = readPlainSignature(loaded->module());
      return signature ? PlainModel::create(loaded->module(), loaded->tensors(), options, &*signature)
                       : Result<std::unique_ptr<PlainModel>>(signature.status());
    }
    Result<mlir::OwningOpRef<mlir::ModuleOp>> described = loaded->parseFile(request.flags.signature);
    if (!described)
      return described.status();
    Result<PlainSignature> signature = readPlainSignature(**described);
    return signature ? PlainModel::create(loaded->module(), loaded->tensors(), options, &*signature)
                     : Result<std::unique_ptr<PlainModel>>(signature.status());
  }
  Result<std::unique_ptr<LoadedModel>> imported = LoadedModel::import(request.call.compile, createListener());
  if (!imported)
    return imported.status();
  loaded = std::move(*imported);
  if (Status status = loaded->lowerTo(needsSignature ? Phase::Vector : phase); status.failed())
    return status;
  // --calibrate chooses quantized weights. These exist from the phase `dialect` on.
  if (phase != Phase::Import) {
    Result<std::vector<CalibratedRows>> rows = loaded->calibrate();
    if (!rows)
      return rows.status();
    calibrated = std::move(*rows);
  }
  const PlainWeights weights(loaded->tensors(), calibrated);
  if (!needsSignature)
    return PlainModel::create(loaded->module(), weights, options);
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
  return PlainModel::create(loaded->module(), weights, options, &*signature);
}

static Status runPhase(PhaseCall &request) {
  PlainCall &call = request.call;
  if (Status status = declareOutput(request.target.file); status.failed())
    return status;
  if (!request.flags.signature.empty())
    if (Status status = declareInput(request.flags.signature); status.failed())
      return status;
  if (Status status = declareInputs(call.compile); status.failed())
    return status;
  Result<PlainInputs> inputs = call.readInputs();
  if (!inputs)
    return inputs.status();
  if (call.compile.model.empty())
    return Status::error("expected a model, a folder or IR of the phase");
  if (llvm::sys::fs::is_directory(call.compile.model))
    call.request(*inputs);
  std::unique_ptr<LoadedModel> loaded;
  std::vector<CalibratedRows> calibrated;
  Result<std::unique_ptr<PlainModel>> model = openPhase(request, loaded, calibrated);
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
  return deliverTensors(request.target, wanted);
}

int attune::runPhaseCommand(const std::vector<std::string> &arguments) {
  PhaseCall request;
  FlagTable flags;
  flags.addString("output", "FILE", request.target.file, "write the outputs, F32 (F64 with --f64) and I64 safetensors");
  flags.addSwitch("print", request.target.print, "print the outputs, large ones abbreviated (default without --output)");
  request.flags.addTo(flags);
  request.call.addTo(flags);
  CommandHost host;
  host.tool = "attune";
  if (std::optional<int> status = parseModelArguments(
          host, flags, arguments, request.call.compile.model,
          "run --from-phase=PHASE MODEL|FILE.mlir [--input=FILE] [--ids=N,N,...] [flags]",
          "Runs the IR of a phase by a path of its own: definitions of operations, and loops over elements. It shares no\n"
          "code with the phases that follow."))
    return *status;
  Status status = runPhase(request);
  return status.failed() ? reportError(host.tool, status.message()) : exitDone;
}
