//===- DeviceModel.h - A model on a GPU --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all sessions of a model share on its GPU: the loaded image, its functions and the weights.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CUDA_DEVICEMODEL_H
#define ATTUNE_RUNTIME_CUDA_DEVICEMODEL_H

#include "Driver.h"

#include <pthread.h>

struct attune_model;

namespace attune::cuda {

/// Makes |context| the calling thread's while it lives.
class ContextScope {
public:
  ContextScope(const Driver &driver, Context context) : driver(driver), isPushed(driver.contextPush(context) == success) {}
  ~ContextScope() {
    Context ignored;
    if (isPushed)
      driver.contextPop(&ignored);
  }
  ContextScope(const ContextScope &) = delete;

private:
  const Driver &driver;
  bool isPushed;
};

/// Nothing of it is there before the first session asks for it: a model can be opened and inspected without a GPU.
class DeviceModel {
public:
  /// Loads |model| unless it is loaded: finds GPU number |ordinal|, chooses an image, uploads the weights. Fails with INCOMPATIBLE,
  /// INVALID_ARGUMENT, OUT_OF_MEMORY or DEVICE_ERROR, and may then be tried again.
  attune_status load(const attune_model &model, int ordinal);
  /// Gives back what is on the GPU.
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

#endif // ATTUNE_RUNTIME_CUDA_DEVICEMODEL_H
