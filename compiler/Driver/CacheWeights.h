//===- CacheWeights.h - Packed weights in the cache -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries whose packed weights are identical have one file with several names (hard links). It goes when the last of these entries goes, so
// nothing has to count them.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_CACHEWEIGHTS_H
#define ATTUNE_COMPILER_DRIVER_CACHEWEIGHTS_H

#include "compiler/Driver/CacheRecord.h"
#include "compiler/Driver/WeightsStore.h"

#include <optional>

namespace attune {

/// The weights of one entry that is being made.
class CacheWeights : public WeightsStore {
public:
  /// |tensors| describes where the values come from (see CacheKey). The file is |name| in |folder|, a folder of |cache|. |previous| is the
  /// record of an entry that was damaged and whose weights file is intact and still in |folder|.
  CacheWeights(std::string cache, std::string folder, std::string name, std::string tensors, std::optional<CacheRecord> previous)
      : cache(std::move(cache)), folder(std::move(folder)), name(std::move(name)), tensors(std::move(tensors)),
        previous(std::move(previous)) {}

  Result<PackingResult> provide(const std::string &layout, llvm::function_ref<Result<PackingResult>(OutputFile &)> pack) override;

  /// The key of the weights that were provided, for the record.
  const std::string &key() const { return provided; }

private:
  /// Gives a file with the weights |provided| its name in the folder. Returns whether there was one.
  bool linkExisting() const;

  std::string cache, folder, name, tensors, provided;
  std::optional<CacheRecord> previous;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_CACHEWEIGHTS_H
