//===- CachePrune.cpp - The entries of the cache, and their removal -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CachePrune.h"
#include "compiler/Driver/CacheEntry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace attune;

/// Returns the names of the files and folders in |folder|, sorted.
static std::vector<std::string> listNames(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error, /*follow_symlinks=*/false), end; it != end && !error; it.increment(error))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  llvm::sort(names);
  return names;
}

/// Returns true if |name| has the form of a hashText result.
static bool isKey(llvm::StringRef name) {
  return name.size() == 32 && llvm::all_of(name, [](char c) { return llvm::isDigit(c) || (c >= 'a' && c <= 'f'); });
}

/// Returns true if |name| has the form that earlier versions used for the folder of an unfinished compilation.
static bool isUnfinished(llvm::StringRef name) {
  return name.consume_front("new-") && name.size() == 6 && llvm::all_of(name, llvm::isAlnum);
}

std::vector<std::string> attune::listEntryFolders(const std::string &cache) {
  std::vector<std::string> folders;
  for (const std::string &name : listNames(cache))
    if (std::string path = cache + "/" + name; isKey(name) && CacheEntry::isEntry(path))
      folders.push_back(path);
  return folders;
}

uint64_t CachedEntry::bytes() const {
  uint64_t sum = 0;
  for (const auto &[inode, size] : files)
    sum += size;
  return sum;
}

std::vector<CachedEntry> attune::listEntries(const std::string &cache) {
  std::vector<CachedEntry> entries;
  for (const std::string &folder : listEntryFolders(cache)) {
    CachedEntry entry;
    entry.folder = folder;
    if (Result<CacheRecord> record = CacheRecord::read(folder))
      entry.record = std::move(*record);
    struct stat info;
    if (::stat(CacheEntry::lockFile(folder).c_str(), &info) == 0)
      entry.lastUse = info.st_mtim;
    for (const std::string &name : listNames(folder))
      if (::lstat((folder + "/" + name).c_str(), &info) == 0)
        entry.files[info.st_ino] = info.st_size;
    entries.push_back(std::move(entry));
  }
  auto time = [](const CachedEntry &entry) { return std::pair(entry.lastUse.tv_sec, entry.lastUse.tv_nsec); };
  llvm::sort(entries,
             [&](const CachedEntry &a, const CachedEntry &b) { return std::tuple(time(a), a.folder) < std::tuple(time(b), b.folder); });
  return entries;
}

uint64_t attune::totalBytes(const std::vector<CachedEntry> &entries) {
  CachedEntry all;
  for (const CachedEntry &entry : entries)
    all.files.insert(entry.files.begin(), entry.files.end());
  return all.bytes();
}

PruneResult attune::pruneCache(const std::string &cache, uint64_t maxBytes) {
  std::vector<CachedEntry> entries = listEntries(cache);
  std::map<uint64_t, unsigned> numEntries;
  for (const CachedEntry &entry : entries)
    for (const auto &[inode, size] : entry.files)
      ++numEntries[inode];
  PruneResult result;
  result.keptEntries = entries.size();
  result.keptBytes = totalBytes(entries);
  for (const CachedEntry &entry : entries) {
    if (result.keptBytes <= maxBytes)
      break;
    CacheEntry::Removal removal = CacheEntry::remove(entry.folder);
    if (removal == CacheEntry::Removal::InUse)
      ++result.inUse;
    if (removal == CacheEntry::Removal::Failed)
      result.failed.push_back(entry.folder);
    if (removal != CacheEntry::Removal::Removed)
      continue;
    ++result.removedEntries;
    --result.keptEntries;
    for (const auto &[inode, size] : entry.files)
      if (--numEntries[inode] == 0) {
        result.removedBytes += size;
        result.keptBytes -= size;
      }
  }
  return result;
}

void attune::removeLeftovers(const std::string &cache) {
  std::vector<std::string> names = listNames(cache);
  for (const std::string &folder : listEntryFolders(cache))
    if (::access((folder + "/" + CacheRecord::kFileName).c_str(), F_OK) != 0)
      (void)CacheEntry::remove(folder);
  // If there are other names, the folder may be one of the user with files that only look like leftovers.
  if (llvm::all_of(names, [](const std::string &name) { return isKey(name) || isUnfinished(name); }))
    for (const std::string &name : names)
      if (isUnfinished(name) && !llvm::sys::fs::is_symlink_file(cache + "/" + name))
        llvm::sys::fs::remove_directories(cache + "/" + name);
}
