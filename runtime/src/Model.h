//===- Model.h - An opened model ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_MODEL_H
#define ATTUNE_RUNTIME_MODEL_H

#include "Device.h"
#include "WeightsFile.h"

#include <atomic>
#include <pthread.h>

/// Immutable but for the count of its owners, the caller and each session, and for what the first session loads.
struct attune_model {
  const attune_model_desc *desc;
  attune::WeightsFile weights;
  std::atomic<int64_t> references;
  const attune_device_functions *device = nullptr; // null for a model on the CPU
  int ordinal;                                     // number of the device
  std::atomic<attune::DeviceModel *> onDevice{nullptr};
  pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
};

namespace attune {

inline void retain(attune_model *model) { model->references.fetch_add(1, std::memory_order_relaxed); }
/// Unmaps and frees |model| if this was its last owner.
void release(attune_model *model);
/// Loads |model| onto its device unless it is loaded or runs on the CPU. Fails as attune_device_functions::load does, and may then be
/// called again.
attune_status loadOnDevice(attune_model &model);

/// Copies the |options| a caller gave over |out|, which holds the defaults. An older caller's struct is shorter; the
/// rest keeps its defaults.
attune_status copyOptions(void *out, size_t size, const void *options, const char *name);

} // namespace attune

#endif // ATTUNE_RUNTIME_MODEL_H
