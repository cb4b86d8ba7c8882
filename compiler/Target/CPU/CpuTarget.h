//===- CpuTarget.h - Kernels on the CPU of the host ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_CPUTARGET_H
#define ATTUNE_COMPILER_TARGET_CPU_CPUTARGET_H

#include "compiler/Target/CPU/CpuSchedule.h"
#include "compiler/Target/KernelBackend.h"

namespace attune {

/// The target `cpu`. Our own passes compile the kernels; a kernel backend may compile some of them instead.
class CpuTarget : public Target {
public:
  static constexpr llvm::StringLiteral kName = "cpu";

  static Result<std::unique_ptr<Target>> create(const TargetRequest &request, const HostMachine &host);
  static Result<std::unique_ptr<Target>> read(mlir::rt::TargetAttr attribute);

  llvm::StringRef name() const override { return kName; }
  mlir::rt::TargetAttr attribute(mlir::MLIRContext *context) const override;
  const mlir::rt::Schedule &schedule() const override { return shared; }
  bool readsPackedRows() const override { return true; }
  llvm::StringRef defaultBackend() const override { return kOwnKernels; }
  std::string flags() const override;
  std::vector<std::string> programs() const override;
  void addKernelPasses(mlir::OpPassManager &pm) const override;
  void addBufferPasses(mlir::OpPassManager &pm, const mlir::rt::Schedule &schedule) const override;
  void addVectorPasses(mlir::OpPassManager &pm, const mlir::rt::Schedule &schedule) const override;
  void addTargetPasses(mlir::OpPassManager &pm) const override;
  Result<std::unique_ptr<TargetEmission>> createEmission(const HostMachine &host) const override;

private:
  CpuTarget(CpuFeatures features, mlir::xfmr::Precision precision, mlir::xfmr::WeightFormats formats, mlir::xfmr::Precision cachePrecision,
            std::unique_ptr<KernelBackend> backend);

  CpuFeatures features;
  /// The kernel backend; null if our own passes compile all kernels.
  std::unique_ptr<KernelBackend> backend;
  mlir::rt::Schedule shared;
  CpuSchedule own;
  /// LLVM's name of the CPU, and the target triple; empty if a module's attribute gives only the features.
  std::string cpu, triple;
};

/// Adds the target `cpu` to those of this build (see registerTarget).
void registerCpuTarget();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_CPUTARGET_H
