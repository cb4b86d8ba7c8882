//===- ReadModel.cpp - The phase import ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/WeightsInput.h"
#include "compiler/Import/ModelFolder.h"
#include "compiler/Import/PruneHeads.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

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
  setTargetOfModule();
  return finishPhase(Phase::Import, [&] { return Result<std::string>(printModule()); });
}
