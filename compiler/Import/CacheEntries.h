//===- CacheEntries.h - Entries that keep keys and values -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Beside `forward`, a model that continues sequences has entries whose keys and values stay in the session: `encode` for the sources that
// cross attention reads, `prefill`, `extend` and `decode` for the sequences. Their inputs and outputs follow from those of `forward`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CACHEENTRIES_H
#define ATTUNE_IMPORT_CACHEENTRIES_H

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/EntryOutputs.h"

namespace attune {

struct CachingEntry {
  enum Kind {
    /// Writes the keys and values of sources.
    Encode,
    /// Appends tokens, leaving out padding unless positions count it; outputs for the last of them.
    Prefill,
    /// Appends all tokens, padding as keys that are hidden; outputs for each.
    Extend,
    /// Appends a token.
    Decode
  };
  Kind kind;
  const char *name;
  std::vector<EntryInput> inputs;
  std::vector<EntryOutput> outputs;
  /// Whether the decoder attends to sources.
  bool readsSources = false;
};

/// Checks that |spec| has a decoder that continues sequences: every token attends to itself and earlier ones.
Status checkContinues(const TransformerSpec &spec);

/// The entries with caches of a model whose `forward` has |inputs| and |outputs|, or what would have to be otherwise for it to have some:
/// it does not continue sequences, or these do not say how. Positions that the user has not asked for are counted.
Result<std::vector<CachingEntry>> planCacheEntries(const TransformerSpec &spec, const std::vector<EntryInput> &inputs,
                                                   const std::vector<EntryOutput> &outputs, bool positionsGiven, Padding padding);

} // namespace attune

#endif // ATTUNE_IMPORT_CACHEENTRIES_H
