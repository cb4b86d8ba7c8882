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

/// The name of the gpu.module that has the kernels.
inline constexpr llvm::StringLiteral kDeviceModule = "attune_device";
/// The name under which profiles list the launches by functions that are no kernels of the model.
inline constexpr llvm::StringLiteral kOtherKernel = "other";

/// Adds the passes that lower kernels to the llvm and nvvm dialects, and the host code that launches them to the llvm
/// dialect.
void buildLowerToNVVMPipeline(mlir::OpPassManager &pm);
/// Registers these passes as the pipeline `attune-lower-to-nvvm` of attune-opt.
void registerLowerToNVVMPipeline();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PASSES_H
