//===- Passes.h - Passes that make code for CPUs ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_PASSES_H
#define ATTUNE_COMPILER_TARGET_CPU_PASSES_H

#include "compiler/Target/CPU/CpuSchedule.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Target/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Target/CPU/Passes.h.inc"

/// Adds to |pm| the passes that lower functions on buffers, scalars and vectors to the llvm dialect, including
/// rt.parallel_call and the C functions of entries.
void buildLowerToLLVMPipeline(mlir::OpPassManager &pm);
/// Registers these passes for attune-opt as the pipeline `attune-lower-to-llvm`.
void registerLowerToLLVMPipeline();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_PASSES_H
