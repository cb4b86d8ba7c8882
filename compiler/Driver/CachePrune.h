//===- CachePrune.h - Keeping the cache small -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H
#define ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H

#include <cstdint>
#include <string>

namespace attune {

/// Marks the cached folder |path| as used now.
void touchCached(const std::string &path);

/// Removes from the folder |cache| what was not used for longest until the rest has at most |maxBytes| bytes. Whatever was used within the
/// last hour stays, as another process may be about to open it; folders that an interrupted compilation left are removed after a day.
void pruneCache(const std::string &cache, uint64_t maxBytes);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H
