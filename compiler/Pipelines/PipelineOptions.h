//===- PipelineOptions.h - The target as the phases see it -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_PIPELINEOPTIONS_H
#define ATTUNE_COMPILER_PIPELINES_PIPELINEOPTIONS_H

#include "compiler/Pipelines/Strategy.h"
#include "dialect/Xfmr/IR/XfmrAttrs.h"

#include <optional>

namespace attune {

/// What makes the code of kernels.
enum class KernelBackend { Mlir, Halide };

/// What the phases need to know about the target.
struct PipelineOptions {
  CpuStrategy strategy = getCpuStrategy(CpuFeatures());
  /// What the inputs of projections are rounded to.
  mlir::xfmr::Precision precision = mlir::xfmr::Precision::F32;
  /// Kernels that Halide cannot make stay with MLIR.
  KernelBackend kernels = KernelBackend::Mlir;
  /// Present if kernels run on a GPU; |strategy| is its tiles then.
  std::optional<GpuStrategy> gpu = std::nullopt;
};

/// The options for kernels on a GPU.
PipelineOptions getGpuPipelineOptions(mlir::xfmr::Precision precision, llvm::ArrayRef<GpuArchitecture> gpus);

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_PIPELINEOPTIONS_H
