//===- TargetAttributes.h - The target that a module carries ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_TARGETATTRIBUTES_H
#define ATTUNE_COMPILER_PIPELINES_TARGETATTRIBUTES_H

#include "compiler/Pipelines/PipelineOptions.h"
#include "dialect/Rt/IR/RtAttrs.h"
#include "mlir/IR/BuiltinOps.h"

namespace attune {

/// Returns `mlir` or `halide`.
llvm::StringRef stringifyKernelBackend(KernelBackend backend);

/// The attribute of a CPU with |features|. |cpu| and |triple| are LLVM's names of it, empty for none.
mlir::rt::TargetAttr getCpuTargetAttr(mlir::MLIRContext *context, const CpuFeatures &features, mlir::xfmr::Precision precision,
                                      KernelBackend kernels, llvm::StringRef cpu = "", llvm::StringRef triple = "");
/// The attribute of |gpus|.
mlir::rt::TargetAttr getGpuTargetAttr(mlir::MLIRContext *context, llvm::ArrayRef<GpuArchitecture> gpus, mlir::xfmr::Precision precision);

/// Lets |module| carry |target| and the schedule in |options|.
void setTarget(mlir::ModuleOp module, mlir::rt::TargetAttr target, const PipelineOptions &options);

/// The options that |module| carries; the defaults if it carries none. A schedule that is missing follows from the target. Fails, with an
/// error on the module, if the target names a GPU that is not known.
mlir::FailureOr<PipelineOptions> readTarget(mlir::ModuleOp module);

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_TARGETATTRIBUTES_H
