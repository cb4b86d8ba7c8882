//===- CompiledCall.cpp - Objects of a model, executed --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/CompiledCall.h"
#include "compiler/Driver/PhaseDump.h"
#include "compiler/Object/Emit.h"
#include "compiler/Tools/StepCall.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

Result<std::unique_ptr<CompiledCall>> CompiledCall::create(const LoadedModel &model, const CompileOptions &options,
                                                           const CompileListener &listener, int64_t threads) {
  Result<TemporaryFolder> folder = TemporaryFolder::create("attune-bisect.");
  if (!folder)
    return folder.status();
  std::unique_ptr<CompiledCall> call(new CompiledCall(std::move(*folder), options, listener, threads));
  Result<HostMachine> machine = HostMachine::create(options.cpu, options.triple);
  if (!machine)
    return machine.status();
  call->compiled.machine = std::move(*machine);
  Result<TranslatedCode> code = model.compileTo(call->folder.file("model.so"));
  if (code) {
    call->compiled.beforePasses = std::move(code->beforePasses);
    call->compiled.afterPasses = std::move(code->afterPasses);
    return call;
  }
  call->problem = code.status();
  Result<std::string> text = model.compileToLLVM();
  if (!text)
    return text.status();
  call->compiled.afterPasses = std::move(*text);
  return call;
}

const ModelCode &CompiledCall::code(const PlainInputs &inputs) {
  compiled.execute = [this, &inputs](const std::string &object) { return execute(object, inputs); };
  compiled.readWeights = [this] { return readWeights(); };
  return compiled;
}

Result<std::vector<uint8_t>> CompiledCall::readWeights() const {
  Result<Artifact> artifact = Artifact::openShared(folder.file("model.so"), weightsPath(), "the compiled model");
  if (!artifact)
    return artifact.status();
  const auto *bytes = static_cast<const uint8_t *>(attune_model_weights(artifact->model()));
  return std::vector<uint8_t>(bytes, bytes + artifact->desc().weights_bytes);
}

Result<std::vector<OwnedTensor>> CompiledCall::execute(const std::string &object, const PlainInputs &inputs) const {
  if (problem.failed())
    return problem;
  std::string path = folder.file("model.so");
  if (!object.empty()) {
    Result<std::string> linked = linkShared(object);
    if (!linked)
      return linked.status();
    path = folder.file("variant.so");
    if (Status status = writeText(path, *linked); status.failed())
      return status;
  }
  return executeShared(path, weightsPath(), inputs);
}

Result<std::vector<OwnedTensor>> CompiledCall::runAlone(mlir::ModuleOp ir, const PlainInputs &inputs) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ir.print(stream);
  CompileOptions alone;
  alone.model = folder.file("operation.mlir");
  if (Status status = writeText(alone.model, text); status.failed())
    return status;
  alone.weights = options.model;
  alone.output = folder.file("operation.so");
  alone.emit = EmitKind::Shared;
  alone.cpu = options.cpu;
  alone.triple = options.triple;
  alone.target = options.target;
  CompileListener quiet = listener;
  quiet.warning = quiet.notice = nullptr;
  if (Status status = compileModel(alone, quiet); status.failed())
    return status;
  return executeShared(alone.output, folder.file("operation.weights"), inputs);
}

Result<std::vector<OwnedTensor>> CompiledCall::executeShared(const std::string &path, const std::string &weights,
                                                             const PlainInputs &inputs) const {
  Result<Artifact> artifact = Artifact::openShared(path, weights, "the compiled model");
  if (!artifact)
    return artifact.status();
  std::vector<TensorView> views;
  for (const OwnedTensor &tensor : inputs.tensors)
    views.push_back(viewOf(tensor));
  if (!inputs.steps.empty())
    return runSteps(*artifact, {views, inputs.steps, {}, threads});
  Result<EntryCall> call = EntryCall::prepare(*artifact, "forward", views, threads);
  if (!call)
    return call.status();
  if (Status status = call->run(); status.failed())
    return status;
  return call->outputs({});
}
