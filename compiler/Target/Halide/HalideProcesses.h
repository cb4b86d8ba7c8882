//===- HalideProcesses.h - Processes that compile kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_HALIDEPROCESSES_H
#define ATTUNE_COMPILER_TARGET_HALIDE_HALIDEPROCESSES_H

#include "compiler/Support/MemoryFile.h"
#include "compiler/Support/Subprocess.h"
#include "compiler/Target/KernelBackend.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace attune {

/// Returns the path of `attune-halide-gen`, the program that compiles descriptions of kernels (README.md) to bitcode by
/// Halide. An error if it is not in the folder of the compiler.
Result<std::string> findHalideTool();

/// Returns the description of each kernel that a `halide.tile` of |module| names, once for each name. |module| is the
/// result of the phase `kernels`.
std::vector<std::string> describeHalideKernels(mlir::ModuleOp module);

/// The options of `attune-halide-gen`.
struct HalideOptions {
  /// The width of vectors of the CPU (256 or 512 bits), its register tiles and its prefetch distance. With |schedule|
  /// `none`, only the width of vectors is used.
  KernelTiles tiles;
  /// `auto`: attune-halide-gen schedules kernels by |tiles|. `none`: Halide compiles them as it does without a schedule.
  std::string schedule = "auto";
};

/// Processes that compile kernels to bitcode while the compiler continues.
class HalideProcesses {
public:
  HalideProcesses() = default;
  HalideProcesses(const HalideProcesses &) = delete;
  HalideProcesses &operator=(const HalideProcesses &) = delete;

  /// Starts up to four processes of the program |tool| and divides |descriptions| among them. The number of processes,
  /// and so the bitcode, does not depend on the machine.
  Status start(const std::string &tool, const std::vector<std::string> &descriptions, const HalideOptions &options);
  /// Waits for all processes and returns the bitcode of each, one module. An error if a process fails or does not end
  /// within five minutes of the wait for it.
  Result<std::vector<std::string>> finish();

private:
  /// A process and its files: descriptions, bitcode, messages.
  struct Process {
    Subprocess process;
    MemoryFile descriptions, bitcode, log;
  };
  Status startProcess(const std::string &tool, const std::string &descriptions, const HalideOptions &options);

  std::vector<Process> processes;
};

/// Adds the kernels of |bitcode| as internal functions to |model|, and defines the functions by which |model| calls
/// them. An error if |bitcode| cannot be read or linked, or if |model| calls a kernel with a wrong number of arguments.
Status linkHalideKernels(llvm::Module &model, const std::string &bitcode);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_HALIDEPROCESSES_H
