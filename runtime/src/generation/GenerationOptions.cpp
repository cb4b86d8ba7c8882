//===- GenerationOptions.cpp - Checking the options of a generation -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Error.h"
#include "../Model.h"
#include "Generate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attune;

void attune_generation_options_init(const attune_model *model, attune_generation_options *options) {
  if (!options)
    return;
  *options = attune_generation_options{};
  options->max_length = 20;
  options->num_beams = options->num_return_sequences = 1;
  options->length_penalty = options->repetition_penalty = options->temperature = options->top_p = 1;
  options->encoder_repetition_penalty = options->typical_p = 1;
  options->top_k = 50;
  options->pad_token_id = options->bos_token_id = options->decoder_start_token_id = -1;
  options->forced_bos_token_id = options->forced_eos_token_id = options->never_token_id = -1;
  // The options in an older object may be shorter; the fields that they lack keep their defaults.
  if (const attune_generation_options *own = model ? model->desc->generation : nullptr)
    memcpy(options, own, std::min(own->struct_bytes, sizeof(*options)));
  options->struct_bytes = sizeof(*options);
}

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

static attune_status checkIds(const char *name, const int64_t *ids, size_t count, int64_t vocabSize) {
  if (count && !ids)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is null, %zu ids expected", name, count);
  for (size_t i = 0; i < count; ++i)
    if (ids[i] < 0 || ids[i] >= vocabSize)
      return fail(ATTUNE_INVALID_ARGUMENT, "%s has %lld, expected ids below the vocabulary's %lld", name, wide(ids[i]), wide(vocabSize));
  return ATTUNE_OK;
}

