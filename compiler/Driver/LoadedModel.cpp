//===- LoadedModel.cpp - A model as IR in memory --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/LoadedModel.h"
#include "compiler/Driver/Compilation.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace attune;

LoadedModel::LoadedModel(CompileOptions wanted, CompileListener listening) : options(std::move(wanted)), listener(std::move(listening)) {
  // A compilation that ends before its object needs no output. No IR is printed, since lowerTo() never runs the phase
  // `llvm`, the last of this compilation.
  options.compileTo = Phase::Llvm;
  compilation = std::make_unique<Compilation>(options, listener);
}

LoadedModel::~LoadedModel() = default;

Result<std::unique_ptr<LoadedModel>> LoadedModel::import(CompileOptions options, CompileListener listener) {
  std::unique_ptr<LoadedModel> loaded(new LoadedModel(std::move(options), std::move(listener)));
  if (Status status = loaded->compilation->prepare(); status.failed())
    return status;
  if (Status status = loaded->compilation->import(); status.failed())
    return status;
  return loaded;
}

Result<std::unique_ptr<LoadedModel>> LoadedModel::parse(CompileOptions options, CompileListener listener) {
  std::unique_ptr<LoadedModel> loaded(new LoadedModel(std::move(options), std::move(listener)));
  Compilation &compilation = *loaded->compilation;
  if (!llvm::sys::fs::exists(loaded->options.model))
    return Status::error("'" + loaded->options.model + "': no such file or folder");
  if (Status status = compilation.parseFile(); status.failed())
    return status;
  if (mlir::failed(mlir::verify(*compilation.module)))
    return compilation.diagnostics.error("'" + loaded->options.model + "': the module is invalid");
  return loaded;
}

mlir::ModuleOp LoadedModel::module() const { return *compilation->module; }

Status LoadedModel::lowerTo(Phase last) {
  for (; phase < last; phase = static_cast<Phase>(static_cast<unsigned>(phase) + 1))
    if (Status status = compilation->runPhase(static_cast<Phase>(static_cast<unsigned>(phase) + 1)); status.failed())
      return status;
  return {};
}

const TensorProvider &LoadedModel::tensors() const { return *compilation->tensors; }

Result<std::vector<CalibratedRows>> LoadedModel::calibrate() const {
  if (options.calibrate.empty())
    return std::vector<CalibratedRows>();
  // The first import of this model has already given its warnings.
  CompileListener quiet = listener;
  quiet.warning = [](const std::string &) {};
  Compilation own(options, quiet);
  if (Status status = own.prepare(); status.failed())
    return status;
  if (Status status = own.import(); status.failed())
    return status;
  if (Status status = own.runPhase(Phase::Dialect); status.failed())
    return status;
  if (Status status = own.prepareCalibration(); status.failed())
    return status;
  return own.calibrate();
}

Result<mlir::OwningOpRef<mlir::ModuleOp>> LoadedModel::parseFile(const std::string &path) const {
  if (!llvm::sys::fs::exists(path))
    return Status::error("'" + path + "': no such file or folder");
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, mlir::ParserConfig(&compilation->context));
  if (!module)
    return compilation->diagnostics.error("'" + path + "': expected IR");
  return module;
}

Result<TranslatedCode> LoadedModel::compileTo(const std::string &path) const {
  CompileOptions request = options;
  request.compileTo.reset();
  request.emit = EmitKind::Shared;
  request.output = path;
  TranslatedCode code;
  CompileListener copying = listener;
  copying.translated = [&](const llvm::Module &host, bool isOptimized) {
    llvm::raw_string_ostream stream(isOptimized ? code.afterPasses : code.beforePasses);
    host.print(stream, nullptr);
  };
  if (Status status = compileModel(request, copying); status.failed())
    return status;
  return code;
}

Result<std::string> LoadedModel::compileToLLVM() const {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("attune-llvm", "ll", path))
    return Status::error("cannot create a temporary file: " + error.message());
  CompileOptions request = options;
  request.output = std::string(path);
  Status status = compileModel(request, listener);
  std::string text;
  if (auto file = llvm::MemoryBuffer::getFile(path))
    text = (*file)->getBuffer().str();
  llvm::sys::fs::remove(path);
  if (status.failed())
    return status;
  return text;
}
