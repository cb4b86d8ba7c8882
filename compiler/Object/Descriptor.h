//===- Descriptor.h - The constant an object exports, and its header -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_DESCRIPTOR_H
#define ATTUNE_COMPILER_OBJECT_DESCRIPTOR_H

#include "compiler/Object/DescriptorSignature.h"
#include "compiler/Weights/Packer.h"
#include "llvm/IR/Module.h"

namespace attune {

/// Code for GPUs; see attune_gpu_image.
struct GpuImage {
  attune_gpu_image_kind kind = ATTUNE_IMAGE_PTX;
  uint32_t arch = 0;
  bool archSpecific = false;
  /// Without the NUL that ends a PTX.
  std::string data;
};

/// A function of the images, see attune_gpu_function.
struct GpuFunction {
  std::string symbol;
  /// In ModelSignature::kernels.
  uint32_t kernel = 0;
  uint32_t sharedBytes = 0;
};

/// What the descriptor says beside the signature.
struct DescriptorOptions {
  /// A C identifier.
  std::string name;
  std::string triple, cpu, requiredFeatures;
  /// Compile flags that shaped the object, one line.
  std::string flags;
  BuildId buildId = {};
  uint64_t weightsBytes = 0, manifestChecksum = 0;
  /// Where the kernels run; images and functions are for a GPU only.
  attune_device device = ATTUNE_DEVICE_CPU;
  std::vector<GpuImage> images;
  std::vector<GpuFunction> functions;
  /// Export the alias `attune_model`, too.
  bool alias = false;
};

/// Adds `attune_model_<name>` to |module|, which defines `attune_entry_<entry>`, `attune_workspace_<entry>` and `attune_flops_<entry>` for
/// every entry, and makes everything else internal.
Status addDescriptor(llvm::Module &module, const ModelSignature &signature, const DescriptorOptions &options);

/// The C header of an object.
std::string createHeader(const ModelSignature &signature, const DescriptorOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_DESCRIPTOR_H
