//===- EntryTables.h - Tables of a session for the calls of one entry -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_ENTRYTABLES_H
#define ATTUNE_RUNTIME_ENTRYTABLES_H

#include "attune/runtime.h"

namespace attune {

/// Arrays for calls of one entry. They are made with the session, so that a call allocates nothing.
struct EntryTables {
  int64_t *limits;     ///< [num_dims], the session's limits
  int64_t *dims;       ///< [num_dims], the values in the current call
  const void **inputs; ///< [num_inputs], the data that the current call reads: the caller's tensor, its I64
                       ///< copy in |widened|, or the default
  void **outputs;      ///< [num_outputs], the caller's data
  void **defaults;     ///< [num_inputs], each large enough for the limits; null for required inputs
  int64_t **widened;   ///< [num_inputs], memory for the I64 copy of an input that is given as I32, shared by all
                       ///< entries; null for inputs that cannot be given as I32
  // Null for a model on the CPU:
  const void **deviceInputs;              ///< [num_inputs], device addresses of the inputs
  void **deviceOutputs;                   ///< [num_outputs], device addresses of the outputs
  void **deviceDefaults;                  ///< [num_inputs], device addresses of copies of the defaults
  bool *inputsOnDevice, *outputsOnDevice; ///< [num_inputs] and [num_outputs], true for the caller's tensors in memory
                                          ///< of the device
};

/// Returns true if the elements of the default of |input| have values that do not depend on the dimensions of a call. The
/// session then writes the default once, for the largest dimensions, and all calls read a part of it.
inline bool hasConstantDefault(const attune_tensor_desc &input) {
  return input.fill == ATTUNE_FILL_ZEROS || input.fill == ATTUNE_FILL_ONES || input.fill == ATTUNE_FILL_TOKENS;
}

} // namespace attune

#endif // ATTUNE_RUNTIME_ENTRYTABLES_H
