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

  /// Returns the tensor called |name| or null. Names must have been checked.
  const attune_tensor *find(const char *name) const;
};

/// Checks names, dtypes, ranks, shapes and completeness of |inputs| and sets |dims| [num_dims] from their shapes; sets
/// dims whose values a session has (past and source lengths) to 0 unless an input has them, and a total length to the
/// sum of past and length. Does not read data. Fails with INVALID_ARGUMENT.
attune_status inferDims(const attune_entry_desc &entry, TensorList inputs, int64_t *dims);
/// Checks |dims| against |limits| (0 = none); |owner| ("model", "session") is the owner of the limits, for messages.
/// Fails with LIMIT_EXCEEDED.
attune_status checkLimits(const attune_entry_desc &entry, const int64_t *dims, const int64_t *limits, const char *owner);
/// Checks the data pointer of an input whose shape has been checked, and, if the host can read it (|isReadable|), that
/// the values of an I64 input are from 0 to desc.max_value - 1 (any if max_value is 0). Fails with INVALID_ARGUMENT.
attune_status checkInputData(const attune_tensor_desc &desc, const attune_tensor &tensor, bool isReadable);
/// Checks names, dtypes, exact shapes, data pointers and completeness of |outputs|, and that none overlaps another or
/// one of |inputs|. Fails with INVALID_ARGUMENT.
attune_status checkOutputs(const attune_entry_desc &entry, const int64_t *dims, TensorList inputs, TensorList outputs);

} // namespace attune

#endif // ATTUNE_RUNTIME_SIGNATURE_H
