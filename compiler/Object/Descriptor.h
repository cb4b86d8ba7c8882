//===- Descriptor.h - The constant that an object exports -------*- C++ -*-===//
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
  /// The bytes of the image, without the NUL that ends PTX in the object.
  std::string data;
};

/// A function that entries launch on a GPU; see attune_gpu_function.
struct GpuFunction {
  std::string symbol;
  /// The kernel that it is part of, an index in ModelSignature::kernels.
  uint32_t kernel = 0;
  uint32_t sharedBytes = 0;
};

/// The contents of the descriptor that are not part of the signature.
struct DescriptorOptions {
  /// The name of the model, a C identifier.
  std::string name;
  std::string triple, cpu, requiredFeatures;
  /// The compile flags that shaped the object, in one line.
  std::string flags;
  BuildId buildId = {};
  uint64_t weightsBytes = 0, manifestChecksum = 0;
  /// The device that runs the kernels, and for a GPU its images and functions.
  attune_device device = ATTUNE_DEVICE_CPU;
  std::vector<GpuImage> images;
  std::vector<GpuFunction> functions;
  /// True if the object also exports the alias `attune_model`.
  bool alias = false;
};

/// Adds the descriptor `attune_model_<name>`, and its alias if |options|.alias is true, to |module| and gives all other
/// definitions internal linkage. Fails if |module| lacks the definition of `attune_entry_<entry>`,
/// `attune_workspace_<entry>` or `attune_flops_<entry>` of an entry, or if an entry has more than ATTUNE_MAX_DIMS dims.
Status addDescriptor(llvm::Module &module, const ModelSignature &signature, const DescriptorOptions &options);

/// Returns the text of the C header of an object.
std::string createHeader(const ModelSignature &signature, const DescriptorOptions &options);

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_DESCRIPTOR_H
