//===- LogitRules.h - Which ids may follow, and by how much ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_LOGITRULES_H
#define ATTUNE_RUNTIME_GENERATION_LOGITRULES_H

#include "attune/generate.h"

namespace attune {

/// Whether |id| ends a sequence.
inline bool isEnd(const attune_generation_options &options, int64_t id) {
  for (size_t i = 0; i < options.num_eos_token_ids; ++i)
    if (options.eos_token_ids[i] == id)
      return true;
  return false;
}

/// Ids of somebody else.
struct IdList {
  const int64_t *ids;
  int64_t count;
};

/// Applies the rules of |options| to |scores| [vocabSize] of the id that follows ids[0 … length - 1], in the order of the reference
/// library: repetition penalty, repeated n-grams, those of |source|, bad words, minimum length, forced first and last id. What may not
/// follow scores -infinity, what is forced 0. |seen| has vocabSize zeros, and has them again afterwards. |options.max_length| is the final
/// limit.
void applyRules(const attune_generation_options &options, IdList source, const int64_t *ids, int64_t length, int64_t vocabSize,
                float *scores, uint8_t *seen);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_LOGITRULES_H
