//===- HalideProcesses.h - Processes that make kernels ---------*- C++ -*-===//
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

/// Returns the path of the program that compiles descriptions; an error if this build of the compiler has none.
Result<std::string> findHalideTool();

/// Returns the descriptions of the kernels of |module|, in the phase `kernels`.
std::vector<std::string> describeHalideKernels(mlir::ModuleOp module);

/// The options of the tool.
struct HalideOptions {
  /// The size of the CPU's vectors, 256 or 512 bits; for the schedule `auto` also register tiles and prefetch distance.
  KernelTiles tiles;
  /// `auto`, or `none` to compile kernels without a schedule.
  std::string schedule = "auto";
};

/// Processes that compile kernels to bitcode while the compiler continues.
class HalideProcesses {
public:
  HalideProcesses() = default;
  HalideProcesses(const HalideProcesses &) = delete;
  HalideProcesses &operator=(const HalideProcesses &) = delete;

  /// Starts processes of |tool| that share |descriptions|. The number of processes, and so the bitcode, does not depend
  /// on the machine.
  Status start(const std::string &tool, const std::vector<std::string> &descriptions, const HalideOptions &options);
  /// Waits for all processes and returns the bitcode of each. An error if a process fails or does not end within five
  /// minutes of the wait for it.
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
