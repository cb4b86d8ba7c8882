//===- Compilation.cpp - One compilation, phase by phase ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/PhaseDump.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Driver/SampleEncoder.h"
#include "compiler/Driver/WeightsInput.h"
#include "compiler/Driver/WeightsStore.h"
#include "compiler/Import/ModelFolder.h"
#include "compiler/Import/PruneHeads.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Support/InputFiles.h"
#include "compiler/Text/TextFolder.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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
  if (options.dumpPhases.empty() && !done)
    return {};
  Result<std::string> text = print();
  if (!text)
    return text.status();
  if (!options.dumpPhases.empty())
    if (Status status = writeText(phaseFile(options.dumpPhases, phase), *text); status.failed())
      return status;
  if (done)
    if (Status status = writeText(options.output, *text); status.failed())
      return status;
  times.finish("printing", /*counted=*/false);
  return {};
}

/// Checks, before any work, that the outputs of |options| are different files, none of them an input of the command.
/// |writesObject| is true if the object and the files beside it are written.
static Status checkOutputNames(const CompileOptions &options, bool writesObject) {
  const bool hasOutput = !options.output.empty() && options.output != "-";
  std::vector<std::string> names, dumps;
  if (hasOutput)
    names = writesObject ? OutputSet::listNames(options.output, std::max<int64_t>(options.ranks, 1), options.debugInfo)
                         : std::vector{options.output};
  if (!options.dumpPhases.empty())
    for (Phase phase = Phase::Import; phase <= Phase::Object; phase = static_cast<Phase>(static_cast<unsigned>(phase) + 1))
      dumps.push_back(phaseFile(options.dumpPhases, phase));
  auto collides = [](const std::string &path, llvm::ArrayRef<std::string> others) {
    return llvm::any_of(others, [&](const std::string &other) { return isSameFile(path, other); });
  };
  for (const std::string &dump : dumps)
    if (collides(dump, names))
      return Status::error("--dump-phases: '" + dump + "' would be overwritten by the output or a file beside it");
  if (!options.remarksFile.empty() && options.remarksFile != "-") {
    if (collides(options.remarksFile, names) || collides(options.remarksFile, dumps))
      return Status::error("--remarks: '" + options.remarksFile + "' would overwrite the output, a file beside it or the IR of a phase");
    names.push_back(options.remarksFile);
  }
  names.insert(names.end(), dumps.begin(), dumps.end());
  for (const std::string &name : names)
    if (Status status = checkOutput(name); status.failed())
      return status;
  return {};
}

/// Creates the folder of --dump-phases; does nothing if |folder| is "".
static Status createDumpFolder(const std::string &folder) {
  if (folder.empty())
    return {};
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error && !llvm::sys::fs::is_directory(folder))
    error = std::make_error_code(std::errc::not_a_directory);
  return error ? Status::error("--dump-phases: cannot create '" + folder + "': " + error.message()) : Status();
}

Status Compilation::prepare() {
  if (Status status = checkFlags(options); status.failed())
    return status;
  Result<std::string> modelName = getModelName(options);
  if (!modelName)
    return modelName.status();
  name = *modelName;
  Result<HostMachine> machine = HostMachine::create(options.cpu, options.triple);
  if (!machine)
    return machine.status();
  host.emplace(std::move(*machine));
  Result<std::unique_ptr<Target>> wanted = createTarget(options.target, *host);
  if (!wanted)
    return wanted.status();
  target = std::move(*wanted);
  if (options.debugInfo && target->name() != "cpu")
    return Status::error("-g: only for --target=cpu");
  if (Status status = target->checkEmit(options.emit); status.failed())
    return status;
  if (Status status = target->checkRanks(options.ranks); status.failed())
    return status;
  if (!options.calibrate.empty() && llvm::all_of(target->weightFormats().list(), [](const auto &format) { return format.isFloat(); }))
    return Status::error("--calibrate: expected a format of weights beside it, such as --weights-format=int4:32");
  if (!options.calibrate.empty() && options.ranks > 1)
    return Status::error("--calibrate: not with --ranks");
  Result<std::unique_ptr<TargetEmission>> created = target->createEmission(*host);
  if (!created)
    return created.status();
  emission = std::move(*created);
  if (!llvm::sys::fs::exists(options.model))
    return Status::error("'" + options.model + "': no such file or folder");
  if (Status status = checkOutputNames(options, !stopsBefore(Phase::Object)); status.failed())
    return status;
  if (!options.dumpPhases.empty() && options.dumpPhases == options.output)
    return Status::error("--dump-phases: expected another name than that of the output, '" + options.output + "'");
  if (!stopsBefore(Phase::Object)) {
    if (options.output.empty() || options.output == "-")
      return Status::error("expected an output file, -o OUT");
    Result<OutputSet> outputs = OutputSet::create(options.output, std::max<int64_t>(options.ranks, 1));
    if (!outputs)
      return outputs.status();
    files.emplace(std::move(*outputs));
  }
  if (Status status = createDumpFolder(options.dumpPhases); status.failed())
    return status;
  // The folder of --dump-phases exists now; the printed IR and the remarks may be written to it.
  if (stopsBefore(Phase::Object))
    if (Status status = checkWritable(options.output); status.failed())
      return status;
  return checkWritable(options.remarksFile);
}

