//===- Cache.h - Compiled models kept between runs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `run`, `check`, `bench` and `inspect` on a model compile it into a folder of the user's cache, named by a hash of everything the result
// depends on. Folders are made complete under another name and then renamed, so processes may share the cache without locks.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHE_H
#define ATTUNE_COMPILER_DRIVER_CACHE_H

#include "compiler/Driver/CompileOptions.h"

namespace attune {

/// The path of the shared object for |options| (whose output and emit are ignored), compiled now if it is not in the cache. Weights are
/// recognised by name, size, time of change and header, not by reading them.
Result<std::string> compileCached(const CompileOptions &options, const CompileListener &listener = {});

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHE_H
