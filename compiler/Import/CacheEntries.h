//===- CacheEntries.h - Entries that keep keys and values -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A model that continues sequences has, beside `forward`, entries that keep keys and values in the session: `encode`
// writes those that cross attention reads, `prefill`, `extend` and `decode` those of the sequences. Their inputs and
// outputs follow from those of `forward`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CACHEENTRIES_H
#define ATTUNE_IMPORT_CACHEENTRIES_H

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/EntryOutputs.h"

namespace attune {

struct CachingEntry {
  enum Kind {
    /// Writes the keys and values of encoder states for cross attention.
    Encode,
    /// Appends tokens; skips padding, unless positions count it. Returns outputs for the last token of each sequence.
    Prefill,
    /// Appends all tokens, also padding, whose keys are hidden. Returns outputs for each token.
    Extend,
    /// Appends one token to each sequence.
    Decode
  };
  Kind kind;
  const char *name;
  std::vector<EntryInput> inputs;
  std::vector<EntryOutput> outputs;
  /// True if the decoder has cross attention.
  bool readsSources = false;
};

/// Checks that the tokens of the decoder of |spec| attend to themselves and earlier tokens only, so that sequences can
/// be continued.
Status checkContinues(const TransformerSpec &spec);

/// Returns the entries with caches of a model whose `forward` has |inputs| and |outputs|. Fails if the model does not
/// continue sequences, or if these inputs and outputs do not allow it; the message says what would have to change.
/// Positions are counted unless the user has asked for them as an input.
Result<std::vector<CachingEntry>> planCacheEntries(const TransformerSpec &spec, const std::vector<EntryInput> &inputs,
                                                   const std::vector<EntryOutput> &outputs, bool positionsGiven, Padding padding);

} // namespace attune

#endif // ATTUNE_IMPORT_CACHEENTRIES_H