Status Compilation::runPhase(Phase phase) {
  if (Status status = listener.checkStop(); status.failed())
    return status;
  mlir::PassManager passes(&context);
  // One verification per phase is enough; more would take much of the compile time of a model with many layers.
  // attune-opt verifies after every pass.
  passes.enableVerifier(false);
  // The module's attributes decide the target, as for attune-opt on a dump.
  mlir::FailureOr<ModuleTarget> carried = readTarget(*module);
  if (mlir::failed(carried))
    return diagnostics.error("phase '" + stringifyPhase(phase).str() + "' failed");
  buildPhasePipeline(passes, phase, *carried->target, carried->schedule);
  if (listener.beforePasses)
    listener.beforePasses(phase, *module, passes);
  RemarkLog *remarks = getRemarks();
  if (remarks)
    remarks->beginPhase(*module);
  if (mlir::failed(passes.run(*module)) || mlir::failed(mlir::verify(*module)))
    return diagnostics.error("phase '" + stringifyPhase(phase).str() + "' failed");
  if (remarks)
    remarks->endPhase(phase, *module);
  if (phase == Phase::Dialect) {
    Result<ModelSignature> read = readModelSignature(*module);
    if (!read)
      return read.status();
    signature = std::move(*read);
    if (!options.calibrate.empty() && files)
      if (Status status = prepareCalibration(); status.failed())
        return status;
  }
  if (phase == Phase::Kernels) {
    readKernels(*module, signature, target->defaultBackend());
    if (!stopsBefore(Phase::Llvm))
      if (Status status = emission->start(*module); status.failed())
        return status;
  }
  if (phase == Phase::Bufferized)
    readFormulae(*module, signature);
  if (phase == Phase::Vector && options.debugInfo)
    debugInfo.takeSource(*module, files ? files->sourceName() : "vector.mlir");
  if (phase == Phase::Target && options.debugInfo)
    DebugInfo::addScopes(*module);
  return finishPhase(phase, [&] { return Result<std::string>(printModule()); });
}

Status Compilation::lower() {
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target})
    if (Status status = runPhase(phase); status.failed() || done)
      return status;
  return {};
}

Status Compilation::prepareCalibration() {
  std::unique_ptr<SampleEncoder> encoder;
  Result<CalibrationText> text = readCalibrationText(options.calibrate, [&](const std::string &line) -> Result<std::vector<int64_t>> {
    if (!encoder) {
      Result<std::unique_ptr<SampleEncoder>> created = SampleEncoder::create(options.model, listener.warning);
      if (!created)
        return created.status();
      encoder = std::move(*created);
    }
    return encoder->encode(line);
  });
  if (!text)
    return text.status();
  calibrationText = std::move(*text);
  calibrated = mlir::cast<mlir::ModuleOp>((*module)->clone());
  return {};
}

Result<std::vector<CalibratedRows>> Compilation::calibrate() const {
  auto progress = [&](uint64_t done, uint64_t total) {
    if (listener.calibrating)
      listener.calibrating(done, total);
    return listener.checkStop();
  };
  return calibrateWeights(*calibrated, *tensors, calibrationText, progress);
}

Status Compilation::pack() {
  PackListener heard;
  heard.progress = [&](uint64_t done, uint64_t total) {
    if (listener.packing)
      listener.packing(done, total);
    return listener.checkStop();
  };
  if (listener.warning)
    heard.warning = listener.warning;
  // The calibrated rows. They are computed only when a weights file is written, since a store may have the file
  // already.
  std::optional<std::vector<CalibratedRows>> rows;
  auto chooseRows = [&]() -> Status {
    if (!calibrated || rows)
      return {};
    Result<std::vector<CalibratedRows>> chosen = calibrate();
    if (!chosen)
      return chosen.status();
    rows.emplace(std::move(*chosen));
    times.finish("calibration", /*counted=*/false);
    return {};
  };
  auto provide = [&](int64_t rank) -> Result<PackingResult> {
    auto packTo = [&](OutputFile &file) -> Result<PackingResult> {
      if (Status status = chooseRows(); status.failed())
        return status;
      return packWeights(*module, *tensors, file, heard, rank, rows ? llvm::ArrayRef(*rows) : llvm::ArrayRef<CalibratedRows>());
    };
    if (!options.weightsStore)
      return packTo(files->weights(rank));
    files->omitWeights();
    Result<std::string> layout = describePackedWeights(*module, *tensors);
    return layout ? options.weightsStore->provide(*layout, packTo) : Result<PackingResult>(layout.status());
  };
  for (int64_t rank = 0; rank != signature.ranks; ++rank) {
    Result<PackingResult> written = provide(rank);
    if (!written)
      return written.status();
    packed.push_back(std::move(*written));
  }
  times.finish("packing", /*counted=*/false);
  return {};
}

