//===- CacheElements.h - Elements of caches in memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callers see keys and values as f32. A cache holds them as f32, bf16 or f16, or as 8-bit integers with an f32 scale for
// each key and each value of a head; Caches.h shows the layout. Conversions give the bits that compiled code gives.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CACHEELEMENTS_H
#define ATTUNE_RUNTIME_CACHEELEMENTS_H

#include "attune/runtime.h"

namespace attune {

/// Returns the size in bytes of an element of |dtype|, an attune_dtype.
inline int64_t cacheElementBytes(uint32_t dtype) { return static_cast<int64_t>(attune_dtype_bytes(static_cast<attune_dtype>(dtype))); }

/// Returns the bytes that one key or one value of a head of |size| components takes in a cache of |dtype|.
inline int64_t cacheTokenBytes(uint32_t dtype, int64_t size) {
  return size * cacheElementBytes(dtype) + (dtype == ATTUNE_I8 ? static_cast<int64_t>(sizeof(float)) : 0);
}

/// Reads token |token| of one head in a slot of |cache| to |components|, cache.size floats. |head| points to the first
/// byte of that head in the slot. Expects the default floating-point environment (FpEnvironment.h).
void loadToken(const attune_cache_desc &cache, const char *head, int64_t token, float *components);
/// Writes |components|, cache.size floats, as token |token| of the head at |head|, rounded or quantized to the type of
/// |cache|. Expects the default floating-point environment, too.
void storeToken(const attune_cache_desc &cache, char *head, int64_t token, const float *components);

} // namespace attune

#endif // ATTUNE_RUNTIME_CACHEELEMENTS_H
