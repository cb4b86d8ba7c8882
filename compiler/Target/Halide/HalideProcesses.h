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
  /// The width of vectors of the CPU (256 or 512 bits), its register tiles and its prefetch distance. If |schedule| is
  /// `none`, attune-halide-gen uses only the width of vectors.
  KernelTiles tiles;
  /// `auto`: attune-halide-gen schedules kernels by its rules (Gen/Schedule.cpp), with the sizes in |tiles|. `none`:
  /// kernels compute one element at a time, as their descriptions define it.
  std::string schedule = "auto";
};

/// Processes that compile kernels to bitcode while the compiler continues. The destructor kills those that still run.
class HalideProcesses {
public:
  HalideProcesses() = default;
  HalideProcesses(const HalideProcesses &) = delete;
  HalideProcesses &operator=(const HalideProcesses &) = delete;

  /// Starts up to four processes of the program |tool| and divides |descriptions| among them. Their number depends only
  /// on |descriptions|, so the bitcode is the same on every machine. An error if a process cannot be started.
  Status start(const std::string &tool, const std::vector<std::string> &descriptions, const HalideOptions &options);
  /// Waits for one process after the other and returns their bitcode, an LLVM module for each process. An error if a
  /// process fails, or if it still runs five minutes after this function has begun to wait for it.
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
