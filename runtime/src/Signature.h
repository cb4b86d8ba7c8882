//===- Signature.h - Checking tensors against an entry --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_SIGNATURE_H
#define ATTUNE_RUNTIME_SIGNATURE_H

#include "attune/runtime.h"

namespace attune {

/// The inputs or the outputs that a caller gave, in any order.
struct TensorList {
  const attune_tensor *tensors;
  size_t count;

  /// Returns the tensor called |name|, or null if there is none. Every tensor of the list must have a name.
  const attune_tensor *find(const char *name) const;
};

/// Infers the dims of a call of |entry| from the shapes of |inputs|, whose data may be null, and writes them to |dims|
/// [num_dims], in the entry's order. The dims that come from the caches of a session (ATTUNE_DIM_PAST,
/// ATTUNE_DIM_SOURCE_LENGTH) get 0, and a total length gets the sum of "past" and "length". Fails with INVALID_ARGUMENT
/// for missing or unknown inputs, wrong types and wrong shapes. Does not compare sizes with limits.
attune_status inferDims(const attune_entry_desc &entry, TensorList inputs, int64_t *dims);
/// Checks |dims| [num_dims] against |limits| [num_dims] (0 = unlimited); |owner| ("model", "session") is the owner of
/// the limits, for messages. Fails with LIMIT_EXCEEDED.
attune_status checkLimits(const attune_entry_desc &entry, const int64_t *dims, const int64_t *limits, const char *owner);
/// Checks that the data of |tensor|, an input whose shape has been checked, is non-null, aligned and large enough. If
/// |isReadable| is true (the host can read the data), also checks that the values of an I64 input are from 0 to
/// desc.max_value - 1; any value is good if max_value is 0. Fails with INVALID_ARGUMENT.
attune_status checkInputData(const attune_tensor_desc &desc, const attune_tensor &tensor, bool isReadable);
/// Checks names, dtypes, exact shapes (for |dims|), data pointers and completeness of |outputs|, and that no output
/// overlaps another one or one of |inputs|, which have been checked. Fails with INVALID_ARGUMENT.
attune_status checkOutputs(const attune_entry_desc &entry, const int64_t *dims, TensorList inputs, TensorList outputs);

} // namespace attune

#endif // ATTUNE_RUNTIME_SIGNATURE_H
