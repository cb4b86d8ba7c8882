//===- CachePrune.h - The entries of the cache, and their removal -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H
#define ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H

#include "compiler/Driver/CacheRecord.h"

#include <ctime>
#include <map>
#include <optional>

namespace attune {

/// A file of an entry by its inode, as entries share files.
using FileSizes = std::map<uint64_t, uint64_t>;

/// An entry of the cache.
struct CachedEntry {
  std::string folder;
  /// Nothing if the entry is incomplete or its record damaged.
  std::optional<CacheRecord> record;
  std::timespec lastUse = {};
  /// Bytes of its files.
  FileSizes files;

  /// Sum of the sizes.
  uint64_t bytes() const;
};

/// Returns the folders of all entries in |cache|, complete or not, sorted by name.
std::vector<std::string> listEntryFolders(const std::string &cache);
/// Returns all entries of |cache| in the order of their last use, the oldest first.
std::vector<CachedEntry> listEntries(const std::string &cache);
/// Bytes of all files of |entries|, those that several of them share once.
uint64_t totalBytes(const std::vector<CachedEntry> &entries);

/// The result of a removal.
struct PruneResult {
  uint64_t removedEntries = 0, removedBytes = 0;
  uint64_t keptEntries = 0, keptBytes = 0;
  /// Entries that would have been removed if no process used them.
  uint64_t inUse = 0;
  /// Folders that could not be removed.
  std::vector<std::string> failed;
};

/// Removes entries from |cache|, those first that were not used for longest, until the rest has at most |maxBytes| bytes; an entry that a
/// process uses stays.
PruneResult pruneCache(const std::string &cache, uint64_t maxBytes);

/// Removes from |cache| what processes left that did not come to an end: entries without a record that no process makes, and folders
/// `new-XXXXXX` of earlier versions. Nothing else in the folder is touched.
void removeLeftovers(const std::string &cache);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEPRUNE_H
