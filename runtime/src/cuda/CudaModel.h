//===- CudaModel.h - A model on a GPU --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all sessions of a model share on its GPU: the loaded image, its functions and the weights.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CUDA_CUDAMODEL_H
#define ATTUNE_RUNTIME_CUDA_CUDAMODEL_H

#include "Driver.h"

#include <pthread.h>

struct attune_model;

namespace attune::cuda {

/// Makes a context the calling thread's current one from enter() until the end of the scope. Meanwhile the calling thread is in the relaxed
/// capture mode: taking memory or waiting for a session's own stream does not break a graph that the caller captures in another stream.
class ContextScope {
public:
  ContextScope() = default;
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  /// Enters |context|, once in a scope. Fails with DEVICE_ERROR or OUT_OF_MEMORY; then nothing may be asked of the GPU.
  attune_status enter(const Driver &driver, Context context);

private:
  const Driver *entered = nullptr;
  int captureMode = captureModeRelaxed; ///< the caller's
};

/// Nothing of it is there before the first session asks for it: a model can be opened and inspected without a GPU.
class CudaModel {
public:
  /// Loads |model| unless it is loaded: finds GPU number |ordinal|, chooses an image, uploads the weights. Fails with INCOMPATIBLE,
  /// INVALID_ARGUMENT, OUT_OF_MEMORY or DEVICE_ERROR, and may then be tried again.
  attune_status load(const attune_model &model, int ordinal);
  /// Gives back the image and the weights; keeps them if the GPU's context cannot be entered, as when the process ends.
  void unload();

  const Driver *driver = nullptr;
  Context context = nullptr;
  Device device = 0;
  int ordinal = 0;
  int multiprocessors = 0;
  uint32_t arch = 0; ///< attune_host::arch of the image
  Address weights = 0;
  Function *functions = nullptr; ///< [desc.num_functions], null where the image lacks one

private:
  attune_status loadOnce(const attune_model &model, int ordinal);
  attune_status loadImage(const attune_model_desc &desc);
  attune_status findFunctions(const attune_model_desc &desc);
  attune_status uploadWeights(const attune_model &model);

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  bool isLoaded = false;
  Module module = nullptr;
};

/// The best of |desc|'s images for a GPU of compute capability |capability| / 10, null if none fits: the one made for it alone, a cubin for
/// it, the cubin for the highest lower minor version of its major one, the highest PTX it understands.
const attune_gpu_image *chooseImage(const attune_model_desc &desc, uint32_t capability);

} // namespace attune::cuda

#endif // ATTUNE_RUNTIME_CUDA_CUDAMODEL_H
