//===- CudaModel.h - A model on a GPU -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a model on its GPU that all its sessions share: the loaded image, its functions and the weights.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CUDA_CUDAMODEL_H
#define ATTUNE_RUNTIME_CUDA_CUDAMODEL_H

#include "../Device.h"
#include "Driver.h"

namespace attune::cuda {

/// Makes |context| current in the calling thread until leaveContext(), and sets |captureMode| for it. Until then the
/// thread is in the relaxed capture mode, so that allocating memory or waiting for a session's own stream does not
/// invalidate a graph that the caller captures in another stream. Fails with DEVICE_ERROR or OUT_OF_MEMORY; then
/// |context| is not current, and leaveContext() must not be called.
attune_status enterContext(const Driver &driver, Context context, int &captureMode);
/// Restores the context and the capture mode that the calling thread had before enterContext(), which has set
/// |captureMode|.
void leaveContext(const Driver &driver, int captureMode);

/// Makes a context current from enter() until the end of the scope.
class ContextScope {
public:
  ContextScope() = default;
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  /// Enters |context|, at most once in a scope. Fails as enterContext() does.
  attune_status enter(const Driver &driver, Context context);

private:
  const Driver *entered = nullptr;
  int captureMode = 0; ///< of the thread before enter(), for leaveContext()
};

/// A model with its image and weights on a GPU.
class CudaModel : public DeviceModel {
public:
  /// Implements attune_device_functions::load.
  static attune_status load(const attune_model_desc &desc, const void *weights, int ordinal, DeviceModel *&out);
  /// Implements attune_device_functions::unload. Does not free image and weights if the GPU's context cannot be
  /// entered, as when the process ends.
  static void unload(DeviceModel *model);

  const Driver *driver = nullptr;
  Context context = nullptr;
  Device device = 0;
  int ordinal = 0;
  Address weights = 0;
  Function *functions = nullptr; ///< [desc.num_functions], null for functions that the image lacks

private:
  attune_status open(const attune_model_desc &desc, const void *hostWeights, int wanted);
  attune_status loadImage(const attune_model_desc &desc);
  attune_status findFunctions(const attune_model_desc &desc);
  attune_status uploadWeights(const void *hostWeights, uint64_t bytes);
  void close();

  Module module = nullptr;
};

/// Returns the best image of |desc| for a GPU of compute capability |capability| / 10, null if none runs on this GPU.
/// From best to worst: an architecture-specific image for this capability; a cubin for it; the cubin for the highest
/// lower minor version of the same major version; the PTX for the highest capability that is not above |capability|.
const attune_gpu_image *chooseImage(const attune_model_desc &desc, uint32_t capability);

} // namespace attune::cuda

#endif // ATTUNE_RUNTIME_CUDA_CUDAMODEL_H
