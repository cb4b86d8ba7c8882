//===- Signature.h - Checking tensors against an entry --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_SIGNATURE_H
#define ATTUNE_RUNTIME_SIGNATURE_H

#include "attune/runtime.h"

namespace attune {

/// The tensors that a caller gave.
struct TensorList {
  const attune_tensor *tensors;
  size_t count;

  /// Returns the tensor called |name| or null. Names must have been checked.
  const attune_tensor *find(const char *name) const;
};

/// Checks names, dtypes, ranks, shapes and completeness of |inputs| and sets |dims| [num_dims] from their shapes; sets
/// 0 for dims whose values a session has (past and source lengths). Does not read data.
attune_status inferDims(const attune_entry_desc &entry, TensorList inputs, int64_t *dims);
/// Checks |dims| against |limits| (0 = none); |owner| ("model", "session") is the owner of the limits, for messages.
attune_status checkLimits(const attune_entry_desc &entry, const int64_t *dims, const int64_t *limits, const char *owner);
/// Checks the data pointer of an input whose shape has been checked, and, if the host can read it (|isReadable|), that
/// its ids are in range.
attune_status checkInputData(const attune_tensor_desc &desc, const attune_tensor &tensor, bool isReadable);
/// Checks names, dtypes, exact shapes, data pointers and completeness of |outputs|, and that none overlaps another or
/// one of |inputs|.
attune_status checkOutputs(const attune_entry_desc &entry, const int64_t *dims, TensorList inputs, TensorList outputs);

} // namespace attune

#endif // ATTUNE_RUNTIME_SIGNATURE_H
