//===- CacheWeights.cpp - Packed weights in the cache ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CacheWeights.h"
#include "compiler/Driver/CachePrune.h"
#include "compiler/Support/SystemError.h"
#include "llvm/ADT/STLExtras.h"

#include <cerrno>
#include <fcntl.h>
#include <set>
#include <unistd.h>

using namespace attune;

/// Returns true if the manifest |stored| lists all tensors of |wanted|, with the same sources, layouts and offsets.
static bool holdsTensors(const Json &stored, const Json &wanted) {
  const Json *all = findJson(stored, "tensors"), *list = findJson(wanted, "tensors");
  if (!all || !list)
    return false;
  std::set<std::string> known;
  for (const Json &tensor : *all)
    known.insert(tensor.dump());
  return llvm::all_of(*list, [&](const Json &tensor) { return known.count(tensor.dump()) != 0; });
}

std::optional<PackingResult> CacheWeights::findIn(const std::string &other, const CacheRecord &record, const Json &layout) const {
  const CachedFile *file = record.tensorsKey == tensorsKey ? record.weights() : nullptr;
  if (!file || verifyCachedFile(other, *file).failed())
    return std::nullopt;
  Result<PackingResult> packed = readPackedWeights(other + "/" + file->name);
  Result<Json> manifest = packed ? parseJson(packed->manifest, file->name) : Result<Json>(packed.status());
  if (!manifest || !holdsTensors(*manifest, layout))
    return std::nullopt;
  return std::move(*packed);
}

std::optional<PackingResult> CacheWeights::linkExisting(const Json &layout) const {
  const std::string path = folder + "/" + name;
  if (previous && previous->weights()->name == name)
    if (std::optional<PackingResult> packed = findIn(folder, *previous, layout))
      return packed;
  ::unlink(path.c_str());
  for (const std::string &other : listEntryFolders(cache)) {
    Result<CacheRecord> record = CacheRecord::read(other);
    std::optional<PackingResult> packed = record ? findIn(other, *record, layout) : std::nullopt;
    if (packed && ::link((other + "/" + record->weights()->name).c_str(), path.c_str()) == 0)
      return packed;
  }
  return std::nullopt;
}

/// Waits until the data of |path| are on the disk. Unlike everything else in an entry, they are not verified when the
/// entry is opened.
static Status syncFile(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool failed = fd < 0 || (::fdatasync(fd) != 0 && errno != EINVAL && errno != EROFS);
  Status status = failed ? systemError(path, "write") : Status();
  if (fd >= 0)
    ::close(fd);
  return status;
}

Result<PackingResult> CacheWeights::provide(const std::string &layout, llvm::function_ref<Result<PackingResult>(OutputFile &)> pack) {
  const std::string path = folder + "/" + name;
  Result<Json> wanted = parseJson(layout, "layout");
  if (!wanted)
    return wanted.status();
  if (std::optional<PackingResult> packed = linkExisting(*wanted))
    return std::move(*packed);
  Result<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.status();
  Result<PackingResult> packed = pack(*file);
  if (!packed)
    return packed;
  if (Status status = writeWeightsHeader(*packed, kSharedBuildId, *file); status.failed())
    return status;
  if (Status status = file->commit(); status.failed())
    return status;
  if (Status status = syncFile(path); status.failed())
    return status;
  return packed;
}
