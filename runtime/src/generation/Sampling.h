//===- Sampling.h - Drawing the next id -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_SAMPLING_H
#define ATTUNE_RUNTIME_GENERATION_SAMPLING_H

#include "attune/generate.h"

namespace attune {

/// An id that may be drawn, and its score.
struct Candidate {
  float score;
  int32_t id;
};

/// Returns the index of the largest of |count| values, the first of equals. If values[0] is NaN, returns 0; other NaNs
/// are ignored. If the value at the index is NaN or -inf, the search loop fails with failWithoutId.
int64_t argMax(const float *values, int64_t count);

/// Fails with INVALID_ARGUMENT; the message says why |row| has no id to choose: one of the |count| scores is NaN, or
/// none is above -inf.
attune_status failWithoutId(const float *scores, int64_t count, int64_t row);

/// Draws an id by |scores| [vocabSize] as transformers does: divides the scores by the temperature; keeps the top_k
/// best and those equal to the last of them; of these, keeps the fewest best whose probabilities add up to more than
/// top_p; applies min_p, typical_p, epsilon_cutoff and eta_cutoff; and draws from the softmax. The noise depends on
/// (options.seed, row, step) alone. |scratch| has room for vocabSize candidates. If the temperature is so small that
/// the best score divided by it leaves the range of floats, divides the differences from the best score instead, so
/// that only the best id and its equals are drawn. Without drawing, returns the first id whose score is +inf, or
/// argMax(scores) if no score is above -inf.
int64_t sampleId(const attune_generation_options &options, const float *scores, int64_t vocabSize, int64_t row, int64_t step,
                 Candidate *scratch);

} // namespace attune

#endif // ATTUNE_RUNTIME_GENERATION_SAMPLING_H
