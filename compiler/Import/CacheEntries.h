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
    /// Appends tokens; skips padding, unless the model's positions count padding. Returns outputs for the last token of
    /// each sequence.
    Prefill,
    /// Appends all tokens, also padding, whose keys are hidden. Returns outputs for each token.
    Extend,
    /// Appends one token to each sequence. Returns outputs for it.
    Decode
  };
  Kind kind;
  const char *name;
  std::vector<EntryInput> inputs;
  std::vector<EntryOutput> outputs;
  /// True if the decoder has cross attention to the result of an encoder or to encoder states that are an input.
  bool readsSources = false;
};

/// Checks that |spec| has a decoder with caches whose tokens attend to themselves and earlier tokens only, so that
/// sequences can be continued. Fails also if inputs have choices, if only some layers have cross attention, or if cross
/// attention computes its queries from the encoder states.
Status checkContinues(const TransformerSpec &spec);

/// Returns the entries with caches of a model whose `forward` has |inputs| and |outputs|. `encode` returns no outputs,
/// the others those main outputs of the decoder among |outputs| that have a row of features for each token. Without
/// |positionsGiven| the decoder counts positions, even if |inputs| has some. |padding| applies to `encode`, which only
/// models with cross attention have. Fails if the model does not continue sequences, or if these inputs and outputs do
/// not allow it; the message says why.
Result<std::vector<CachingEntry>> planCacheEntries(const TransformerSpec &spec, const std::vector<EntryInput> &inputs,
                                                   const std::vector<EntryOutput> &outputs, bool positionsGiven, Padding padding);

} // namespace attune

#endif // ATTUNE_IMPORT_CACHEENTRIES_H
