//===- SampleToken.cpp - attune_sample ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Error.h"
#include "../Model.h"
#include "Generate.h"
#include "Sampling.h"

#include <algorithm>
#include <cmath>

using namespace attune;

size_t attune_sample_scratch_bytes(int64_t vocab_size) {
  return vocab_size > 0 && vocab_size <= INT32_MAX ? static_cast<size_t>(vocab_size) * sizeof(Candidate) : 0;
}

/// Checks that |scratch| is aligned and has enough |bytes| to draw from |vocabSize| ids.
static attune_status checkScratch(int64_t vocabSize, const void *scratch, size_t bytes) {
  if (!scratch || bytes < attune_sample_scratch_bytes(vocabSize))
    return fail(ATTUNE_INVALID_ARGUMENT, "scratch has %zu bytes, at least %zu expected for a vocabulary of %lld", scratch ? bytes : 0,
                attune_sample_scratch_bytes(vocabSize), static_cast<long long>(vocabSize));
  if (reinterpret_cast<uintptr_t>(scratch) % alignof(Candidate))
    return fail(ATTUNE_INVALID_ARGUMENT, "scratch is at %p, a multiple of %zu expected", scratch, alignof(Candidate));
  return ATTUNE_OK;
}

attune_status attune_sample(const attune_generation_options *options, const float *logits, int64_t vocab_size, int64_t row, int64_t step,
                            void *scratch, size_t scratch_bytes, int64_t *out_id) {
  if (!out_id)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_id is null");
  *out_id = 0;
  attune_generation_options own;
  attune_generation_options_init(nullptr, &own);
  ATTUNE_TRY(copyOptions(&own, sizeof(own), options, "attune_generation_options"));
  ATTUNE_TRY(checkSamplingOptions(own));
  if (!logits)
    return fail(ATTUNE_INVALID_ARGUMENT, "logits is null");
  if (!attune_sample_scratch_bytes(vocab_size))
    return fail(ATTUNE_INVALID_ARGUMENT, "vocab_size is %lld, 1 to %d expected", static_cast<long long>(vocab_size), INT32_MAX);
  if (row < 0 || step < 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "row is %lld and step %lld, at least 0 expected", static_cast<long long>(row),
                static_cast<long long>(step));
  const float *first = std::find_if(logits, logits + vocab_size, [](float logit) { return logit > -INFINITY; });
  if (first == logits + vocab_size)
    return fail(ATTUNE_INVALID_ARGUMENT, "none of the %lld logits is above -inf, so there is no id to choose",
                static_cast<long long>(vocab_size));
  if (own.do_sample) {
    ATTUNE_TRY(checkScratch(vocab_size, scratch, scratch_bytes));
    *out_id = sampleId(own, logits, vocab_size, row, step, static_cast<Candidate *>(scratch));
    return ATTUNE_OK;
  }
  // argMax returns 0 if the first value is NaN, so the search begins at |first|, the first logit that is neither NaN
  // nor -inf.
  *out_id = first - logits + argMax(first, logits + vocab_size - first);
  return ATTUNE_OK;
}
