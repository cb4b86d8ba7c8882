//===- LogitsProcessors.cpp - Processors of logits ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LogitsProcessors.h"
#include "LogSoftmax.h"

#include <cmath>
#include <cstring>

using namespace attune;

/// Calls |change|(id, count) once for each id of the vocabulary that occurs in |list|, with the number of its
/// occurrences. |counts| [vocabSize] is scratch memory, zeros before and after the call.
template <typename Change>
static void forEachId(IdList list, int64_t vocabSize, int32_t *counts, Change change) {
  auto isKnown = [&](int64_t id) { return id >= 0 && id < vocabSize; };
  for (int64_t i = 0; i < list.count; ++i)
    if (isKnown(list.ids[i]))
      ++counts[list.ids[i]];
  for (int64_t i = 0; i < list.count; ++i)
    if (int64_t id = list.ids[i]; isKnown(id) && counts[id]) {
      change(id, counts[id]);
      counts[id] = 0;
    }
}

/// Divides positive scores of ids that occur in |list| by |factor| and multiplies negative ones, once per id.
static void penalize(double factor, IdList list, int64_t vocabSize, float *scores, int32_t *counts) {
  if (factor == 1)
    return;
  auto penalty = static_cast<float>(factor);
  forEachId(list, vocabSize, counts, [&](int64_t id, int32_t) {
    float score = scores[id];
    scores[id] = score < 0 ? score * penalty : score / penalty;
  });
}

/// Subtracts presence_penalty from the score of each id that occurs in |generated|, and frequency_penalty for each
/// occurrence.
static void penalizeGenerated(const attune_generation_options &options, IdList generated, int64_t vocabSize, float *scores,
                              int32_t *counts) {
  auto presence = static_cast<float>(options.presence_penalty), frequency = static_cast<float>(options.frequency_penalty);
  if (presence == 0 && frequency == 0)
    return;
  forEachId(generated, vocabSize, counts, [&](int64_t id, int32_t count) {
    scores[id] -= frequency * static_cast<float>(count);
    scores[id] -= presence;
  });
}

/// Bans ids that would complete, after the |length| ids at |ids|, an n-gram of |size| ids that occurs in |of|. Skips
/// ids beyond the vocabulary.
static void banNgrams(int64_t size, IdList of, const int64_t *ids, int64_t length, int64_t vocabSize, float *scores) {
  if (size <= 0 || length + 1 < size)
    return;
  const int64_t *prefix = ids + length - (size - 1);
  for (int64_t i = 0; i + size <= of.count; ++i)
    if (int64_t last = of.ids[i + size - 1];
        last < vocabSize && std::memcmp(of.ids + i, prefix, static_cast<size_t>(size - 1) * sizeof(int64_t)) == 0)
      scores[last] = -INFINITY;
}

/// Bans the last id of each bad word whose other ids are the last ids of the sequence. Skips words that are a single
/// end id.
static void banWords(const attune_generation_options &options, const int64_t *ids, int64_t length, float *scores) {
  const int64_t *word = options.bad_words_ids;
  for (size_t i = 0; i < options.num_bad_words; word += options.bad_words_lengths[i], ++i) {
    int64_t before = options.bad_words_lengths[i] - 1;
    if (before == 0 && isEos(options, word[0]))
      continue;
    if (before <= length && std::memcmp(ids + length - before, word, static_cast<size_t>(before) * sizeof(int64_t)) == 0)
      scores[word[before]] = -INFINITY;
  }
}

static void force(int64_t id, float *scores, int64_t vocabSize) {
  for (int64_t other = 0; other < vocabSize; ++other)
    scores[other] = -INFINITY;
  scores[id] = 0;
}

static void suppress(const int64_t *ids, size_t count, float *scores) {
  for (size_t i = 0; i < count; ++i)
    scores[ids[i]] = -INFINITY;
}

/// Returns true if the next id is the first one after the prompt; where forced_bos_token_id follows a prompt of one id,
/// the first one after forced_bos_token_id.
static bool isBegin(const attune_generation_options &options, const LogitsContext &input) {
  bool forced = input.promptLength == 1 && options.forced_bos_token_id >= 0;
  return input.sequence.count == input.promptLength + forced;
}

void attune::applyLogitsProcessors(const attune_generation_options &options, const LogitsContext &input, int64_t vocabSize, float *scores,
                        int32_t *counts) {
  auto [ids, length] = input.sequence;
  penalize(1 / options.encoder_repetition_penalty, input.source, vocabSize, scores, counts);
  penalize(options.repetition_penalty, {ids + input.padding, length - input.padding}, vocabSize, scores, counts);
  penalizeGenerated(options, {ids + input.promptLength, length - input.promptLength}, vocabSize, scores, counts);
  banNgrams(options.no_repeat_ngram_size, input.sequence, ids, length, vocabSize, scores);
  banNgrams(options.encoder_no_repeat_ngram_size, input.source, ids, length, vocabSize, scores);
  banWords(options, ids, length, scores);
  for (size_t i = 0; length < options.min_length && i < options.num_eos_token_ids; ++i)
    scores[options.eos_token_ids[i]] = -INFINITY;
  if (options.forced_bos_token_id >= 0 && length == 1)
    force(options.forced_bos_token_id, scores, vocabSize);
  if (options.forced_eos_token_id >= 0 && length == options.max_length - 1)
    force(options.forced_eos_token_id, scores, vocabSize);
  suppress(options.suppress_tokens, options.num_suppress_tokens, scores);
  if (isBegin(options, input))
    suppress(options.begin_suppress_tokens, options.num_begin_suppress_tokens, scores);
  // Greedy search and sampling choose the same ids without this normalization.
  if (options.renormalize_logits && options.num_beams > 1)
    logSoftmax(scores, vocabSize);
}