Status Compilation::writeTextFile() {
  if (!llvm::sys::fs::is_directory(options.model) && !isGgufFile(options.model))
    return {};
  std::optional<std::string> compiled = text::compileText(options.model, listener.warning);
  return compiled ? files->writeText(*compiled) : Status();
}

Status Compilation::emit() {
  if (Status status = listener.checkStop(); status.failed())
    return status;
  ModelEmitter emitter(options, *host, *target, *emission);
  if (Status status = emission->takeKernels(*module); status.failed())
    return diagnostics.error(status.message());
  if (!emission->stepName().empty())
    times.finish(emission->stepName().str());
  if (Status status = emitter.translate(*module); status.failed())
    return diagnostics.error(status.message());
  module = nullptr;
  if (Status status = emitter.describe(signature, name, packed); status.failed())
    return status;
  if (listener.translated)
    listener.translated(emitter.hostModule(), /*isOptimized=*/false);
  emitter.optimize();
  if (listener.translated)
    listener.translated(emitter.hostModule(), /*isOptimized=*/true);
  if (listener.assembled) {
    Result<std::string> assembly = emitter.emit(/*assembly=*/true);
    if (!assembly)
      return assembly.status();
    listener.assembled(*assembly, debugInfo);
    if (stopsBefore(Phase::Object))
      return {};
  }
  if (Status status = finishPhase(Phase::Llvm, [&] { return Result<std::string>(emitter.print()); }); status.failed() || done)
    return status;

  if (Status status = listener.checkStop(); status.failed())
    return status;
  Result<std::string> code =
      options.emit == EmitKind::Ptx ? Result<std::string>(emission->deviceText()) : emitter.emit(options.emit == EmitKind::Assembly);
  if (!code)
    return code.status();
  if (Status status = files->writeCode(*code, options.emit); status.failed())
    return status;
  if (Status status = files->writeHeader(createHeader(signature, emitter.descriptor())); status.failed())
    return status;
  for (const PackingResult &weights : packed)
    if (!options.weightsStore)
      if (Status status = writeWeightsHeader(weights, emitter.descriptor().buildId, files->weights(weights.rank)); status.failed())
        return status;
  if (Status status = writeTextFile(); status.failed())
    return status;
  if (options.debugInfo)
    if (Status status = files->writeSource(debugInfo.source()); status.failed())
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
  if (!status.failed() && !options.remarksFile.empty())
    status = writeText(options.remarksFile, getRemarks()->toYaml());
  if (!status.failed() && listener.timeReport)
    listener.timeReport(times.format());
  return status;
}

Status Compilation::importFolder() {
  ModelSource source(options.model, options.architecture, options.adapters);
  source.generatesMissing = options.weightsOptional;
  Result<ModelFolder> folder = openModelFolder(source);
  if (!folder)
    return folder.status();
  if (listener.warning)
    for (const std::string &warning : folder->warnings)
      listener.warning(warning);
  if (listener.warning && options.target.cachePrecision != mlir::xfmr::Precision::F32 && !folder->generation)
    listener.warning("--cache-dtype: no effect, as " + folder->spec.architecture + " has no caches");
  if (!options.weights.empty())
    return Status::error("--weights: only for a .mlir model, '" + options.model + "' is a model with weights of its own");
  if (!options.pruneHeads.empty()) {
    Result<HeadsByLayer> heads = parsePruneHeads(options.pruneHeads);
    Status status = heads ? pruneHeads(folder->spec, *heads) : heads.status();
    if (status.failed())
      return Status::error("--prune-heads: " + status.message());
  }
  ImportOptions import = options;
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

/// Returns advice for a file of |kind| at |path| where a model was expected; "" if there is none.
static std::string adviseOn(FileKind kind, llvm::StringRef path) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  switch (kind) {
  case FileKind::Object:
    return "; it is for linking into a program, --emit=shared makes a model that can be run";
  case FileKind::Safetensors:
  case FileKind::Json:
    return ("; give the folder that holds it, '" + (folder.empty() ? "." : folder) + "'").str();
  case FileKind::PackedWeights:
  case FileKind::CompiledText:
    return "; give the shared object that was made with it";
  case FileKind::Onnx:
  case FileKind::PyTorch:
  case FileKind::Pickle:
  case FileKind::Hdf5:
    return "; convert it to a folder with config.json and model.safetensors, as save_pretrained of transformers writes it";
  case FileKind::LfsPointer:
    return "; git lfs pull downloads the file";
  default:
    return "";
  }
}

