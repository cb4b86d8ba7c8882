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
/// Name under which profiles list the launches of functions that are no kernels of the model.
inline constexpr llvm::StringLiteral kOtherKernel = "other";

/// Lowers kernels to the llvm and nvvm dialects and the host that launches them to the llvm dialect. Registered as
/// `attune-lower-to-nvvm`.
void buildLowerToNVVMPipeline(mlir::OpPassManager &pm);
/// Registers this pipeline for attune-opt.
void registerLowerToNVVMPipeline();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PASSES_H
