//===- LogitsProcessors.cpp - Processors of logits ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LogitsProcessors.h"
#include "LogSoftmax.h"

#include <cmath>
#include <cstring>

using namespace attune;

/// Divides positive scores of ids that occur in |list| by |penalty| and multiplies negative ones, once per id. Skips
/// ids beyond the vocabulary.
static void penalize(double penalty, IdList list, int64_t vocabSize, float *scores, uint8_t *seen) {
  if (penalty == 1)
    return;
  for (int64_t i = 0; i < list.count; ++i) {
    int64_t id = list.ids[i];
    if (id < 0 || id >= vocabSize || seen[id])
      continue;
    scores[id] = static_cast<float>(scores[id] < 0 ? scores[id] * penalty : scores[id] / penalty);
    seen[id] = 1;
  }
  for (int64_t i = 0; i < list.count; ++i)
    if (list.ids[i] >= 0 && list.ids[i] < vocabSize)
      seen[list.ids[i]] = 0;
}

/// Bans ids that would complete an n-gram of |size| ids that occurs in |of|. Skips ids beyond the vocabulary.
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

/// Returns true if the next id is the first one that is not forced.
static bool isBegin(const attune_generation_options &options, const LogitsContext &input) {
  bool forced = input.promptLength == 1 && options.forced_bos_token_id >= 0;
  return input.sequence.count == input.promptLength + forced;
}

void attune::applyLogitsProcessors(const attune_generation_options &options, const LogitsContext &input, int64_t vocabSize, float *scores,
                                    uint8_t *seen) {
  auto [ids, length] = input.sequence;
  penalize(1 / options.encoder_repetition_penalty, input.source, vocabSize, scores, seen);
  penalize(options.repetition_penalty, input.sequence, vocabSize, scores, seen);
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
  // Greedy search and sampling choose the same ids without it.
  if (options.renormalize_logits && options.num_beams > 1)
    logSoftmax(scores, vocabSize);
}
