//===- Model.h - An opened model -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_MODEL_H
#define ATTUNE_RUNTIME_MODEL_H

#include "cuda/CudaModel.h"
#include "WeightsFile.h"

#include <atomic>

/// Immutable but for the count of its owners: the caller and each session.
struct attune_model {
  const attune_model_desc *desc;
  attune::WeightsFile weights;
  std::atomic<int64_t> references;
  int gpu;                          // number of the GPU for a model on one
  attune::cuda::CudaModel device; // loaded by the first session
};

namespace attune {

inline void retain(attune_model *model) { model->references.fetch_add(1, std::memory_order_relaxed); }
/// Unmaps and frees |model| if this was its last owner.
void release(attune_model *model);

/// Copies the |options| a caller gave over |out|, which holds the defaults. An older caller's struct is shorter; the
/// rest keeps its defaults.
attune_status copyOptions(void *out, size_t size, const void *options, const char *name);

} // namespace attune

#endif // ATTUNE_RUNTIME_MODEL_H
