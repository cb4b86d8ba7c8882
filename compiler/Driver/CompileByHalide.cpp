//===- CompileByHalide.cpp - Kernels by Halide in a compilation ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compilation.h"

using namespace attune;

Status Compilation::findHalide() {
  if (options.kernels == KernelBackend::Mlir)
    return {};
  if (target->machine().getTargetTriple().getArch() != llvm::Triple::x86_64)
    return Status::error("--kernels=halide: expected an x86-64 target, got '" + target->triple() + "'");
  Result<std::string> tool = findHalideTool();
  if (!tool)
    return Status::error("--kernels=halide: " + tool.message());
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
