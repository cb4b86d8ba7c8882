//===- HalideBackend.h - Kernels by Halide ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_HALIDEBACKEND_H
#define ATTUNE_COMPILER_TARGET_HALIDE_HALIDEBACKEND_H

#include "compiler/Target/KernelBackend.h"

namespace attune {

/// The kernel backend `halide`. It describes the tasks of kernels, the iterations of their parallel loops, as text. The
/// program `attune-halide-gen` compiles the descriptions to bitcode.
class HalideBackend : public KernelBackend {
public:
  static constexpr llvm::StringLiteral kName = "halide";

  /// Returns the backend with |settings|: `schedule=auto`, the default, or `schedule=none` for kernels without a
  /// schedule, which compute one element at a time. Other settings are an error.
  static Result<std::unique_ptr<KernelBackend>> create(const std::map<std::string, std::string> &settings);

  llvm::StringRef name() const override { return kName; }
  void adjust(mlir::rt::Schedule &schedule) const override;
  std::string flags() const override;
  std::vector<std::string> programs() const override;
  void addSelectPasses(mlir::OpPassManager &pm) const override;
  void addTilePasses(mlir::OpPassManager &pm) const override;
  Result<std::unique_ptr<TargetEmission>> createEmission(const HostMachine &host, const KernelTiles &tiles) const override;

private:
  std::string schedule = "auto";
};

/// Adds the backend `halide` to those of this build (see registerKernelBackend).
void registerHalideBackend();

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_HALIDEBACKEND_H
