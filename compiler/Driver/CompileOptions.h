//===- CompileOptions.h - The options of a compilation ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_COMPILEOPTIONS_H
#define ATTUNE_COMPILER_DRIVER_COMPILEOPTIONS_H

#include "compiler/Import/ImportModel.h"
#include "compiler/Import/MergeAdapters.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/Target.h"

#include <functional>
#include <optional>

namespace llvm {
class Module;
} // namespace llvm

namespace attune {

class DebugInfo;
class RemarkLog;
class WeightsStore;

/// The options of a compilation: those of the import, and everything else that decides which files are written, and
/// where.
struct CompileOptions : ImportOptions {
  /// A model folder, a GGUF file, or a file with IR in the xfmr dialect (.mlir).
  std::string model;
  /// The class of transformers to compile; "" for the one that the folder's configuration names.
  std::string architecture;
  /// Adapters that are merged into the tensors of a folder.
  std::vector<AdapterRequest> adapters;
  /// The tensors of a .mlir model: a safetensors file or a folder; "" for a model that refers to no stored tensor.
  std::string weights;
  /// The output file; the header and the weights file are written beside it. Required unless compileTo stops early;
  /// empty then means standard output.
  std::string output;
  EmitKind emit = EmitKind::Object;
  /// The model's C identifier; if empty, getModelName makes it of the stem of |output|.
  std::string name;
  /// The CPU in the form that HostMachine::create takes; empty for this machine's CPU or, if |triple| has another
  /// architecture, for the least CPU of that architecture.
  std::string cpu;
  /// The triple of the CPU; empty for this machine.
  std::string triple;
  /// The target, and the flags that only the target reads, such as --dtype and --gpu.
  TargetRequest target;
  /// Output groups to compute in addition to the main outputs; ignored unless |outputs| is empty.
  std::vector<std::string> extraOutputs;
  /// Heads to remove, "0:1;1:0,2" (layer:heads, both from 0); "" for none.
  std::string pruneHeads;
  /// True if a folder without weights is compiled with generated ones. Only for compilations that end before the
  /// weights are packed.
  bool weightsOptional = false;
  /// The number of processes that run the model together; 0 for the number that the IR has, which must then be 1 if an
  /// object is emitted.
  int64_t ranks = 0;
  /// The file of texts or ids by which quantized weights are chosen; empty for none.
  std::string calibrate;
  /// The phase whose IR is written to |output|; nothing is emitted then. `object` emits the files, as nullopt does.
  std::optional<Phase> compileTo;
  /// The folder for the IR of every phase; empty for none.
  std::string dumpPhases;
  /// The file for the remarks of passes; empty for none.
  std::string remarksFile;
  /// Adds symbols and line tables that refer to the IR of the phase `vector`, which is written beside the object.
  bool debugInfo = false;
  /// The store of packed weights; null if the object gets a weights file of its own. Not owned.
  WeightsStore *weightsStore = nullptr;
};

/// The callbacks of a running compilation; each may be empty.
struct CompileListener {
  /// Returns true if the compilation is to end early. Called before each phase but `import`, between the parts of a
  /// calibration and of packing, and while the compilation waits for another process.
  std::function<bool()> stops;
  /// Returns an error if |stops| returns true.
  Status checkStop() const { return stops && stops() ? Status::error("interrupted") : Status(); }
  std::function<void(const std::string &message)> warning;
  /// Called with the description of an event or of work that takes a while, one line.
  std::function<void(const std::string &message)> notice;
  /// Called if the compilation waits for another process.
  std::function<void(const std::string &message)> waiting;
  /// Called when the model was read and is valid, unless the compilation ends with the phase `import`.
  std::function<void()> imported;
  /// Called with the number of bytes of packed weights that have been written, and their total.
  std::function<void(uint64_t done, uint64_t total)> packing;
  /// Called with the number of finished parts of a calibration, which precedes packing, and the number of all parts.
  /// Not called without --calibrate.
  std::function<void(uint64_t done, uint64_t total)> calibrating;
  /// Called once at the end of a compilation that succeeds, with a table of the times of phases.
  std::function<void(const std::string &report)> timeReport;
  /// Receives the remarks of passes if it is not null. Not owned; must outlive the compilation.
  RemarkLog *remarks = nullptr;
  /// Called before the passes of a phase run on the module.
  std::function<void(Phase phase, mlir::ModuleOp module, mlir::PassManager &passes)> beforePasses;
  /// Called with the LLVM IR of the host code, before LLVM's passes and after them.
  std::function<void(const llvm::Module &host, bool isOptimized)> translated;
  /// Called with the assembly of the host code and the lines of IR that its line tables refer to. If this is set,
  /// a compilation to the phase `llvm` prints no IR.
  std::function<void(const std::string &assembly, const DebugInfo &info)> assembled;
};

/// Returns |adapter| as a value of --adapter: FOLDER, or FOLDER:SCALE if the scale is not 1.
std::string formatAdapter(const AdapterRequest &adapter);
/// Returns as one line the flags of |options| that shape the object for |target|, except --name and --emit.
/// Compilations on one machine with the same line, input files, --name and --emit give equal objects.
std::string formatFlags(const CompileOptions &options, const Target &target);
/// Returns |text| as a C identifier, with "_" in place of other characters, before a leading digit and for "".
std::string toIdentifier(llvm::StringRef text);
/// Returns the name of the model: --name, or the stem of the output as a C identifier, or "model" without an output
/// file. Fails if --name is not a C identifier.
Result<std::string> getModelName(const CompileOptions &options);
/// Returns an error that names the flag if the extension of the output does not fit the kind of file.
Status checkFlags(const CompileOptions &options);

/// Compiles a model. Writes the object and the files beside it all together or not at all; the IR of phases that
/// --dump-phases wrote before an error stays. Errors are one line. An error of a pass names the phase or the place in
/// the IR; an error of the model, of a flag or of a file names the model, the flag or the file.
Status compileModel(const CompileOptions &options, const CompileListener &listener = {});

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_COMPILEOPTIONS_H
