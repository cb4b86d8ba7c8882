//===- StepCall.h - Sequences fed through the caches in chunks ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements `run --steps` and incremental cases: processes the tokens of a batch in chunks of given sizes, each with
// the keys and values of the earlier chunks. A chunk is a call of the entry `extend`, or of `decode` if it is one token
// that follows others and `decode` has all given inputs.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_STEPCALL_H
#define ATTUNE_COMPILER_TOOLS_STEPCALL_H

#include "compiler/Tools/EntryCall.h"

namespace attune {

/// A call in chunks. |threads| 0 means one thread for each CPU of the affinity mask.
struct StepRequest {
  std::vector<TensorView> inputs;
  /// Sizes of the chunks in tokens. Their sum is the number of tokens of a sequence. Empty means one chunk of all
  /// tokens.
  std::vector<int64_t> steps;
  /// Names or groups to return: outputs of the chunks, joined along the length, and `past_key_values`. Empty = all
  /// outputs, without `past_key_values`.
  std::vector<std::string> wanted;
  int64_t threads = 0;
};

/// Returns true if |name| is the group `past_key_values` or a member of it.
bool isPastKeyValue(const std::string &name);

/// Returns true if |inputs| have keys and values of earlier tokens which must be written to the caches, because
/// `forward` was not compiled with them as inputs.
bool beginsInCaches(const Artifact &artifact, const std::vector<TensorView> &inputs);

/// Returns the entries that runSteps calls.
std::vector<std::string> stepEntries();

/// Runs all chunks. Inputs called `past_key_values.LAYER.K` are the initial contents of the caches: K is 0 for keys and
/// 1 for values of earlier tokens, 2 and 3 for those of encoder states. An `attention_mask` may then have columns for
/// the earlier tokens, too, before the others.
Result<std::vector<OwnedTensor>> runSteps(const Artifact &artifact, const StepRequest &request);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_STEPCALL_H
