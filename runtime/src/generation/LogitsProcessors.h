//===- LogitsProcessors.h - Processors of logits --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_LOGITSPROCESSORS_H
#define ATTUNE_RUNTIME_GENERATION_LOGITSPROCESSORS_H

#include "attune/generate.h"

namespace attune {

/// Returns true if |id| ends a sequence.
inline bool isEnd(const attune_generation_options &options, int64_t id) {
  for (size_t i = 0; i < options.num_eos_token_ids; ++i)
    if (options.eos_token_ids[i] == id)
      return true;
  return false;
}

/// A list of ids in borrowed memory.
struct IdList {
  const int64_t *ids;
  int64_t count;
};

/// The input of a rule: the ids of a sequence so far, the number of them that belong to the prompt, and the ids of its
/// source, empty if they are not known.
struct RuleInput {
  IdList sequence;
  int64_t promptLength;
  IdList source;
};

/// Applies the rules of |options| (the logits processors of transformers) to the |scores| [vocabSize] of the id that
/// follows |input|, in the order of that library: penalties of the ids of the source and of the sequence, repeated
/// n-grams of the sequence, n-grams of the source, bad words, minimum length, forced first and last id, suppressed ids.
/// A banned id scores -infinity, a forced one 0. |seen| is scratch memory of vocabSize zeros, which are restored.
/// |options.max_length| must include max_new_tokens already.
void applyRules(const attune_generation_options &options, const RuleInput &input, int64_t vocabSize, float *scores, uint8_t *seen);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_LOGITSPROCESSORS_H
