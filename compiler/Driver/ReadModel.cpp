//===- ReadModel.cpp - The phase import ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/WeightsInput.h"
#include "compiler/Import/ModelFolder.h"
#include "compiler/Import/PruneHeads.h"
#include "compiler/Support/FileKind.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace attune;

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

/// Advice for a file of |kind| at |path| where a model was expected; "" if there is none.
static std::string adviseOn(FileKind kind, llvm::StringRef path) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  switch (kind) {
  case FileKind::Object:
    return "; it is for linking into a program, --emit=shared makes a model that can be run";
  case FileKind::Safetensors:
  case FileKind::Json:
    return ("; give the folder that holds it, '" + (folder.empty() ? "." : folder) + "'").str();
  case FileKind::PackedWeights:
    return "; give the shared object that was made with it";
  case FileKind::Gguf:
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

Status Compilation::parseFile() {
  FileKind kind = identifyFile(options.model);
  const std::string expected =
      "'" + options.model + "': expected a model folder or IR in the xfmr dialect (.mlir), got " + describeKind(kind);
  if (kind != FileKind::Text && kind != FileKind::MlirBytecode)
    return Status::error(expected + adviseOn(kind, options.model));
  // The file fixes what flags would decide for a folder.
  for (auto [given, flag] : {std::pair(!options.inputs.empty(), "--inputs"), std::pair(!options.outputs.empty(), "--outputs"),
                             std::pair(!options.limits.empty(), "--limit"), std::pair(!options.pruneHeads.empty(), "--prune-heads"),
                             std::pair(options.padding == Padding::Skip, "--padding")})
    if (given)
      return Status::error(std::string(flag) + ": only for a model folder, '" + options.model + "' is IR");
  module = mlir::parseSourceFile<mlir::ModuleOp>(options.model, mlir::ParserConfig(&context));
  if (!module) {
    Status problem = diagnostics.error("'" + options.model + "': expected IR in the xfmr dialect");
    return llvm::StringRef(options.model).ends_with(".mlir") ? problem : Status::error(expected + ": " + problem.message());
  }
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
  setTargetOfModule();
  return finishPhase(Phase::Import, [&] { return Result<std::string>(printModule()); });
}
