//===- LoadedModel.h - A model as IR in memory ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The IR of a model with its tensors, for commands that examine a compilation.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_LOADEDMODEL_H
#define ATTUNE_COMPILER_DRIVER_LOADEDMODEL_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Weights/CalibratedRows.h"
#include "compiler/Weights/TensorProvider.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune {

class Compilation;

/// The LLVM IR of a model's host code, as text.
struct TranslatedCode {
  std::string beforePasses, afterPasses;
};

/// A module, its context and the tensors that its weights name. The context does not use threads.
class LoadedModel {
public:
  /// Imports the model of |options| as a compilation does, up to the phase `import`.
  static Result<std::unique_ptr<LoadedModel>> import(CompileOptions options, CompileListener listener = {});
  /// Parses |options.model|, a file with the IR of any phase before `llvm`. The module keeps the target in its
  /// attributes.
  static Result<std::unique_ptr<LoadedModel>> parse(CompileOptions options, CompileListener listener = {});
  ~LoadedModel();

  mlir::ModuleOp module() const;
  /// Lowers the module of an import, phase by phase, to |last|, a phase from `dialect` to `target`. May be called again
  /// for a later phase. Not for the module of parse().
  Status lowerTo(Phase last);
  const TensorProvider &tensors() const;
  /// Returns the rows of weights that --calibrate quantizes, from a separate import of the model; none without this
  /// flag. Not for the module of parse().
  Result<std::vector<CalibratedRows>> calibrate() const;
  /// Parses another file of IR in the same context.
  Result<mlir::OwningOpRef<mlir::ModuleOp>> parseFile(const std::string &path) const;
  /// Returns the LLVM IR of the model's phase `llvm`, from a separate compilation.
  Result<std::string> compileToLLVM() const;
  /// Compiles the model to the shared object |path|, with its weights beside it. Returns the LLVM IR of the host code.
  Result<TranslatedCode> compileTo(const std::string &path) const;

private:
  LoadedModel(CompileOptions options, CompileListener listener);

  CompileOptions options;
  CompileListener listener;
  Phase phase = Phase::Import;
  std::unique_ptr<Compilation> compilation;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_LOADEDMODEL_H
