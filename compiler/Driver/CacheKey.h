//===- CacheKey.h - Names of compiled models in the cache -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEKEY_H
#define ATTUNE_COMPILER_DRIVER_CACHEKEY_H

#include "compiler/Driver/CompileOptions.h"

namespace attune {

/// Returns a hash of |text| as 32 hexadecimal digits.
std::string hashText(llvm::StringRef text);

/// A description of everything on which a compilation depends.
struct CacheKey {
  /// The name of the cached entry: a hash of the compiler, the model's files, the flags and the machine.
  std::string entry;
  /// The description of the compiler and of the files with the values of the tensors, and with --calibrate of all that
  /// the execution of the model depends on. This text and the layout of the weights file decide the packed weights.
  std::string tensors;
};

/// Returns the key for |options|, whose object has the file name |object|, from which the model gets its name.
///
/// Files of at most 1 MiB are recognized by their content, larger ones by size, time of the last change of content and
/// of status (nanoseconds), inode and the content of their first MiB. Symbolic links are followed. The compiler and
/// LLVM are recognized by their build ids, so that copies of one build have the same key.
CacheKey computeCacheKey(const CompileOptions &options, const std::string &object, const HostMachine &host, const Target &target);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEKEY_H
