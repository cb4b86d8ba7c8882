//===- CacheLayout.h - Sizes in caches of keys and values -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout is described by `xfmr.kv_cache_update`.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_CACHELAYOUT_H
#define ATTUNE_DIALECT_XFMR_IR_CACHELAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::xfmr {

/// The number of keys of a panel of a cache, its width. It is the same on all machines, so that the contents of a
/// session do not depend on the schedule of one object.
inline constexpr int64_t kCachePanelWidth = 64;
/// The bytes of the scale of a key or a value in a cache of i8.
inline constexpr int64_t kCacheScaleBytes = 4;

/// Returns the bytes that elements of |type| need for scales beside the components of each key or value.
inline int64_t getScaleBytes(Type type) { return type.isInteger(8) ? kCacheScaleBytes : 0; }
/// Returns the components of a key or a value: dimension |dim| of |type| without the bytes of a scale.
inline int64_t getHeadSize(ShapedType type, int64_t dim) {
  int64_t size = type.getDimSize(dim);
  return ShapedType::isDynamic(size) ? size : size - getScaleBytes(type.getElementType());
}

/// Returns the type of the elements of a cache for the description of a kernel, " of bf16"; "" for f32.
inline const char *describeCacheType(ShapedType type) {
  Type element = type.getElementType();
  return element.isF32() ? "" : element.isInteger(8) ? " of int8" : element.isF16() ? " of f16" : " of bf16";
}

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_CACHELAYOUT_H
