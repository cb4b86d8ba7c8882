//===- CpuEmission.h - Kernels beside the host module ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_CPUEMISSION_H
#define ATTUNE_COMPILER_TARGET_CPU_CPUEMISSION_H

#include "compiler/Target/Target.h"

namespace attune {

/// The code generation of one module for CPUs. Kernels of our own passes are part of the host module; the kernels of a
/// backend are linked to it.
class CpuEmission : public TargetEmission {
public:
  /// |backend| is the emission of the kernel backend; null if our own passes compile all kernels.
  explicit CpuEmission(std::unique_ptr<TargetEmission> backend = nullptr) : backend(std::move(backend)) {}

  Status start(mlir::ModuleOp module) override { return backend ? backend->start(module) : Status(); }
  Status takeKernels(mlir::ModuleOp module) override { return backend ? backend->takeKernels(module) : Status(); }
  llvm::StringRef stepName() const override { return backend ? backend->stepName() : ""; }
  Status linkHost(llvm::Module &host) override { return backend ? backend->linkHost(host) : Status(); }
  std::string hostFeatures(const llvm::Module &host) const override;

private:
  std::unique_ptr<TargetEmission> backend;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_CPUEMISSION_H
