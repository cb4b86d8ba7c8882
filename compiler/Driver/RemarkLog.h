//===- RemarkLog.h - The remarks of a compilation ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Passes emit remarks to the remark engine of the context (dialect/Xfmr/IR/OpRemark.h). The log keeps them. To each
// remark it adds the phase and the paths of the modules of the model that the remark is about, such as
// `encoder.layer.0.ffn`. It writes the remarks as LLVM's YAML, which `llvm-remarkutil` and `opt-viewer` read:
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

/// A remark: the decision of a pass about a part of the model.
struct ModelRemark {
  enum class Kind { Passed, Missed, Analysis };
  Kind kind = Kind::Passed;
  /// The name of the pass on the command line of attune-opt, and the name of its decision.
  std::string pass, name;
  /// The function in which the pass made the decision.
  std::string function;
  /// The text of the kernel that the remark is about, such as "linear 768 -> 3072, bias"; "" if the remark names none,
  /// for example since no kernel exists yet.
  std::string kernel;
  /// The decision or finding in words; for Kind::Missed, the reason why the pass did not make the change.
  std::string text;
  std::string phase;
  /// The paths of the modules of the model that the remark is about, such as "encoder.layer.{0-11}.attention".
  std::vector<std::string> paths;
  /// The location of the remark in a file of IR; |line| is 0 if the remark has none.
  std::string file;
  unsigned line = 0, column = 0;
  /// Further arguments of the remark as keys and values, such as sizes in bytes.
  std::vector<std::pair<std::string, std::string>> details;
};

/// A kernel: the name of its function, its text (`text` of `#tile.kernel`), and the paths of the modules of the model
/// that it computes.
struct KernelProvenance {
  std::string symbol, text;
  std::vector<std::string> paths;
};

/// The layers of the model that call each function of an MLIR module, directly or through other functions.
class ModelPaths {
public:
  ModelPaths() = default;
  explicit ModelPaths(mlir::ModuleOp module);

  /// Returns the paths of the modules of the model that |location| names, without duplicates and joined by
  /// joinNumbered. |location| is the location of an operation in |function|.
  std::vector<std::string> resolve(llvm::StringRef function, mlir::Location location) const;
  /// Returns the paths that resolve returns for the operations in |function|, without duplicates.
  std::vector<std::string> resolveBody(mlir::FunctionOpInterface function) const;
  bool contains(llvm::StringRef function) const { return layers.count(function.str()) != 0; }

private:
  /// For each function, by name, the paths of the layers that call it; "" stands for the whole model, the path of an
  /// entry.
  std::map<std::string, std::vector<std::string>> layers;
};

/// Joins paths that differ only in their first part, between dots, that is a number: "encoder.layer.0.attention" and
/// "encoder.layer.1.attention" become "encoder.layer.{0-1}.attention". Returns the joined paths and, unchanged, the
/// paths that cannot be joined.
std::vector<std::string> joinNumbered(const std::vector<std::string> &paths);

/// The remarks of one compilation.
class RemarkLog {
public:
  /// Records the remarks of |context| from now on; does nothing if |context| has a remark engine already. The log must
  /// outlive |context|.
  void attach(mlir::MLIRContext &context);
  void beginPhase(mlir::ModuleOp module);
  /// Sets the phase and the paths of the remarks that were recorded since beginPhase. At the end of the phase
  /// `kernels`, also records the kernels and the modules of the model that they compute.
  void endPhase(Phase phase, mlir::ModuleOp module);

  const std::vector<ModelRemark> &remarks() const { return all; }
  const std::vector<KernelProvenance> &kernels() const { return allKernels; }
  /// Returns the remarks as YAML.
  std::string toYaml() const;
  /// Reads the file |path|, which has the YAML that toYaml returned. Ignores the locations of remarks. Fails if the
  /// file cannot be read or is no such YAML.
  static Result<RemarkLog> read(const std::string &path);
  /// Returns the remarks that concern the kernels whose symbol or text is |kernel|, in the order in which passes
  /// emitted them. These are the remarks that name such a kernel or are about its function, and the remarks of the
  /// phases `dialect`, `linalg` and `tiled` that name no kernel and are about a module of the model that such a kernel
  /// computes. If there is no such kernel, fails with an error that lists the symbols of all kernels.
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
