//===- CacheLayout.h - Sizes in caches of keys and values -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of the layout of caches, which the description of `xfmr.kv_cache_update` defines.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_CACHELAYOUT_H
#define ATTUNE_DIALECT_XFMR_IR_CACHELAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::xfmr {

/// The number of keys in a panel of a key cache. It is the same on all machines, so that the contents of a session do
/// not depend on the schedule for which an object is compiled.
inline constexpr int64_t kCachePanelWidth = 64;
/// The size in bytes of the scale of a key or a value in a cache of i8.
inline constexpr int64_t kCacheScaleBytes = 4;

/// Returns the number of bytes that each key and each value has for its scale in a cache with elements of |type|: 0
/// unless |type| is i8.
inline int64_t getScaleBytes(Type type) { return type.isInteger(8) ? kCacheScaleBytes : 0; }
/// Returns the number of components of a key or a value: the size of dimension |dim| of |type|, without the bytes of a
/// scale if the elements are i8; kDynamic if the dimension is dynamic.
inline int64_t getHeadSize(ShapedType type, int64_t dim) {
  int64_t size = type.getDimSize(dim);
  return ShapedType::isDynamic(size) ? size : size - getScaleBytes(type.getElementType());
}

/// Returns the end of a kernel's description, which names the element type of |type|, the type of a cache: " of int8",
/// " of f16" or " of bf16"; "" for f32.
inline const char *describeCacheType(ShapedType type) {
  Type element = type.getElementType();
  return element.isF32() ? "" : element.isInteger(8) ? " of int8" : element.isF16() ? " of f16" : " of bf16";
}

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_CACHELAYOUT_H
