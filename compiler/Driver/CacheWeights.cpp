//===- CacheWeights.cpp - Packed weights in the cache ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CacheWeights.h"
#include "compiler/Driver/CacheKey.h"
#include "compiler/Driver/CachePrune.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace attune;

bool CacheWeights::linkExisting() const {
  // The caller looked at this one.
  if (previous && previous->weightsKey == provided && previous->weights() && previous->weights()->name == name)
    return true;
  const std::string path = folder + "/" + name;
  ::unlink(path.c_str());
  for (const std::string &other : listEntryFolders(cache)) {
    Result<CacheRecord> record = CacheRecord::read(other);
    const CachedFile *file = record && record->weightsKey == provided ? record->weights() : nullptr;
    if (file && !verifyCachedFile(other, *file).failed() && ::link((other + "/" + file->name).c_str(), path.c_str()) == 0)
      return true;
  }
  return false;
}

/// Waits until the data of |path| are on the disk: they are not looked at when an entry is opened, unlike everything else in it.
static Status syncFile(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool failed = fd < 0 || (::fdatasync(fd) != 0 && errno != EINVAL && errno != EROFS);
  Status status = failed ? Status::error(path + ": cannot write: " + std::strerror(errno)) : Status();
  if (fd >= 0)
    ::close(fd);
  return status;
}

Result<PackingResult> CacheWeights::provide(const std::string &layout, llvm::function_ref<Result<PackingResult>(OutputFile &)> pack) {
  const std::string path = folder + "/" + name;
  provided = hashText(tensors + layout);
  if (linkExisting())
    return readPackedWeights(path);
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
