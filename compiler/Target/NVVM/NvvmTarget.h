//===- NvvmTarget.h - Kernels on NVIDIA GPUs -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_NVVMTARGET_H
#define ATTUNE_COMPILER_TARGET_NVVM_NVVMTARGET_H

#include "compiler/Target/NVVM/GpuArchitecture.h"
#include "compiler/Target/NVVM/GpuSchedule.h"
#include "compiler/Target/Target.h"

namespace attune {

/// The target `cuda`, for a list of GPUs.
class NvvmTarget : public Target {
public:
  static constexpr llvm::StringLiteral kName = "cuda";

  static Result<std::unique_ptr<Target>> create(const TargetRequest &request, const HostMachine &host);
  static Result<std::unique_ptr<Target>> read(mlir::rt::TargetAttr attribute);

  llvm::StringRef name() const override { return kName; }
  mlir::rt::TargetAttr attribute(mlir::MLIRContext *context) const override;
  const mlir::rt::Schedule &schedule() const override { return schedules.shared; }
  llvm::StringRef defaultBackend() const override;
  std::string flags() const override;
  std::vector<std::string> programs() const override;
  Status checkEmit(EmitKind kind) const override;
  Status checkRanks(int64_t ranks) const override;
  void addBufferPasses(mlir::OpPassManager &pm, const mlir::rt::Schedule &schedule) const override;
  void addVectorPasses(mlir::OpPassManager &pm, const mlir::rt::Schedule &schedule) const override;
  void addTargetPasses(mlir::OpPassManager &pm) const override;
  Result<std::unique_ptr<TargetEmission>> createEmission(const HostMachine &host) const override;

private:
  NvvmTarget(std::vector<GpuArchitecture> gpus, mlir::xfmr::Precision precision, mlir::xfmr::WeightFormats formats,
             mlir::xfmr::Precision cachePrecision);
  /// Returns the target for the GPUs of |list|, names separated by commas. Errors about |list| begin with |place|;
  /// other errors begin with the command-line flag of the type or weight format that is not implemented.
  static Result<std::unique_ptr<Target>> create(const std::string &list, mlir::xfmr::Precision precision, mlir::xfmr::WeightFormats formats,
                                                mlir::xfmr::Precision cachePrecision, const std::string &place);

  /// The GPUs to compile for. The object always has PTX for the first of them without an ImageEmitter.
  std::vector<GpuArchitecture> gpus;
  GpuSchedules schedules;
};

/// Registers the target.
void registerNvvmTarget();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_NVVMTARGET_H
