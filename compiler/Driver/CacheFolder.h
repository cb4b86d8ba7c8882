//===- CacheFolder.h - The folders of the compile cache ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEFOLDER_H
#define ATTUNE_COMPILER_DRIVER_CACHEFOLDER_H

#include "compiler/Support/Status.h"

#include <cstdint>
#include <vector>

namespace attune {

/// The folders of the compile cache and its size limit.
struct CacheFolders {
  /// Folders that exist and from which code may be loaded (see findCacheFolders), in order of preference.
  std::vector<std::string> readable;
  /// The folder where new entries are made: the last readable one, or "" if none can be written to.
  std::string writable;
  /// The reason why there is no writable folder, for messages; meaningful only if |writable| is "".
  std::string problem;
  /// The largest sum of the bytes of all entries.
  uint64_t maxBytes;
};

/// Finds the folder that ATTUNE_CACHE_DIR names or, if that is not set, `attune` in XDG_CACHE_HOME, else
/// `.cache/attune` in HOME, else a folder of the user in the folder for temporary files: the first one that can be
/// written to, and those before it that can only be read. Only folders are taken that belong to the user and that
/// nobody else can write to; the folder that ATTUNE_CACHE_DIR names may belong to another user and be writable by its
/// group. If |create|, creates missing folders. The size limit is that of ATTUNE_CACHE_SIZE, else 16 GiB. Fails, with
/// an error that names the variable, if ATTUNE_CACHE_SIZE is not a number of bytes, or if the folder of
/// ATTUNE_CACHE_DIR cannot be used; without |create|, that folder may be missing.
Result<CacheFolders> findCacheFolders(bool create);

/// Parses a number of bytes, to which a suffix K, M, G or T (powers of 1024) may be added.
Result<uint64_t> parseBytes(const std::string &text);
/// Formats a number of bytes: "12.3 MiB".
std::string formatBytes(uint64_t bytes);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEFOLDER_H
