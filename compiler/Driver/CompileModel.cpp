//===- CompileModel.cpp - One compilation, phase by phase ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Driver/Diagnostics.h"
#include "compiler/Driver/EmitModel.h"
#include "compiler/Driver/HalideKernels.h"
#include "compiler/Driver/KernelChoices.h"
#include "compiler/Driver/OutputSet.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Driver/StageText.h"
#include "compiler/Driver/TimeReport.h"
#include "compiler/Driver/WeightsInput.h"
#include "compiler/Import/ModelFolder.h"
#include "compiler/Import/PruneHeads.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

namespace {

/// The state of one compilation; runSteps reads as the list of its steps.
class Compilation {
public:
  Compilation(const CompileOptions &options, const CompileListener &listener)
      : options(options), listener(listener), registry(makeRegistry()), context(registry, mlir::MLIRContext::Threading::DISABLED),
        diagnostics(&context, listener.warning) {}

  Status run();

private:
  static mlir::DialectRegistry makeRegistry();
  Status runSteps();
  Status prepare();
  Status import();
  Status importFolder();
  Status parseFile();
  Status runPhase(Phase phase);
  Status lower();
  Status pack();
  Status emit();
  Status findHalide();
  Status startHalide();
  Status chooseKernels();
  Status runPhaseByHalide(Phase phase);
  Status writeChoices();

  /// Ends |phase|, whose IR |print| gives: reports its time, dumps it, and prints it if it is the last; |done| says whether it is.
  Status finishPhase(Phase phase, llvm::function_ref<Result<std::string>()> print, bool &done);
  std::string printModule();
  CpuStrategy strategy() const { return getCpuStrategy({target->vectorBits(), target->vectorRegisters(), target->dotFeatures()}); }
  bool stopsBefore(Phase phase) const { return options.compileTo && *options.compileTo < phase; }

  const CompileOptions &options;
  const CompileListener &listener;
  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  DiagnosticCollector diagnostics;
  TimeReport times;
  std::string name;
  std::optional<CpuTarget> target;
  std::optional<OutputSet> files;
  std::unique_ptr<TensorProvider> tensors;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ModelSignature signature;
  std::optional<PackedWeights> packed;
  std::string halideTool;
  HalideCompilation halide;
  /// For --kernels=best: the choices, and the module with all kernels by Halide from the phase tiled on.
  KernelChoices choices;
  mlir::OwningOpRef<mlir::ModuleOp> byHalide;
  bool done = false;
};

} // namespace

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

