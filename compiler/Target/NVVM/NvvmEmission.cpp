//===- NvvmEmission.cpp - Images of kernels --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/NvvmEmission.h"
#include "compiler/Target/NVVM/ImageEmitter.h"
#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;

Status NvvmEmission::takeKernels(mlir::ModuleOp module) {
  functions = readDeviceFunctions(module);
  device = translateDeviceModule(module, context);
  if (!device)
    return Status::error("translation of kernels to LLVM IR failed");
  for (auto kernels : llvm::make_early_inc_range(module.getOps<mlir::gpu::GPUModuleOp>()))
    kernels.erase();
  module->removeAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName());
  std::string ptxas = findPtxas();
  for (const GpuArchitecture &gpu : gpus)
    if (Status status = addImages(gpu, ptxas); status.failed())
      return status;
  return {};
}

Status NvvmEmission::addImages(const GpuArchitecture &gpu, const std::string &ptxas) {
  auto add = [&](attune_gpu_image_kind kind, std::string data) { images.push_back({kind, gpu.number, gpu.isSpecific, std::move(data)}); };
  std::unique_ptr<llvm::Module> kernels = selectFunctions(*device, functions, gpu);
  if (gpu.emitter) {
    Result<std::string> image = gpu.emitter->emit(std::move(kernels), host);
    if (!image)
      return image.status();
    add(ATTUNE_IMAGE_CUBIN, std::move(*image));
    return {};
  }
  Result<std::string> ptx = emitPtx(*kernels, gpu);
  if (!ptx)
    return ptx.status();
  bool isFirst = llvm::none_of(images, [](const GpuImage &image) { return image.kind == ATTUNE_IMAGE_PTX; });
  if (isFirst || ptxas.empty())
    add(ATTUNE_IMAGE_PTX, *ptx);
  if (ptxas.empty())
    return {};
  Result<std::string> cubin = runPtxas(ptxas, *ptx, gpu);
  if (!cubin)
    return cubin.status();
  add(ATTUNE_IMAGE_CUBIN, std::move(*cubin));
  return {};
}

void NvvmEmission::describe(ModelSignature &signature, DescriptorOptions &descriptor) const {
  descriptor.device = ATTUNE_DEVICE_CUDA;
  descriptor.images = images;
  // Launches in functions that are no kernels of the model are listed as one kernel, kOtherKernel.
  std::optional<uint32_t> other;
  for (const DeviceFunction &function : functions) {
    auto kernel = llvm::find_if(signature.kernels, [&](const KernelSignature &known) { return known.name == function.function; });
    uint32_t number = kernel - signature.kernels.begin();
    if (kernel == signature.kernels.end()) {
      if (!other) {
        other = signature.kernels.size();
        signature.kernels.push_back({kOtherKernel.str(), kNvvmBackend.str(), "operations between kernels", ""});
      }
      number = *other;
    }
    descriptor.functions.push_back({function.symbol, number, function.sharedBytes});
  }
}