/// Reports the first operation in |module|, such as `tensor.dim`, that asks for the size of a constant dimension beyond
/// the rank. MLIR's verifiers accept it, and the generated code would read unrelated memory. Fails if there is one.
static llvm::LogicalResult checkDimensions(mlir::ModuleOp module) {
  mlir::WalkResult walk = module.walk([](mlir::ShapedDimOpInterface op) {
    auto type = llvm::dyn_cast<mlir::ShapedType>(op.getShapedValue().getType());
    std::optional<int64_t> dimension = mlir::getConstantIntValue(op.getDimension());
    if (!type || !type.hasRank() || !dimension || (*dimension >= 0 && *dimension < type.getRank()))
      return mlir::WalkResult::advance();
    op->emitError("expects a dimension below the rank ") << type.getRank() << ", but got " << *dimension;
    return mlir::WalkResult::interrupt();
  });
  return llvm::failure(walk.wasInterrupted());
}

Status Compilation::parseFile() {
  // A pipe can be read only once, so its content counts as text.
  FileKind kind = llvm::sys::fs::is_regular_file(options.model) ? identifyFile(options.model) : FileKind::Text;
  const std::string found = "'" + options.model + "': expected a model folder or IR in the xfmr dialect (.mlir), got ";
  const std::string expected = found + describeKind(kind);
  // Some devices, such as /dev/zero, have no end.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(options.model, status) &&
      (status.type() == llvm::sys::fs::file_type::character_file || status.type() == llvm::sys::fs::file_type::block_file))
    return Status::error(found + "a special file");
  if (kind != FileKind::Text && kind != FileKind::MlirBytecode)
    return Status::error(expected + adviseOn(kind, options.model));
  // These flags choose properties of a model that is read from a folder. A file of IR has these properties already.
  for (auto [given, flag] : {std::pair(!options.inputs.empty(), "--inputs"), std::pair(!options.outputs.empty(), "--outputs"),
                             std::pair(!options.limits.empty(), "--limit"), std::pair(!options.architecture.empty(), "--architecture"),
                             std::pair(!options.adapters.empty(), "--adapter"), std::pair(!options.pruneHeads.empty(), "--prune-heads"),
                             std::pair(options.padding == Padding::Skip, "--padding")})
    if (given)
      return Status::error(std::string(flag) + ": only for a model folder, '" + options.model + "' is IR");
  module = mlir::parseSourceFile<mlir::ModuleOp>(options.model, mlir::ParserConfig(&context));
  if (!module) {
    Status problem = diagnostics.error("'" + options.model + "': expected IR in the xfmr dialect");
    return llvm::StringRef(options.model).ends_with(".mlir") ? problem : Status::error(expected + ": " + problem.message());
  }
  if (failed(checkDimensions(*module)))
    return diagnostics.error("'" + options.model + "': expected IR in the xfmr dialect");
  Result<std::unique_ptr<TensorProvider>> opened = openWeightsInput(options.weights, options.model);
  if (!opened)
    return opened.status();
  tensors = std::move(*opened);
  return {};
}

Status Compilation::import() {
  Status status = isModelSource(options.model) ? importFolder() : parseFile();
  if (!status.failed() && mlir::failed(mlir::verify(*module)))
    status = diagnostics.error("the imported module is invalid");
  if (status.failed())
    return status;
  if (options.ranks > 0)
    mlir::xfmr::setRanks(*module, options.ranks);
  else if (int64_t ranks = mlir::xfmr::getRanks(*module); files && ranks > 1)
    return Status::error("'" + options.model + "' is IR for several ranks, expected --ranks=" + std::to_string(ranks));
  // Replaces any target that the module carries.
  context.getOrLoadDialect<mlir::rt::RtDialect>();
  setTarget(*module, *target);
  return finishPhase(Phase::Import, [&] { return Result<std::string>(printModule()); });
}

Status attune::compileModel(const CompileOptions &options, const CompileListener &listener) { return Compilation(options, listener).run(); }
