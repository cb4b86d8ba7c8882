//===- Descriptor.h - Reading a model descriptor --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_DESCRIPTOR_H
#define ATTUNE_RUNTIME_DESCRIPTOR_H

#include "attune/runtime.h"

namespace attune {

// Callers size arrays by ATTUNE_MAX_DIMS, so it may change only with the ABI version.
static_assert(ATTUNE_MAX_DIMS == 16 && ATTUNE_MAX_DIMS >= ATTUNE_MAX_RANK, "ATTUNE_MAX_DIMS is part of the interface");

/// Checks magic, ABI version and the properties that the runtime relies on later, such as: no name is null, no tensor
/// has more than ATTUNE_MAX_RANK dimensions, shapes refer to existing dims, dtypes and fills are known. checkRanks
/// (Ranks.h) checks num_ranks instead. Fails with INVALID_ARGUMENT if |desc| is null, else with CORRUPT or
/// INCOMPATIBLE.
attune_status checkDescriptor(const attune_model_desc *desc);

/// Finds the entry called |name| (null = the first). Fails with INVALID_ARGUMENT; the message lists the entries of the
/// model.
attune_status findEntry(const attune_model_desc &desc, const char *name, const attune_entry_desc *&out);

/// Returns the dtype of a caller's tensor as a number. The value may be no enumerator of attune_dtype; reading such a
/// value as an enumeration is undefined behavior.
inline uint32_t dtypeOf(const attune_tensor &tensor) {
  uint32_t number;
  static_assert(sizeof(number) == sizeof(tensor.dtype), "attune_dtype");
  __builtin_memcpy(&number, &tensor.dtype, sizeof(number));
  return number;
}
/// Returns the name of the dtype of a caller's tensor.
inline const char *dtypeNameOf(const attune_tensor &tensor) {
  uint32_t number = dtypeOf(tensor);
  return number <= ATTUNE_I32 ? attune_dtype_name(static_cast<attune_dtype>(number)) : "unknown";
}

/// The text of a shape, such as "[2, 128]".
struct ShapeText {
  char text[8 * 24];
};
/// Returns the sizes of a shape as text: "?" for each size if |shape| is null, "…" after ATTUNE_MAX_RANK sizes.
ShapeText formatShape(const int64_t *shape, uint32_t rank);
/// Returns the shape of |tensor|, an input or output of |entry|, as text. A dimension whose size a call decides has its
/// name: "[batch, length, 768]".
ShapeText formatSignature(const attune_entry_desc &entry, const attune_tensor_desc &tensor);

/// Sets |out| to the size in bytes of |tensor| for |dims|. Returns false if the size exceeds INT64_MAX; |out| is
/// undefined then.
bool tensorBytes(const attune_tensor_desc &tensor, const int64_t *dims, uint64_t &out);
/// Returns the size of dimension |axis| of |tensor| for |dims|.
inline int64_t tensorSize(const attune_tensor_desc &tensor, uint32_t axis, const int64_t *dims) {
  return tensor.shape[axis] < 0 ? dims[-tensor.shape[axis] - 1] : tensor.shape[axis];
}

/// Returns the sum of the dimensions "past" and "length" of |entry|; |values| has the values of its dimensions. A
/// dimension that |entry| lacks counts as 0. Returns INT64_MAX if the sum overflows.
int64_t totalLength(const attune_entry_desc &entry, const int64_t *values);

} // namespace attune

#endif // ATTUNE_RUNTIME_DESCRIPTOR_H
