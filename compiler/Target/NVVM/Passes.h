//===- Passes.h - Passes that make code for NVIDIA GPUs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PASSES_H
#define ATTUNE_COMPILER_TARGET_NVVM_PASSES_H

#include "compiler/Target/NVVM/GpuSchedule.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Target/NVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Target/NVVM/Passes.h.inc"

/// Name of the gpu.module of kernels.
inline constexpr llvm::StringLiteral kDeviceModule = "attune_device";
/// Name of the kernel that launches outside of kernels count for.
inline constexpr llvm::StringLiteral kOtherKernel = "other";
/// On the module: the kernels in order, each with `symbol`, `function` (the function that launches it), `shared_bytes` and, if it has
/// kGpuAttr, `gpu`.
inline constexpr llvm::StringLiteral kDeviceFunctionsAttr = "xfmr.device_functions";
/// On a parallel loop: its iterations share the work of each operation in it.
inline constexpr llvm::StringLiteral kGridAttr = "xfmr.grid";
/// On a parallel loop: bytes of shared memory of a block.
inline constexpr llvm::StringLiteral kSharedBytesAttr = "xfmr.shared_bytes";

/// On a parallel loop: the compute capability times 10 of the only GPU that has it.
inline constexpr llvm::StringLiteral kGpuAttr = "xfmr.gpu";
/// On a parallel loop over rows of packed tokens, and on an argument of its function: the buffer whose last element is the number of
/// tokens.
inline constexpr llvm::StringLiteral kLimitAttr = "xfmr.limit";
/// On a kernel: how many of its first parameters are results of `rt.tensor_map`.
inline constexpr llvm::StringLiteral kTensorMapsAttr = "xfmr.tensor_maps";
/// On a parallel loop: threads of its blocks, if not the usual number.
inline constexpr llvm::StringLiteral kThreadsAttr = "xfmr.threads";

/// Lowers kernels to the llvm and nvvm dialects and the host that launches them to the llvm dialect. Registered as
/// `attune-lower-to-nvvm`.
void buildLowerToNVVMPipeline(mlir::OpPassManager &pm);
void registerLowerToNVVMPipeline();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PASSES_H
