//===- CacheWeights.h - Packed weights in the cache -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries share one weights file under several names (hard links) if it has the tensors that each of them reads, at the
// same offsets. This may be so for compilations that differ in inputs, entries or outputs. The file system deletes the
// file with the last of these entries.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEWEIGHTS_H
#define ATTUNE_COMPILER_DRIVER_CACHEWEIGHTS_H

#include "compiler/Driver/CacheRecord.h"
#include "compiler/Driver/WeightsStore.h"

#include <optional>

namespace attune {

/// The store from which an entry that is being made gets its weights file.
class CacheWeights : public WeightsStore {
public:
  /// |tensorsKey| is the one that the entry's record will have. The weights file is |name| in |folder|, a folder of
  /// |cache|. |previous| is the record of a damaged entry whose weights file is intact and still in |folder|; nullopt
  /// if there is none.
  CacheWeights(std::string cache, std::string folder, std::string name, std::string tensorsKey, std::optional<CacheRecord> previous)
      : cache(std::move(cache)), folder(std::move(folder)), name(std::move(name)), tensorsKey(std::move(tensorsKey)),
        previous(std::move(previous)) {}

  Result<PackingResult> provide(const std::string &layout, llvm::function_ref<Result<PackingResult>(OutputFile &)> pack) override;

private:
  /// Returns the packing result of the weights file of |record| in |other| if the record has this |tensorsKey| and the
  /// file is intact and has the tensors of |layout| at their offsets; else nullopt.
  std::optional<PackingResult> findIn(const std::string &other, const CacheRecord &record, const Json &layout) const;
  /// Looks for a weights file that findIn accepts for |layout|. Tries that of |previous| first, if it is called |name|;
  /// an accepted one stays in place. Otherwise tries those of all entries and replaces any file |name| in |folder| by a
  /// hard link to the first accepted one. Returns the packing result of the accepted file; if there is none, removes
  /// any file |name| from |folder| and returns nullopt.
  std::optional<PackingResult> linkExisting(const Json &layout) const;

  std::string cache, folder, name, tensorsKey;
  std::optional<CacheRecord> previous;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEWEIGHTS_H
