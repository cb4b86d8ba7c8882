//===- CompileModel.cpp - One compilation, phase by phase ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Driver/StageText.h"
#include "compiler/Driver/WeightsStore.h"
#include "compiler/Pipelines/TargetAttributes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

mlir::DialectRegistry Compilation::makeRegistry() {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

std::string Compilation::printModule() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << '\n';
  return text;
}

Status Compilation::finishPhase(Phase phase, llvm::function_ref<Result<std::string>()> print) {
  times.finish(stringifyPhase(phase).str());
  done = options.compileTo && *options.compileTo == phase && phase != Phase::Object;
  if (options.dumpStages.empty() && !done)
    return {};
  Result<std::string> text = print();
  if (!text)
    return text.status();
  if (!options.dumpStages.empty())
    if (Status status = writeText(stageFile(options.dumpStages, phase), *text); status.failed())
      return status;
  if (done)
    if (Status status = writeText(options.output, *text); status.failed())
      return status;
  times.finish("printing", /*counted=*/false);
  return {};
}

Status Compilation::prepare() {
  if (Status status = checkFlags(options); status.failed())
    return status;
  Result<std::string> modelName = getModelName(options);
  if (!modelName)
    return modelName.status();
  name = *modelName;
  Result<CpuTarget> cpu = CpuTarget::create(options.cpu, options.triple);
  if (!cpu)
    return cpu.status();
  target.emplace(std::move(*cpu));
  if (Status status = findHalide(); status.failed())
    return status;
  if (!llvm::sys::fs::exists(options.model))
    return Status::error("'" + options.model + "': no such file or folder");
  if (!options.dumpStages.empty()) {
    std::error_code error = llvm::sys::fs::create_directories(options.dumpStages);
    if (!error && !llvm::sys::fs::is_directory(options.dumpStages))
      error = std::make_error_code(std::errc::not_a_directory);
    if (error)
      return Status::error("--dump-stages: cannot create '" + options.dumpStages + "': " + error.message());
  }
  if (stopsBefore(Phase::Object))
    return {};
  if (options.output.empty() || options.output == "-")
    return Status::error("expected an output file, -o OUT");
  Result<OutputSet> created = OutputSet::create(options.output);
  if (!created)
    return created.status();
  files.emplace(std::move(*created));
  return {};
}

void Compilation::setTargetOfModule() {
  context.getOrLoadDialect<mlir::rt::RtDialect>();
  if (options.target == TargetKind::Cuda)
    return setTarget(*module, getGpuTargetAttr(&context, getGpus(options), options.dtype),
                     getGpuPipelineOptions(options.dtype, getGpus(options)));
  setTarget(*module, getCpuTargetAttr(&context, cpuFeatures(), options.dtype, options.kernels, target->cpu(), target->triple()),
            {strategy(), options.dtype, options.kernels});
}

Status Compilation::runPhase(Phase phase) {
  mlir::PassManager passes(&context);
  // Once for a phase is enough, and a third of the time of thousands of layers; attune-opt verifies after every pass.
  passes.enableVerifier(false);
  // As attune-opt does with a dump: by what the module carries.
  mlir::FailureOr<PipelineOptions> carried = readTarget(*module);
  if (mlir::failed(carried))
    return diagnostics.error("phase '" + stringifyPhase(phase).str() + "' failed");
  buildPhasePipeline(passes, phase, *carried);
  if (mlir::failed(passes.run(*module)) || mlir::failed(mlir::verify(*module)))
    return diagnostics.error("phase '" + stringifyPhase(phase).str() + "' failed");
  if (phase == Phase::Dialect) {
    Result<ModelSignature> read = readModelSignature(*module);
    if (!read)
      return read.status();
    signature = std::move(*read);
  }
  if (phase == Phase::Kernels) {
    readKernels(*module, signature, options.target == TargetKind::Cuda ? "nvvm" : "mlir");
    if (Status status = startHalide(); status.failed())
      return status;
  }
  if (phase == Phase::Bufferized)
    readFormulae(*module, signature);
  return finishPhase(phase, [&] { return Result<std::string>(printModule()); });
}

Status Compilation::lower() {
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target})
    if (Status status = runPhase(phase); status.failed() || done)
      return status;
  return {};
}

Status Compilation::pack() {
  PackListener heard;
  if (listener.packing)
    heard.progress = listener.packing;
  if (listener.warning)
    heard.warning = listener.warning;
  auto packTo = [&](OutputFile &file) { return packWeights(*module, *tensors, file, heard); };
  auto provide = [&]() -> Result<PackingResult> {
    if (!options.weightsStore)
      return packTo(files->weights());
    files->omitWeights();
    Result<std::string> layout = describePackedWeights(*module, *tensors);
    return layout ? options.weightsStore->provide(*layout, packTo) : Result<PackingResult>(layout.status());
  };
  Result<PackingResult> written = provide();
  if (!written)
    return written.status();
  packed.emplace(std::move(*written));
  times.finish("packing", /*counted=*/false);
  return {};
}

Status Compilation::emit() {
  ModelEmitter emitter(options, *target);
  Result<std::vector<std::string>> kernels = halide.finish();
  if (!kernels)
    return kernels.status();
  if (!kernels->empty())
    times.finish("halide");
  if (Status status = emitter.translate(*module, *kernels); status.failed())
    return diagnostics.error(status.message());
  if (options.target == TargetKind::Cuda)
    if (Status status = emitter.emitDevice(signature); status.failed())
      return status;
  module = nullptr;
  if (Status status = emitter.describe(signature, name, packed ? &*packed : nullptr); status.failed())
    return status;
  emitter.optimize();
  if (options.target == TargetKind::Cuda)
    times.finish("device");
  if (Status status = finishPhase(Phase::Llvm, [&] { return Result<std::string>(emitter.print()); }); status.failed() || done)
    return status;

  Result<std::string> code = options.emit == EmitKind::Ptx ? emitter.ptx() : emitter.emit(options.emit == EmitKind::Assembly);
  if (!code)
    return code.status();
  if (Status status = files->writeCode(*code, options.emit); status.failed())
    return status;
  if (Status status = files->writeHeader(createHeader(signature, emitter.descriptor())); status.failed())
    return status;
  if (!options.weightsStore)
    if (Status status = writeWeightsHeader(*packed, emitter.descriptor().buildId, files->weights()); status.failed())
      return status;
  if (Status status = files->commit(); status.failed())
    return status;
  return finishPhase(Phase::Object, [&] { return emitter.emit(/*assembly=*/true); });
}

Status Compilation::runSteps() {
  if (Status status = prepare(); status.failed())
    return status;
  if (Status status = import(); status.failed() || done)
    return status;
  if (listener.imported)
    listener.imported();
  if (Status status = lower(); status.failed() || done)
    return status;
  if (files)
    if (Status status = pack(); status.failed())
      return status;
  return emit();
}

Status Compilation::run() {
  Status status = runSteps();
  if (!status.failed() && listener.timeReport)
    listener.timeReport(times.format());
  return status;
}

Status attune::compileModel(const CompileOptions &options, const CompileListener &listener) { return Compilation(options, listener).run(); }
