//===- Model.h - An opened model ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_MODEL_H
#define ATTUNE_RUNTIME_MODEL_H

#include "Device.h"
#include "WeightsFile.h"

#include <atomic>
#include <pthread.h>

/// An opened model. It is immutable except for the number of its owners (the caller and each session) and for the parts
/// that the first session loads onto a device.
struct attune_model {
  const attune_model_desc *desc;
  attune::WeightsFile weights;
  std::atomic<int64_t> references;
  const attune_device_functions *device = nullptr; // null for a model on the CPU
  int ordinal;                                     // the number of the device, attune_model_options::gpu
  attune_ranks ranks;                              // number and connections of this process; count is 1 if the model is not divided
  std::atomic<attune::DeviceModel *> onDevice{nullptr};
  pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
};

namespace attune {

inline void retain(attune_model *model) { model->references.fetch_add(1, std::memory_order_relaxed); }
/// Gives up one reference to |model|. If that was the last one, unloads the model from its device, unmaps the weights
/// and frees the model.
void release(attune_model *model);
/// Loads |model| onto its device unless it is loaded or runs on the CPU. Fails as attune_device_functions::load does;
/// the next call tries again.
attune_status loadOnDevice(attune_model &model);

/// Copies the caller's |options|, a structure that begins with its size struct_bytes, over |out|, which holds the
/// defaults and is |size| bytes long. Does nothing if |options| is null. The structure of an older caller is shorter;
/// the fields that it lacks keep their defaults. |name| is the name of the structure, for messages. Fails with
/// INVALID_ARGUMENT if struct_bytes is less than 8 or greater than |size|.
attune_status copyOptions(void *out, size_t size, const void *options, const char *name);

} // namespace attune

#endif // ATTUNE_RUNTIME_MODEL_H
