//===- StepCall.h - Sequences fed through the caches in chunks ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `run --steps` and incremental cases: the tokens of a batch in chunks of given sizes, each with the keys and values kept so
// far. Chunks go through the entry `extend`; a chunk of one token through `decode` where that has all inputs that are given.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_STEPCALL_H
#define ATTUNE_COMPILER_TOOLS_STEPCALL_H

#include "compiler/Tools/EntryCall.h"

namespace attune {

/// The inputs of a call in chunks.
struct StepRequest {
  std::vector<TensorView> inputs;
  /// Sizes of the chunks, which together are the tokens of the inputs; none = all tokens at once.
  std::vector<int64_t> steps;
  /// Names or groups to give out: outputs of the chunks, joined along the length, and `past_key_values`; empty = the outputs.
  std::vector<std::string> wanted;
  int64_t threads = 0;
};

/// Returns true if |name| is the group `past_key_values` or one of it.
bool isPastKeyValue(const std::string &name);

/// Returns true if |inputs| have keys and values of earlier tokens, which must go through the caches because `forward` was not
/// compiled to take.
bool beginsInCaches(const Artefact &artefact, const std::vector<TensorView> &inputs);

/// Returns the entries that runSteps calls.
std::vector<std::string> stepEntries();

/// Feeds all chunks. Inputs called `past_key_values.LAYER.K` are the initial contents of the caches; an `attention_mask` then has columns
/// for them.
Result<std::vector<OwnedTensor>> runSteps(const Artefact &artefact, const StepRequest &request);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_STEPCALL_H
