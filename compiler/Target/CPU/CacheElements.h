//===- CacheElements.h - Elements of caches in vector code ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f32 and the elements of caches, which `xfmr.kv_cache_update` defines. Rounding to bf16 is integer
// arithmetic, so that caches have the same bits on every machine: instructions that round flush subnormal numbers to zero,
// and they exist on some machines only.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_CACHEELEMENTS_H
#define ATTUNE_COMPILER_TARGET_CPU_CACHEELEMENTS_H

#include "compiler/Target/CPU/IntegerScale.h"

namespace attune {

/// Returns |value|, a vector of f32, bf16, f16 or i8, as f32.
mlir::Value widen(VectorBuilder &b, mlir::Value value);
/// Returns |value|, a scalar or vector of f32, as an element of a cache of |element|: rounded to bf16 or f16, or as an
/// integer of |scale|.
mlir::Value toCacheElement(VectorBuilder &b, mlir::Value value, mlir::Type element, const IntegerScale &scale);

/// Returns the scale for row |row| of |rows|, f32 `[n, size]` with a static size.
IntegerScale getScaleOfRow(VectorBuilder &b, mlir::Value rows, mlir::Value row);

/// Returns the indices of the scale of column |column| of the panel |panel|, `[D + 4, W]` of i8.
VectorBuilder::Values getScaleIndices(VectorBuilder &b, mlir::Value panel, mlir::Value column);
/// Loads 16 scales, or one with |count| = 1, that begin at |indices| of a buffer of i8: a vector, or a scalar.
mlir::Value loadScales(VectorBuilder &b, mlir::Value buffer, mlir::ValueRange indices, int64_t count);
/// Stores |scales|, a vector of f32 or a scalar, at |indices| of a buffer of i8.
void storeScales(VectorBuilder &b, mlir::Value scales, mlir::Value buffer, mlir::ValueRange indices);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_CACHEELEMENTS_H
