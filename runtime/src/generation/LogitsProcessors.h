//===- LogitsProcessors.h - Processors of logits --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_LOGITSPROCESSORS_H
#define ATTUNE_RUNTIME_GENERATION_LOGITSPROCESSORS_H

#include "attune/generate.h"

namespace attune {

/// Returns true if |id| ends a sequence.
inline bool isEos(const attune_generation_options &options, int64_t id) {
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

/// A sequence whose next id is scored.
struct LogitsContext {
  IdList sequence;      ///< the ids so far, those of the prompt included
  int64_t promptLength; ///< number of ids of the prompt, padding included
  IdList source;        ///< the ids of the source (without an encoder: of the prompt); empty if no option needs them
  int64_t padding = 0;  ///< number of ids at the beginning of the prompt that are padding
};

/// Applies the logits processors of |options| to the |scores| [vocabSize] of the id that follows input.sequence, in the
/// order of transformers: penalties of the ids of the source and of the sequence, repeated n-grams of the sequence,
/// n-grams of the source, bad words, minimum length, forced first and last id, suppressed ids, and renormalization in a
/// beam search. The penalties of generated ids, which transformers lacks, come after those of the sequence. Penalties
/// compute in f32, as in transformers. A banned id scores -infinity, a forced one 0. |counts| [vocabSize] is scratch
/// memory, zeros before and after the call. The caller must have resolved max_new_tokens into options.max_length and
/// min_new_tokens into options.min_length (checkGenerationOptions).
void applyLogitsProcessors(const attune_generation_options &options, const LogitsContext &input, int64_t vocabSize, float *scores,
                           int32_t *counts);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_LOGITSPROCESSORS_H
