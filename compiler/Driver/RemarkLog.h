//===- RemarkLog.h - The remarks of a compilation ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Passes emit remarks to the remark engine of the context (dialect/Xfmr/IR/OpRemark.h). The log keeps them, adds the
// phase and the paths of the modules of the model that a remark is about, and writes LLVM's YAML, which
// `llvm-remarkutil` and `opt-viewer` read:
//
//     --- !Missed
//     Pass:            attune-tile-groups
//     Name:            WholePanels
//     Function:        encoder_layer
//     Args:
//       - Kernel:          'linear 768 -> 100, bias'
//       - Reason:          '100 columns are not a multiple of the panel width 32: the last panel is padded by zeros'
//       - Phase:           tiled
//       - Path:            'encoder.layer.{0-11}.ffn'
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_REMARKLOG_H
#define ATTUNE_COMPILER_DRIVER_REMARKLOG_H

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Support/Status.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace attune {

/// The decision of a pass about a part of the model.
struct ModelRemark {
  enum class Kind { Passed, Missed, Analysis };
  Kind kind = Kind::Passed;
  /// The name of the pass on the command line of attune-opt, and the name of its decision.
  std::string pass, name;
  /// The function in which the pass made the decision.
  std::string function;
  /// The text of the kernel, "linear 768 -> 3072, bias"; "" if it has none yet.
  std::string kernel;
  /// The decision, or the reason against it.
  std::string text;
  std::string phase;
  /// The modules of the model, "encoder.layer.{0-11}.attention".
  std::vector<std::string> paths;
  /// The location in a file of IR; line 0 if it has none.
  std::string file;
  unsigned line = 0, column = 0;
  /// Further arguments, such as sizes in bytes.
  std::vector<std::pair<std::string, std::string>> details;
};

/// A function that implements a kernel, and the modules of the model that it computes.
struct KernelProvenance {
  std::string symbol, text;
  std::vector<std::string> paths;
};

/// Maps functions of a module to the layers that call them.
class ModelPaths {
public:
  ModelPaths() = default;
  explicit ModelPaths(mlir::ModuleOp module);

  /// Returns the paths that |location|, that of an operation in |function|, stands for, without duplicates and joined
  /// by joinNumbered.
  std::vector<std::string> resolve(llvm::StringRef function, mlir::Location location) const;
  /// Returns the paths of all operations of |function|.
  std::vector<std::string> resolveBody(mlir::FunctionOpInterface function) const;
  bool contains(llvm::StringRef function) const { return layers.count(function.str()) != 0; }

private:
  /// The paths of the layers for each function; "" stands for the model itself.
  std::map<std::string, std::vector<std::string>> layers;
};

/// Joins those of |paths| that differ only in the first part that is a number: "encoder.layer.{0-11}.attention".
/// Returns the joined paths and the others.
std::vector<std::string> joinNumbered(const std::vector<std::string> &paths);

/// The remarks of one compilation.
class RemarkLog {
public:
  /// Records the remarks of |context| from now on, unless it has a remark engine already. The log must outlive the
  /// context.
  void attach(mlir::MLIRContext &context);
  void beginPhase(mlir::ModuleOp module);
  /// Resolves the paths of the remarks since beginPhase. At the end of the phase `kernels`, also records the kernels
  /// and the modules that they compute.
  void endPhase(Phase phase, mlir::ModuleOp module);

  const std::vector<ModelRemark> &remarks() const { return all; }
  const std::vector<KernelProvenance> &kernels() const { return allKernels; }
  /// Returns the remarks as YAML.
  std::string toYaml() const;
  /// Reads YAML that toYaml returned, from the file |path|, without the locations of remarks.
  static Result<RemarkLog> read(const std::string &path);
  /// Returns the remarks that concern the kernels whose symbol or text is |kernel|, in the order of the passes: remarks
  /// that name such a kernel or are about its function, and remarks of the phases `dialect`, `linalg` and `tiled` that
  /// name no kernel and are about the modules that it computes. If there is no such kernel, fails with the symbols of
  /// all kernels.
  Result<std::vector<const ModelRemark *>> why(const std::string &kernel) const;

private:
  friend class RemarkRecorder;

  std::vector<ModelRemark> all;
  std::vector<KernelProvenance> allKernels;
  std::vector<mlir::Location> locations; // of the remarks since beginPhase
  ModelPaths before;
};

/// Returns |remark| as a line: "PHASE, PASS: KIND: NAME: TEXT", then the details and, in brackets, the paths.
std::string formatRemark(const ModelRemark &remark);
/// Returns "passed", "missed" or "analysis".
const char *stringifyKind(ModelRemark::Kind kind);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_REMARKLOG_H
