//===- DeviceModule.h - From kernels in the nvvm dialect to PTX -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_DEVICEMODULE_H
#define ATTUNE_COMPILER_TARGET_NVVM_DEVICEMODULE_H

#include "compiler/Target/NVVM/GpuArchitecture.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <optional>

namespace attune {

/// A function of the device code. A launch identifies it by its index in the list of these functions.
struct DeviceFunction {
  std::string symbol;
  /// The name of the host function that launches it.
  std::string function;
  uint32_t sharedBytes = 0;
  /// The compute capability times 10 of the only architecture-specific image that has it (90: sm_90a); 0 if all images
  /// have it.
  uint32_t gpu = 0;
};

/// Returns the kernels of |module|, which is in the form after the phase `target`, in the order of their numbers.
std::vector<DeviceFunction> readDeviceFunctions(mlir::ModuleOp module);

/// Translates the kernels of |module|, which is in the form after the phase `target`, to unoptimized LLVM IR for NVPTX.
/// Returns null, with a diagnostic, if there are no kernels, if translation fails, or if this LLVM has no code
/// generator for NVIDIA GPUs. Shared memory is one external array of unknown size.
std::unique_ptr<llvm::Module> translateDeviceModule(mlir::ModuleOp module, llvm::LLVMContext &context);

/// Returns a copy of |module| without those of |functions| that |gpu| does not run.
std::unique_ptr<llvm::Module> selectFunctions(const llvm::Module &module, const std::vector<DeviceFunction> &functions,
                                              const GpuArchitecture &gpu);

/// Optimizes a copy of |module| and emits PTX for |gpu|. Returns an error if |module| is invalid, if this LLVM cannot
/// emit PTX, or if the PTX would call a library function, whose name is in the error.
Result<std::string> emitPtx(const llvm::Module &module, const GpuArchitecture &gpu);

/// Returns the path of NVIDIA's assembler: the value of ATTUNE_PTXAS (empty for none), or `ptxas` on the PATH or in
/// $CUDA_HOME/bin; empty if there is none.
std::string findPtxas();
/// Assembles |ptx| for |gpu| by the program |ptxas| and returns the cubin. Returns an error if the program cannot be
/// started, fails or writes nothing. If it fails, the error has the first line of the program's output.
Result<std::string> runPtxas(const std::string &ptxas, const std::string &ptx, const GpuArchitecture &gpu);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_DEVICEMODULE_H
