//===- Descriptor.h - Reading a model descriptor --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_DESCRIPTOR_H
#define ATTUNE_RUNTIME_DESCRIPTOR_H

#include "attune/runtime.h"

namespace attune {

// Callers size arrays by it, so it grows with the ABI version alone.
static_assert(ATTUNE_MAX_DIMS == 16 && ATTUNE_MAX_DIMS >= ATTUNE_MAX_RANK, "ATTUNE_MAX_DIMS is part of the interface");

/// Checks magic, ABI version and everything the runtime later relies on: no null names, ranks within ATTUNE_MAX_RANK,
/// dimensions in range, known dtypes and fills. Fails with INVALID_ARGUMENT, CORRUPT or INCOMPATIBLE.
attune_status checkDescriptor(const attune_model_desc *desc);

/// Finds the entry called |name| (null = the first). Fails with INVALID_ARGUMENT, listing the entries there are.
attune_status findEntry(const attune_model_desc &desc, const char *name, const attune_entry_desc *&out);

/// Text of a shape, such as "[2, 128]".
struct ShapeText {
  char text[8 * 24];
};
/// Writes a shape as numbers; "?" if |shape| is null, "…" after ATTUNE_MAX_RANK entries.
ShapeText formatShape(const int64_t *shape, uint32_t rank);
/// Writes the shape of a signature, dimensions by name: "[batch, length, 768]".
ShapeText formatSignature(const attune_entry_desc &entry, const attune_tensor_desc &tensor);

/// Computes the number of bytes of |tensor| for |dims|; false if it overflows.
bool tensorBytes(const attune_tensor_desc &tensor, const int64_t *dims, uint64_t &out);
/// The size that |tensor| has in dimension |axis| for |dims|.
inline int64_t tensorSize(const attune_tensor_desc &tensor, uint32_t axis, const int64_t *dims) {
  return tensor.shape[axis] < 0 ? dims[-tensor.shape[axis] - 1] : tensor.shape[axis];
}

/// The sum of the dimensions "past" and "length" of |entry|, whose values are |values|.
int64_t totalLength(const attune_entry_desc &entry, const int64_t *values);

} // namespace attune

#endif // ATTUNE_RUNTIME_DESCRIPTOR_H
