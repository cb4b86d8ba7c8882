//===- ElementTypes.h - Floats as elements of other types -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_ELEMENTTYPES_H
#define ATTUNE_WEIGHTS_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>

namespace attune {

/// Returns the name of the element type |type| in the manifest of a weights file, such as "bf16"; "" if weights cannot
/// have this type.
llvm::StringRef elementTypeName(mlir::Type type);

/// Returns |value| rounded to |type|, to nearest, ties to even; infinite if |value| is beyond the range of |type|.
float roundToType(mlir::FloatType type, float value);

/// Writes |count| values to |out| as elements of |type|, for which elementTypeName returns a name. Floats are rounded
/// to nearest, ties to even; for i8 and i32 the values must be integers in the range of the type.
void writeElements(mlir::Type type, const float *values, int64_t count, uint8_t *out);

} // namespace attune

#endif // ATTUNE_WEIGHTS_ELEMENTTYPES_H
