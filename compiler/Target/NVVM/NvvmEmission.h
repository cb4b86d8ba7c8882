//===- NvvmEmission.h - Images of kernels ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_NVVMEMISSION_H
#define ATTUNE_COMPILER_TARGET_NVVM_NVVMEMISSION_H

#include "compiler/Target/NVVM/DeviceModule.h"
#include "compiler/Target/Target.h"

namespace attune {

/// The name of the backend of all kernels of the target `cuda`.
inline constexpr llvm::StringLiteral kNvvmBackend = "nvvm";

/// Compiles kernels to images, for each GPU to PTX, a cubin or both, and adds the images to the descriptor.
class NvvmEmission : public TargetEmission {
public:
  NvvmEmission(std::vector<GpuArchitecture> gpus, const HostMachine &host) : gpus(std::move(gpus)), host(host) {}

  Status takeKernels(mlir::ModuleOp module) override;
  llvm::StringRef stepName() const override { return "device"; }
  void describe(ModelSignature &signature, DescriptorOptions &descriptor) const override;
  std::string deviceText() const override { return images.front().data; }
  void print(llvm::raw_ostream &stream) const override { device->print(stream, nullptr); }

private:
  /// Adds the images for |gpu|: a cubin, made by the assembler |ptxas|, and PTX if no earlier GPU has added PTX. Adds
  /// only PTX if |ptxas| is empty. For a GPU with an ImageEmitter, adds only the image of the emitter, whatever |ptxas|
  /// is.
  Status addImages(const GpuArchitecture &gpu, const std::string &ptxas);

  std::vector<GpuArchitecture> gpus;
  const HostMachine &host;
  // The module is declared after its context, so that the module is destroyed first.
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> device;
  std::vector<DeviceFunction> functions;
  std::vector<GpuImage> images;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_NVVMEMISSION_H