Status Compilation::finishPhase(Phase phase, llvm::function_ref<Result<std::string>()> print, bool &done) {
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

/// What kernels by Halide need.
Status Compilation::findHalide() {
  if (options.kernels == KernelBackend::Mlir)
    return {};
  std::string flag = options.kernels == KernelBackend::Halide ? "--kernels=halide: " : "--kernels=best: ";
  if (target->machine().getTargetTriple().getArch() != llvm::Triple::x86_64)
    return Status::error(flag + "expected an x86-64 target, got '" + target->triple() + "'");
  Result<std::string> tool = findHalideTool();
  if (!tool)
    return Status::error(flag + tool.message());
  halideTool = *tool;
  return {};
}

/// Halide works beside the phases that follow.
Status Compilation::startHalide() {
  if (stopsBefore(Phase::Llvm))
    return {};
  HalideOptions how;
  how.vectorBits = target->vectorBits();
  how.tileRows = strategy().registerRows;
  how.tileColumns = strategy().panelWidth;
  how.schedule = options.schedule;
  return halide.start(halideTool, describeHalideKernels(*module), how);
}

/// Everything that can fail without looking at the model.
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

Status Compilation::importFolder() {
  Result<ModelFolder> folder = openModelFolder(options.model);
  if (!folder)
    return folder.status();
  if (!options.weights.empty())
    return Status::error("--weights: only for a .mlir model, '" + options.model + "' is a folder");
  if (!options.pruneHeads.empty()) {
    Result<HeadsByLayer> heads = parsePruneHeads(options.pruneHeads);
    Status status = heads ? pruneHeads(folder->spec, *heads) : heads.status();
    if (status.failed())
      return Status::error("--prune-heads: " + status.message());
  }
  ImportOptions import;
  import.name = name;
  import.padding = options.padding;
  import.inputs = options.inputs;
  import.outputs = options.outputs;
  import.entries = options.entries;
  import.limits = options.limits;
  if (import.outputs.empty() && !options.extraOutputs.empty()) {
    for (const OutputSpec &output : folder->spec.outputs)
      import.outputs.push_back(output.name);
    import.outputs.insert(import.outputs.end(), options.extraOutputs.begin(), options.extraOutputs.end());
  }
  Result<mlir::OwningOpRef<mlir::ModuleOp>> imported = importModel(context, folder->spec, *folder->tensors, import);
  if (!imported)
    return imported.status();
  module = std::move(*imported);
  if (folder->generation)
    writeGenerationAttr(*module, *folder->generation);
  tensors = std::move(folder->tensors);
  return {};
}

Status Compilation::parseFile() {
  // The file fixes what flags would decide for a folder.
  for (auto [given, flag] : {std::pair(!options.inputs.empty(), "--inputs"), std::pair(!options.outputs.empty(), "--outputs"),
                             std::pair(!options.limits.empty(), "--limit"), std::pair(!options.pruneHeads.empty(), "--prune-heads"),
                             std::pair(options.padding == Padding::Skip, "--padding")})
    if (given)
      return Status::error(std::string(flag) + ": only for a model folder, '" + options.model + "' is IR");
  module = mlir::parseSourceFile<mlir::ModuleOp>(options.model, mlir::ParserConfig(&context));
  if (!module)
    return diagnostics.error("'" + options.model + "': expected IR in the xfmr dialect");
  Result<std::unique_ptr<TensorProvider>> opened = openWeightsInput(options.weights, options.model);
  if (!opened)
    return opened.status();
  tensors = std::move(*opened);
  return {};
}

Status Compilation::import() {
  Status status = llvm::sys::fs::is_directory(options.model) ? importFolder() : parseFile();
  if (!status.failed() && mlir::failed(mlir::verify(*module)))
    status = diagnostics.error("the imported module is invalid");
  if (status.failed())
    return status;
  return finishPhase(Phase::Import, [&] { return Result<std::string>(printModule()); }, done);
}

Status Compilation::runPhase(Phase phase) {
  mlir::PassManager passes(&context);
  buildPhasePipeline(passes, phase,
                     options.target == TargetKind::Cuda ? getGpuPipelineOptions(options.dtype, emulates(options))
                                                        : PipelineOptions{strategy(), options.dtype, options.kernels});
  if (mlir::failed(passes.run(*module)))
    return diagnostics.error("phase '" + stringifyPhase(phase).str() + "' failed");
  if (phase == Phase::Dialect) {
    Result<ModelSignature> read = readModelSignature(*module);
    if (!read)
      return read.status();
    signature = std::move(*read);
  }
  if (options.kernels == KernelBackend::Best)
    if (Status status = runPhaseByHalide(phase); status.failed())
      return status;
  if (phase == Phase::Kernels) {
    readKernels(*module, signature, options.target == TargetKind::Cuda ? "nvvm" : "mlir");
    if (Status status = startHalide(); status.failed())
      return status;
  }
  if (phase == Phase::Bufferized)
    readFormulae(*module, signature);
  return finishPhase(phase, [&] { return Result<std::string>(printModule()); }, done);
}

/// Beside the module goes one with all kernels by Halide, since tiles depend on the backend; after the phase kernels there is one again.
Status Compilation::runPhaseByHalide(Phase phase) {
  if (phase == Phase::Linalg)
    byHalide = module->clone();
  if (phase != Phase::Tiled && phase != Phase::Kernels)
    return {};
  mlir::PassManager passes(&context);
  buildPhasePipeline(passes, phase, PipelineOptions{strategy(), options.dtype, KernelBackend::Halide});
  if (mlir::failed(passes.run(*byHalide)))
    return diagnostics.error("phase '" + stringifyPhase(phase).str() + "' failed");
  if (phase == Phase::Tiled)
    return {};
  Status status = applyChoices(*module, *byHalide, choices);
  byHalide = nullptr;
  return status;
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
  Result<PackedWeights> written = packWeights(*module, *tensors, files->weights(), heard);
  if (!written)
    return written.status();
  packed.emplace(std::move(*written));
  times.finish("packing", /*counted=*/false);
  return {};
}

/// Reads or measures which backend makes which kernel.
Status Compilation::chooseKernels() {
  Result<KernelChoices> result = options.choices.empty() ? measureKernels(options) : readChoices(options.choices);
  if (!result)
    return result.status();
  choices = std::move(*result);
  times.finish("choosing kernels", /*counted=*/false);
  return {};
}

/// Beside the output, for --choices of the next time.
Status Compilation::writeChoices() {
  llvm::SmallString<128> path(options.output);
  llvm::sys::path::replace_extension(path, ".choices");
  return writeText(path.str().str(), formatChoices(choices));
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
  if (Status status = finishPhase(Phase::Llvm, [&] { return Result<std::string>(emitter.print()); }, done); status.failed() || done)
    return status;

  Result<std::string> code = options.emit == EmitKind::Ptx ? emitter.ptx() : emitter.emit(options.emit == EmitKind::Assembly);
  if (!code)
    return code.status();
  if (Status status = files->writeCode(*code, options.emit); status.failed())
    return status;
  if (Status status = files->writeHeader(createHeader(signature, emitter.descriptor())); status.failed())
    return status;
  if (Status status = writeWeightsHeader(*packed, emitter.descriptor().buildId, files->weights()); status.failed())
    return status;
  if (options.kernels == KernelBackend::Best && options.choices.empty())
    if (Status status = writeChoices(); status.failed())
      return status;
  if (Status status = files->commit(); status.failed())
    return status;
  return finishPhase(Phase::Object, [&] { return emitter.emit(/*assembly=*/true); }, done);
}

Status Compilation::runSteps() {
  if (Status status = prepare(); status.failed())
    return status;
  if (options.kernels == KernelBackend::Best && !stopsBefore(Phase::Kernels))
    if (Status status = chooseKernels(); status.failed())
      return status;
  if (Status status = import(); status.failed() || done)
    return status;
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
