//===- EntryTables.h - Tables of a session for the calls of one entry -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_ENTRYTABLES_H
#define ATTUNE_RUNTIME_ENTRYTABLES_H

#include "attune/runtime.h"

namespace attune {

/// Arrays for calls of one entry, made with the session, so that a call allocates nothing.
struct EntryTables {
  int64_t *limits;     ///< [num_dims]
  int64_t *dims;       ///< [num_dims]
  const void **inputs; ///< [num_inputs]
  void **outputs;      ///< [num_outputs]
  void **defaults;     ///< [num_inputs], null for required inputs; each large enough for the limits
  int64_t **widened;   ///< [num_inputs], room to convert I64 inputs that a call gives as I32, shared by all entries; null for others
  // For a model on a device, else null:
  const void **deviceInputs;              ///< [num_inputs], the inputs that the entry gets
  void **deviceOutputs;                   ///< [num_outputs], the outputs that the entry gets
  void **deviceDefaults;                  ///< [num_inputs], copies of the defaults
  bool *inputsOnDevice, *outputsOnDevice; ///< true for the caller's tensors in memory of the device
};

/// Returns true if |input| has a default that is the same for all dimensions, which is therefore written only once.
inline bool hasConstantDefault(const attune_tensor_desc &input) {
  return input.fill == ATTUNE_FILL_ZEROS || input.fill == ATTUNE_FILL_ONES || input.fill == ATTUNE_FILL_TOKENS;
}

} // namespace attune

#endif // ATTUNE_RUNTIME_ENTRYTABLES_H
