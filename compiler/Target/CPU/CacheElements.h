//===- CacheElements.h - Elements of caches in vector code ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f32 and the elements of caches, which `xfmr.kv_cache_update` defines. They round by integer
// arithmetic, so that caches have the same bits on every machine: instructions that round to bf16 flush subnormal numbers
// to zero, and they exist on some machines only.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_CACHEELEMENTS_H
#define ATTUNE_COMPILER_TARGET_CPU_CACHEELEMENTS_H

#include "compiler/Target/CPU/VectorBuilder.h"

namespace attune {

/// Returns |value|, a scalar or vector of f32, bf16, f16 or i8, as f32.
mlir::Value widen(VectorBuilder &b, mlir::Value value);
/// Returns |value|, a scalar or vector of f32, rounded to |element|: f32, bf16 or f16.
mlir::Value roundTo(VectorBuilder &b, mlir::Value value, mlir::Type element);

/// The scale of quantized components and the factor by which they are multiplied before they are rounded: scalars, or
/// vectors with a lane for each key.
struct CacheScale {
  mlir::Value scale, inverse;
  mlir::Value isFinite; ///< of i1; the integers are 0 where it is false
};

/// Returns |largest|, or the magnitudes of |x| where they are larger, as the bits of f32 in i32. Compared as integers, a
/// NaN is larger than an infinity, and that larger than all numbers.
mlir::Value maxMagnitude(VectorBuilder &b, mlir::Value x, mlir::Value largest);
/// Returns the largest magnitude of row |row| of |rows|, f32 `[n, size]` with a static size, as bits in i32.
mlir::Value maxMagnitudeOfRow(VectorBuilder &b, mlir::Value rows, mlir::Value row);
/// Returns the scale of components whose largest magnitude has the bits |largest|, i32.
CacheScale getCacheScale(VectorBuilder &b, mlir::Value largest);
/// Returns |x| as integers, i8.
mlir::Value quantize(VectorBuilder &b, mlir::Value x, const CacheScale &scale);

/// Returns the indices of the scale of column |column| of the panel |panel|, `[D + 4, W]` of i8.
VectorBuilder::Values getScaleIndices(VectorBuilder &b, mlir::Value panel, mlir::Value column);

/// Loads 16 scales, or one with |count| = 1, that begin at |indices| of a buffer of i8: a vector, or a scalar.
mlir::Value loadScales(VectorBuilder &b, mlir::Value buffer, mlir::ValueRange indices, int64_t count);
/// Stores |scales|, a vector of f32 or a scalar, at |indices| of a buffer of i8.
void storeScales(VectorBuilder &b, mlir::Value scales, mlir::Value buffer, mlir::ValueRange indices);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_CACHEELEMENTS_H
