//===- GenerationOptions.cpp - Checking what is asked of generation ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Error.h"
#include "Generate.h"

#include <cmath>

using namespace attune;

static long long wide(int64_t value) { return value; }

static attune_status checkAtLeast(const char *name, int64_t value, int64_t least) {
  if (value < least)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is %lld, at least %lld expected", name, wide(value), wide(least));
  return ATTUNE_OK;
}

static attune_status checkId(const char *name, int64_t id, int64_t vocabSize) {
  if (id < -1 || id >= vocabSize)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is %lld, expected an id below the vocabulary's %lld, or -1", name, wide(id), wide(vocabSize));
  return ATTUNE_OK;
}

static attune_status checkBadWords(const attune_generation_options &options, int64_t vocabSize) {
  if (options.num_bad_words && (!options.bad_words_ids || !options.bad_words_lengths))
    return fail(ATTUNE_INVALID_ARGUMENT, "bad_words_ids or bad_words_lengths is null, %zu words expected", options.num_bad_words);
  const int64_t *id = options.bad_words_ids;
  for (size_t word = 0; word < options.num_bad_words; ++word) {
    ATTUNE_TRY(checkAtLeast("the length of a bad word", options.bad_words_lengths[word], 1));
    for (int64_t i = 0; i < options.bad_words_lengths[word]; ++i, ++id)
      if (*id < 0 || *id >= vocabSize)
        return fail(ATTUNE_INVALID_ARGUMENT, "bad_words_ids has %lld, expected ids below the vocabulary's %lld", wide(*id),
                    wide(vocabSize));
  }
  return ATTUNE_OK;
}

static attune_status checkSampling(const attune_generation_options &options) {
  ATTUNE_TRY(checkAtLeast("top_k", options.top_k, 0));
  if (!(options.temperature > 0) || std::isinf(options.temperature))
    return fail(ATTUNE_INVALID_ARGUMENT, "temperature is %g, a positive number expected", options.temperature);
  if (!(options.top_p > 0 && options.top_p <= 1))
    return fail(ATTUNE_INVALID_ARGUMENT, "top_p is %g, expected to be above 0 and at most 1", options.top_p);
  if (options.num_beams > 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "do_sample with num_beams = %lld is not supported; expected num_beams = 1",
                wide(options.num_beams));
  return ATTUNE_OK;
}

static attune_status checkBeams(const attune_generation_options &options, int64_t vocabSize) {
  if (options.num_beams > vocabSize || vocabSize < 2)
    return fail(ATTUNE_INVALID_ARGUMENT, "num_beams is %lld, expected at most the vocabulary's %lld", wide(options.num_beams),
                wide(vocabSize));
  if (!options.do_sample && options.num_return_sequences > options.num_beams)
    return fail(ATTUNE_INVALID_ARGUMENT, "num_return_sequences is %lld, expected at most num_beams = %lld",
                wide(options.num_return_sequences), wide(options.num_beams));
  return ATTUNE_OK;
}

attune_status attune::checkGenerationOptions(attune_generation_options &options, const StepModel &model, const GenerationPrompt &prompt) {
  ATTUNE_TRY(checkAtLeast("num_beams", options.num_beams, 1));
  ATTUNE_TRY(checkAtLeast("num_return_sequences", options.num_return_sequences, 1));
  ATTUNE_TRY(checkAtLeast("max_new_tokens", options.max_new_tokens, 0));
  ATTUNE_TRY(checkAtLeast("min_length", options.min_length, 0));
  ATTUNE_TRY(checkAtLeast("no_repeat_ngram_size", options.no_repeat_ngram_size, 0));
  if (options.max_new_tokens > 0)
    options.max_length = prompt.length + options.max_new_tokens;
  ATTUNE_TRY(checkAtLeast("max_length", options.max_length, 1));
  if (options.max_length <= prompt.length)
    return fail(ATTUNE_INVALID_ARGUMENT, "max_length is %lld, expected more than the %lld ids of the prompt", wide(options.max_length),
                wide(prompt.length));
  if (!(options.repetition_penalty > 0) || std::isinf(options.repetition_penalty))
    return fail(ATTUNE_INVALID_ARGUMENT, "repetition_penalty is %g, a positive number expected", options.repetition_penalty);
  if (!std::isfinite(options.length_penalty))
    return fail(ATTUNE_INVALID_ARGUMENT, "length_penalty is %g, a number expected", options.length_penalty);
  ATTUNE_TRY(checkId("eos_token_id", options.eos_token_id, model.vocabSize));
  ATTUNE_TRY(checkId("forced_bos_token_id", options.forced_bos_token_id, model.vocabSize));
  ATTUNE_TRY(checkId("forced_eos_token_id", options.forced_eos_token_id, model.vocabSize));
  ATTUNE_TRY(checkId("never_token_id", options.never_token_id, model.vocabSize));
  ATTUNE_TRY(checkBadWords(options, model.vocabSize));
  if (options.pad_token_id < 0)
    options.pad_token_id = options.eos_token_id < 0 ? 0 : options.eos_token_id;
  if (options.do_sample)
    ATTUNE_TRY(checkSampling(options));
  return checkBeams(options, model.vocabSize);
}

attune_status attune::generate(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                               GenerationResult &result) {
  return options.num_beams > 1 ? searchBeams(model, options, prompt, result) : searchGreedily(model, options, prompt, result);
}
