//===- CompileByHalide.cpp - Kernels by Halide in a compilation ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compilation.h"
#include "mlir/Pass/PassManager.h"

using namespace attune;

Status Compilation::findHalide() {
  if (options.kernels == KernelBackend::Mlir)
    return {};
  std::string flag = options.kernels == KernelBackend::Halide ? "--kernels=halide: " : "--kernels=best: ";
  if (target->machine().getTargetTriple().getArch() != llvm::Triple::x86_64)
    return Status::error(flag + "expected an x86-64 target, got '" + target->triple() + "'");
  Result<std::string> tool = findHalideTool();
  if (!tool)
    return Status::error(flag + tool.message());
  halideTool = *tool;
  return {};
}

Status Compilation::startHalide() {
  if (stopsBefore(Phase::Llvm))
    return {};
  HalideOptions how;
  how.vectorBits = target->vectorBits();
  how.tileRows = strategy().registerRows;
  how.tileColumns = strategy().panelWidth;
  how.prefetchAhead = strategy().prefetchAhead;
  how.schedule = options.schedule;
  return halide.start(halideTool, describeHalideKernels(*module), how);
}

Status Compilation::chooseKernels() {
  Result<KernelChoices> result = options.choices.empty() ? measureKernels(options) : readChoices(options.choices);
  if (!result)
    return result.status();
  choices = std::move(*result);
  times.finish("choosing kernels", /*counted=*/false);
  return {};
}

Status Compilation::runPhaseByHalide(Phase phase) {
  if (phase == Phase::Linalg)
    byHalide = module->clone();
  if (phase != Phase::Tiled && phase != Phase::Kernels)
    return {};
  mlir::PassManager passes(&context);
  buildPhasePipeline(passes, phase, PipelineOptions{strategy(), options.dtype, KernelBackend::Halide});
  if (mlir::failed(passes.run(*byHalide)))
    return diagnostics.error("phase '" + stringifyPhase(phase).str() + "' failed");
  if (phase == Phase::Tiled)
    return {};
  Status status = applyChoices(*module, *byHalide, choices);
  byHalide = nullptr;
  return status;
}
