//===- Cache.h - Compiled models kept between runs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on a model that is not compiled yet compile it into the user's cache:
//
//     CacheFolder    the cache: where it is and how large it may grow
//     CacheKey       the name of an entry: a hash of everything that the result depends on
//     CacheEntry     the folder of an entry, its locks between processes, its removal
//     CacheRecord    the text file in an entry that lists its files with sizes and checksums
//     CacheWeights   packed weights, shared by entries where they are identical
//     CachePrune     all entries: their list, the removal of old entries and of the leftovers of dead processes
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHE_H
#define ATTUNE_COMPILER_DRIVER_CACHE_H

#include "compiler/Driver/CompileOptions.h"

#include <memory>

namespace attune {

/// A compiled model in the cache.
struct CachedModel {
  /// The path of the shared object; its weights are beside it.
  std::string object;
  /// Keeps the files from being removed as long as this pointer lives.
  std::shared_ptr<void> use;
};

/// Returns the model for |options|, compiled now if it is not in the cache or if its files there are damaged. Ignores
/// output, emit, compileTo, dumpPhases and weightsStore of |options|. Each time, compares the sizes and checksums of
/// all files with the record of the entry; the checksums leave out the data of the weights. If another process compiles
/// the same model, waits for it until |listener| asks to stop. Fails if the model is a special file, if it must be
/// compiled and no cache folder can be written to, or if the compilation fails.
Result<CachedModel> compileCached(const CompileOptions &options, const CompileListener &listener = {});

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHE_H
