//===- CachePrune.h - Entries of the cache and their removal ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H
#define ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H

#include "compiler/Driver/CacheRecord.h"

#include <ctime>
#include <map>
#include <optional>

namespace attune {

/// The sizes of files in bytes, by inode, since entries share files.
using FileSizes = std::map<uint64_t, uint64_t>;

/// An entry of the cache.
struct CachedEntry {
  std::string folder;
  /// The record; nullopt if the entry is incomplete or its record damaged.
  std::optional<CacheRecord> record;
  std::timespec lastUse = {};
  /// The sizes of the files in the folder.
  FileSizes files;

  /// Returns the sum of the sizes.
  uint64_t bytes() const;
};

/// Returns the folders of all entries in |cache|, complete or not, sorted by name.
std::vector<std::string> listEntryFolders(const std::string &cache);
/// Returns all entries of |cache| in the order of their last use, the oldest first.
std::vector<CachedEntry> listEntries(const std::string &cache);
/// Returns the bytes of all files of |entries|; a file that several entries share counts once.
uint64_t totalBytes(const std::vector<CachedEntry> &entries);

/// The result of a removal.
struct PruneResult {
  uint64_t removedEntries = 0, removedBytes = 0;
  uint64_t keptEntries = 0, keptBytes = 0;
  /// The number of entries that were not removed because a process uses them.
  uint64_t inUse = 0;
  /// Folders that could not be removed.
  std::vector<std::string> failed;
};

/// Removes entries from |cache|, the least recently used first, until the rest has at most |maxBytes| bytes. An entry
/// that a process uses stays.
PruneResult pruneCache(const std::string &cache, uint64_t maxBytes);

/// Removes from |cache| the leftovers of processes that were interrupted: entries without a record that no process
/// makes or uses, and folders `new-XXXXXX` of earlier versions. Leaves everything else in |cache| alone, and also the
/// folders `new-XXXXXX` if |cache| has anything in it but these and entries.
void removeLeftovers(const std::string &cache);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H
