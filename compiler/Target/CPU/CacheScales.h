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
/// Returns |scale|, whose members are scalars, with vectors of 16 equal lanes in their place.
IntegerScale broadcast(VectorBuilder &b, const IntegerScale &scale);

/// Returns the scale with which row |row| of |rows|, f32 `[n, size]` with a static size, is quantized to i8.
IntegerScale getScaleOfRow(VectorBuilder &b, mlir::Value rows, mlir::Value row);

/// Returns |count| scales, 16 or 1, that begin with the byte at |indices| of |buffer|, which is of i8 and has an f32 in
/// 4 neighboring bytes: a vector of f32, or with |count| = 1 a scalar.
mlir::Value loadScales(VectorBuilder &b, mlir::Value buffer, mlir::ValueRange indices, int64_t count);
/// Stores |scales|, a vector of f32 or a scalar, from the byte at |indices| of |buffer| on, which is of i8.
void storeScales(VectorBuilder &b, mlir::Value scales, mlir::Value buffer, mlir::ValueRange indices);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_CACHESCALES_H
