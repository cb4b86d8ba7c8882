//===- CacheElements.h - Elements of caches of keys and values --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f32 and the elements of caches; `xfmr.kv_cache_update` defines these elements. Rounding to bf16
// is integer arithmetic, so that caches have the same bits on every machine: the x86 instructions that round to bf16
// flush subnormal numbers to zero, and not every machine has such instructions.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_CACHEELEMENTS_H
#define ATTUNE_COMPILER_TRANSFORMS_CACHEELEMENTS_H

#include "compiler/Transforms/IntegerScale.h"

namespace attune {

/// Returns |value|, a scalar or vector of f32, bf16, f16 or i8, as f32. Integers are not multiplied by their scale.
mlir::Value widen(IndexBuilder &b, mlir::Value value);
/// Returns |value|, a scalar or vector of f32, as an element of a cache with elements of type |element|: unchanged for
/// f32, rounded for bf16 and f16, as an integer of |scale| for i8. |scale| is not used for other types.
mlir::Value toCacheElement(IndexBuilder &b, mlir::Value value, mlir::Type element, const IntegerScale &scale);

/// Returns the row and the column of the first byte of the scale of the key in column |column| of a panel. A panel is
/// the last two dimensions of |keys|, `[…, D + 4, W]` of i8; a scale is an f32 in 4 neighboring bytes of a row.
IndexBuilder::Values getScaleIndices(IndexBuilder &b, mlir::Value keys, mlir::Value column);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_CACHEELEMENTS_H