static attune_status checkEnds(const attune_generation_options &options, int64_t vocabSize) {
  if (options.num_eos_token_ids >= static_cast<size_t>(vocabSize))
    return fail(ATTUNE_INVALID_ARGUMENT, "eos_token_ids has %zu ids, expected fewer than the vocabulary's %lld", options.num_eos_token_ids,
                wide(vocabSize));
  return checkIds("eos_token_ids", options.eos_token_ids, options.num_eos_token_ids, vocabSize);
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

static attune_status checkPenalty(const char *name, double value) {
  if (!(value > 0) || std::isinf(value))
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is %.9g, a positive number expected", name, value);
  return ATTUNE_OK;
}

static attune_status checkFinite(const char *name, double value) {
  if (!std::isfinite(value))
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is %.9g, a number expected", name, value);
  return ATTUNE_OK;
}

/// Checks that |value| is a probability that leaves at least one id: above 0 and at most 1.
static attune_status checkShare(const char *name, double value) {
  if (!(value > 0 && value <= 1))
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is %.9g, expected to be above 0 and at most 1", name, value);
  return ATTUNE_OK;
}

/// Checks that |value| is in [0, 1), or in [0, 1] if |withOne|.
static attune_status checkPart(const char *name, double value, bool withOne) {
  if (!(value >= 0) || !(withOne ? value <= 1 : value < 1))
    return fail(ATTUNE_INVALID_ARGUMENT, "%s is %.9g, expected to be at least 0 and %s 1", name, value, withOne ? "at most" : "below");
  return ATTUNE_OK;
}

static attune_status checkSampling(const attune_generation_options &options) {
  ATTUNE_TRY(checkAtLeast("top_k", options.top_k, 0));
  if (options.temperature == 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "temperature is 0, a positive number expected; without do_sample the best id is always taken");
  ATTUNE_TRY(checkPenalty("temperature", options.temperature));
  ATTUNE_TRY(checkShare("top_p", options.top_p));
  ATTUNE_TRY(checkShare("typical_p", options.typical_p));
  ATTUNE_TRY(checkPart("min_p", options.min_p, /*withOne=*/true));
  ATTUNE_TRY(checkPart("epsilon_cutoff", options.epsilon_cutoff, /*withOne=*/false));
  ATTUNE_TRY(checkPart("eta_cutoff", options.eta_cutoff, /*withOne=*/false));
  if (options.num_beams > 1)
    return fail(ATTUNE_INVALID_ARGUMENT, "do_sample with num_beams = %lld is not supported; expected num_beams = 1",
                wide(options.num_beams));
  return ATTUNE_OK;
}

static attune_status checkBeams(const attune_generation_options &options, int64_t vocabSize) {
  if (options.num_beams > vocabSize || vocabSize < 2)
    return fail(ATTUNE_INVALID_ARGUMENT, "num_beams is %lld, expected at most the vocabulary's %lld", wide(options.num_beams),
                wide(vocabSize));
  if (options.num_beams > 1 && options.want_step_logits)
    return fail(ATTUNE_INVALID_ARGUMENT, "step logits with num_beams = %lld are not supported; expected num_beams = 1",
                wide(options.num_beams));
  if (options.early_stopping < ATTUNE_STOP_BY_ESTIMATE || options.early_stopping > ATTUNE_STOP_NEVER_EARLY)
    return fail(ATTUNE_INVALID_ARGUMENT, "early_stopping is %lld, a value of attune_early_stopping expected", wide(options.early_stopping));
  if (!options.do_sample && options.num_return_sequences > options.num_beams)
    return fail(ATTUNE_INVALID_ARGUMENT, "num_return_sequences is %lld, expected at most num_beams = %lld",
                wide(options.num_return_sequences), wide(options.num_beams));
  return ATTUNE_OK;
}

attune_status attune::checkGenerationOptions(attune_generation_options &options, int64_t vocabSize, int64_t length) {
  if (options.unsupported)
    return fail(ATTUNE_INVALID_ARGUMENT, "%s", options.unsupported);
  ATTUNE_TRY(checkAtLeast("num_beams", options.num_beams, 1));
  ATTUNE_TRY(checkAtLeast("num_return_sequences", options.num_return_sequences, 1));
  ATTUNE_TRY(checkAtLeast("max_new_tokens", options.max_new_tokens, 0));
  ATTUNE_TRY(checkAtLeast("min_length", options.min_length, 0));
  ATTUNE_TRY(checkAtLeast("min_new_tokens", options.min_new_tokens, 0));
  ATTUNE_TRY(checkAtLeast("no_repeat_ngram_size", options.no_repeat_ngram_size, 0));
  ATTUNE_TRY(checkAtLeast("encoder_no_repeat_ngram_size", options.encoder_no_repeat_ngram_size, 0));
  if (options.max_new_tokens > 0 && __builtin_add_overflow(length, options.max_new_tokens, &options.max_length))
    options.max_length = INT64_MAX;
  if (options.min_new_tokens > 0)
    options.min_length = std::max(options.min_length, length + std::min(options.min_new_tokens, INT64_MAX - length));
  ATTUNE_TRY(checkAtLeast("max_length", options.max_length, 1));
  if (options.max_length <= length)
    return fail(ATTUNE_INVALID_ARGUMENT, "max_length is %lld, expected more than the %lld ids of the prompt", wide(options.max_length),
                wide(length));
  ATTUNE_TRY(checkPenalty("repetition_penalty", options.repetition_penalty));
  ATTUNE_TRY(checkPenalty("encoder_repetition_penalty", options.encoder_repetition_penalty));
  ATTUNE_TRY(checkFinite("length_penalty", options.length_penalty));
  ATTUNE_TRY(checkFinite("presence_penalty", options.presence_penalty));
  ATTUNE_TRY(checkFinite("frequency_penalty", options.frequency_penalty));
  if (options.num_stop_strings)
    return fail(ATTUNE_INVALID_ARGUMENT,
                "stop_strings has %zu texts, expected none where only ids are known; attune_generate_texts looks for them",
                options.num_stop_strings);
  ATTUNE_TRY(checkEnds(options, vocabSize));
  ATTUNE_TRY(checkId("forced_bos_token_id", options.forced_bos_token_id, vocabSize));
  ATTUNE_TRY(checkId("forced_eos_token_id", options.forced_eos_token_id, vocabSize));
  ATTUNE_TRY(checkId("never_token_id", options.never_token_id, vocabSize));
  ATTUNE_TRY(checkBadWords(options, vocabSize));
  ATTUNE_TRY(checkIds("suppress_tokens", options.suppress_tokens, options.num_suppress_tokens, vocabSize));
  ATTUNE_TRY(checkIds("begin_suppress_tokens", options.begin_suppress_tokens, options.num_begin_suppress_tokens, vocabSize));
  if (options.pad_token_id < 0)
    options.pad_token_id = options.num_eos_token_ids ? options.eos_token_ids[0] : 0;
  if (options.do_sample)
    ATTUNE_TRY(checkSampling(options));
  return checkBeams(options, vocabSize);
}

attune_status attune::checkSamplingOptions(const attune_generation_options &options) {
  ATTUNE_TRY(checkAtLeast("num_beams", options.num_beams, 1));
  return options.do_sample ? checkSampling(options) : ATTUNE_OK;
}

attune_status attune::generate(const StepModel &model, const attune_generation_options &options, const GenerationPrompt &prompt,
                               GenerationResult &result) {
  return options.num_beams > 1 ? searchBeams(model, options, prompt, result) : searchGreedily(model, options, prompt, result);
}
