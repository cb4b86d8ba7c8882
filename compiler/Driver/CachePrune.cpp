//===- CachePrune.cpp - Keeping the cache small ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Best effort: a file that cannot be removed is not an error of the compilation that tried.
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CachePrune.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <chrono>
#include <sys/time.h>
#include <vector>

using namespace attune;
using namespace std::chrono;

namespace {
struct CachedFolder {
  std::string path;
  llvm::sys::TimePoint<> used;
  uint64_t bytes;
};
} // namespace

void attune::touchCached(const std::string &path) { (void)utimes(path.c_str(), nullptr); }

/// Bytes of the files in |path|.
static uint64_t folderBytes(const std::string &path) {
  uint64_t bytes = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end; it != end && !error; it.increment(error))
    if (auto status = it->status())
      bytes += status->getSize();
  return bytes;
}

void attune::pruneCache(const std::string &cache, uint64_t maxBytes) {
  auto now = system_clock::now();
  std::vector<CachedFolder> folders;
  uint64_t total = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(cache, error), end; it != end && !error; it.increment(error)) {
    auto status = it->status();
    if (!status || status->type() != llvm::sys::fs::file_type::directory_file)
      continue;
    if (llvm::sys::path::filename(it->path()).starts_with("new-")) {
      if (now - status->getLastModificationTime() > hours(24))
        llvm::sys::fs::remove_directories(it->path());
      continue;
    }
    folders.push_back({it->path(), status->getLastModificationTime(), folderBytes(it->path())});
    total += folders.back().bytes;
  }
  std::sort(folders.begin(), folders.end(), [](const CachedFolder &a, const CachedFolder &b) { return a.used < b.used; });
  for (const CachedFolder &folder : folders) {
    if (total <= maxBytes || now - folder.used < hours(1))
      return;
    llvm::sys::fs::remove_directories(folder.path);
    total -= folder.bytes;
  }
}
