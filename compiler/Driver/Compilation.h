//===- Compilation.h - The state of one compilation -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_COMPILATION_H
#define ATTUNE_COMPILER_DRIVER_COMPILATION_H

#include "compiler/Calibrate/Calibrator.h"
#include "compiler/Driver/CompileOptions.h"
#include "compiler/Driver/DebugInfo.h"
#include "compiler/Driver/Diagnostics.h"
#include "compiler/Driver/EmitModel.h"
#include "compiler/Driver/OutputSet.h"
#include "compiler/Driver/RemarkLog.h"
#include "compiler/Driver/TimeReport.h"

namespace attune {

/// The state of one compilation; runSteps lists its steps.
class Compilation {
public:
  Compilation(const CompileOptions &options, const CompileListener &listener)
      : options(options), listener(listener), registry(makeRegistry()), context(registry, mlir::MLIRContext::Threading::DISABLED),
        diagnostics(&context, listener.warning) {
    if (RemarkLog *log = getRemarks())
      log->attach(context);
  }

  Status run();

private:
  friend class LoadedModel;
  static mlir::DialectRegistry makeRegistry();
  Status runSteps();
  /// Checks the flags and paths, and creates the target and the output files: everything that can fail before the model
  /// is read.
  Status prepare();
  /// Runs the phase import on a folder or a file of IR.
  Status import();
  Status importFolder();
  Status parseFile();
  /// Runs a phase that is a list of passes.
  Status runPhase(Phase phase);
  Status lower();
  /// Reads the texts of --calibrate and keeps a copy of the module of the phase `dialect`, which calibration executes.
  Status prepareCalibration();
  /// Executes the kept copy on the texts of --calibrate and returns the rows of each format that it quantizes.
  Result<std::vector<CalibratedRows>> calibrate() const;
  /// Writes the weights file of each rank, or gets it from the weights store of the options. Fills |packed|.
  Status pack();
  /// Emits the files from the module of the phase target.
  Status emit();
  /// Writes the .text file if the model is a folder or a GGUF file and compileText finds contents for it.
  Status writeTextFile();

  /// Ends |phase|: records its time and, with --dump-phases, writes the text that |print| returns to a file of the
  /// folder. If the compilation ends with this phase, and the phase is not `object`, also writes the text to the output
  /// and sets |done|.
  Status finishPhase(Phase phase, llvm::function_ref<Result<std::string>()> print);
  std::string printModule();
  /// Returns the log of the listener, else that for --remarks; null if neither is given.
  RemarkLog *getRemarks() { return listener.remarks ? listener.remarks : options.remarksFile.empty() ? nullptr : &ownRemarks; }
  bool stopsBefore(Phase phase) const { return options.compileTo && *options.compileTo < phase; }

  const CompileOptions &options;
  const CompileListener &listener;
  DebugInfo debugInfo;
  /// The log for --remarks, unless the listener has a log.
  RemarkLog ownRemarks;
  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  DiagnosticCollector diagnostics;
  TimeReport times;
  std::string name;
  std::optional<HostMachine> host;
  std::unique_ptr<Target> target;
  std::unique_ptr<TargetEmission> emission;
  std::optional<OutputSet> files;
  std::unique_ptr<TensorProvider> tensors;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ModelSignature signature;
  /// The texts of --calibrate and the module that calibration executes on them.
  CalibrationText calibrationText;
  mlir::OwningOpRef<mlir::ModuleOp> calibrated;
  /// The result of packing for each rank; empty if nothing is packed.
  std::vector<PackingResult> packed;
  bool done = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_COMPILATION_H
