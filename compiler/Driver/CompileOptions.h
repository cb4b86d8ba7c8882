//===- CompileOptions.h - What a compilation is asked for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_COMPILEOPTIONS_H
#define ATTUNE_COMPILER_DRIVER_COMPILEOPTIONS_H

#include "compiler/Import/ImportModel.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/Target.h"

#include <functional>
#include <optional>

namespace attune {

class WeightsStore;

/// Everything that decides what is written, and where.
struct CompileOptions {
  /// A model folder, or a .mlir file in the dialect.
  std::string model;
  /// Where the tensors of a .mlir model are: a safetensors file or a folder.
  std::string weights;
  /// The output file; the header and the weights file go beside it. Required unless compileTo stops early, when it is empty for standard
  /// output.
  std::string output;
  EmitKind emit = EmitKind::Object;
  /// The model's C identifier; the stem of |output| if empty.
  std::string name;
  /// As HostMachine::create takes it: empty for this machine's, or the least of another architecture.
  std::string cpu;
  /// Empty for this machine.
  std::string triple;
  /// What kernels run on.
  TargetRequest target;
  Padding padding = Padding::Compute;
  /// Empty for the family's defaults.
  std::vector<InputRequest> inputs;
  std::vector<std::string> outputs;
  /// Groups computed beside the main outputs; only if |outputs| is empty.
  std::vector<std::string> extraOutputs;
  /// The entries that will be called; all if empty.
  std::vector<std::string> entries;
  std::map<std::string, int64_t> limits;
  /// Heads to remove, "0:1;1:0,2" (layer:heads).
  std::string pruneHeads;
  /// Prints the IR this phase leaves instead of emitting.
  std::optional<Phase> compileTo;
  /// Folder for the IR of every phase; empty for none.
  std::string dumpStages;
  /// Provides the packed weights in the place of a weights file of the object's own; null for none. Not owned.
  WeightsStore *weightsStore = nullptr;
};

/// What a compilation tells while it runs; all may be empty.
struct CompileListener {
  std::function<void(const std::string &message)> warning;
  /// Says what is being done when that takes a while.
  std::function<void(const std::string &message)> notice;
  /// Says that another process is waited for.
  std::function<void(const std::string &message)> waiting;
  /// Called when the model was read and found good.
  std::function<void()> imported;
  std::function<void(uint64_t done, uint64_t total)> packing;
  /// Called once at the end, with a table of phases.
  std::function<void(const std::string &report)> timeReport;
};

/// Returns the flags of |options| that shape the object for |target|, as one line: equal lines for equal models give equal objects.
std::string formatFlags(const CompileOptions &options, const Target &target);
/// |text| as a C identifier.
std::string toIdentifier(llvm::StringRef text);
/// The name the model gets: --name, or the stem of the output. An error if --name is not a C identifier.
Result<std::string> getModelName(const CompileOptions &options);
/// Returns an error that names the flag if flags do not go together.
Status checkFlags(const CompileOptions &options);

/// Compiles a model. Writes all files or none. Errors are one line, and name the phase if they come from the compiler itself.
Status compileModel(const CompileOptions &options, const CompileListener &listener = {});

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_COMPILEOPTIONS_H
