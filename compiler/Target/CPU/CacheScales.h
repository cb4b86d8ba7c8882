//===- CacheScales.h - Scales of cached i8 in vector code -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_CACHESCALES_H
#define ATTUNE_COMPILER_TARGET_CPU_CACHESCALES_H

#include "compiler/Target/CPU/VectorBuilder.h"
#include "compiler/Transforms/CacheElements.h"

namespace attune {

/// Returns the largest of the 16 lanes of |largest|, which are i32.
mlir::Value maxOfLanes(VectorBuilder &b, mlir::Value largest);
/// Returns |scale|, whose members are scalars, with each member broadcast to a vector of 16 lanes.
IntegerScale broadcast(VectorBuilder &b, const IntegerScale &scale);

/// Returns the scale with which row |row| of |rows| is quantized to i8. |rows| is f32 `[n, size]` with a static `size`.
IntegerScale getScaleOfRow(VectorBuilder &b, mlir::Value rows, mlir::Value row);

/// Returns |count| scales, 16 or 1, as a vector of f32, or as a scalar if |count| is 1. |buffer| is of i8; the scales
/// are in 4 bytes each, one after the other, from the byte at |indices| on.
mlir::Value loadScales(VectorBuilder &b, mlir::Value buffer, mlir::ValueRange indices, int64_t count);
/// Stores |scales|, a vector of f32 or a scalar, in |buffer|, which is of i8, from the byte at |indices| on.
void storeScales(VectorBuilder &b, mlir::Value scales, mlir::Value buffer, mlir::ValueRange indices);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_CACHESCALES_H
