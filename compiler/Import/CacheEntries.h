//===- CacheEntries.h - Entries that keep keys and values -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A model that continues sequences has, beside `forward`, entries that keep keys and values in the session: `encode`
// writes the keys and values that cross attention reads; `prefill`, `extend` and `decode` append those of
// self-attention. The inputs and outputs of these entries follow from those of `forward`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CACHEENTRIES_H
#define ATTUNE_IMPORT_CACHEENTRIES_H

#include "compiler/Import/EntryInputs.h"
#include "compiler/Import/EntryOutputs.h"

namespace attune {

/// An entry that keeps keys and values.
struct CachingEntry {
  enum Kind {
    /// Writes the keys and values of encoder states for cross attention.
    Encode,
    /// Appends tokens to each sequence; skips padding, unless padding counts in the positions of later tokens
    /// (StackSpec::countsPadding). Returns outputs for the last appended token of each sequence.
    Prefill,
    /// Appends all tokens, padding included, and hides the keys of padding. Returns outputs for each token.
    Extend,
    /// Appends one token to each sequence. Returns outputs for this token.
    Decode
  };
  Kind kind;
  const char *name;
  std::vector<EntryInput> inputs;
  std::vector<EntryOutput> outputs;
  /// True if the decoder has cross attention to the result of an encoder or to encoder states that are an input.
  bool readsSources = false;
};

/// Checks that |spec| has a decoder with caches in which a token attends only to itself and to earlier tokens, so that
/// sequences can be continued. Fails also if the inputs have choices (TransformerSpec::choices), if only some layers of
/// the decoder have cross attention, or if cross attention computes its queries from the encoder states.
Status checkContinues(const TransformerSpec &spec);

/// Returns the entries with caches of a model whose `forward` has |inputs| and |outputs|. `encode` is among them only
/// if the decoder has cross attention to encoder states; it has no outputs, and |padding| applies to it. The outputs of
/// the other entries are those main outputs of the decoder in |outputs| that have a row of features for each token. If
/// |positionsGiven| is false, these entries count positions themselves and have no input of positions, even if |inputs|
/// has one. Fails if the model does not continue sequences (checkContinues), or if |inputs| or |outputs| do not allow
/// it; the message says why.
Result<std::vector<CachingEntry>> planCacheEntries(const TransformerSpec &spec, const std::vector<EntryInput> &inputs,
                                                   const std::vector<EntryOutput> &outputs, bool positionsGiven, Padding padding);

} // namespace attune

#endif // ATTUNE_IMPORT_CACHEENTRIES_H
