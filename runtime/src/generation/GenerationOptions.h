//===- GenerationOptions.h - How to generate ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_GENERATION_GENERATIONOPTIONS_H
#define ATTUNE_RUNTIME_GENERATION_GENERATIONOPTIONS_H

#include "attune/runtime.h"

/// Called for each new token: |row| of the result (with beams: of the input, and |token| is -1, once per step), |length| ids so far, the new
/// one included. Returns 0 to go on, anything else to end the generation there.
typedef int (*attune_token_fn)(void *user, int64_t row, int64_t token, int64_t length);

/// How to generate.
typedef struct attune_generation_options {
  size_t struct_bytes;          ///< sizeof(attune_generation_options)
  int64_t max_length;           ///< most ids of a sequence, prompt or start token included
  int64_t max_new_tokens;       ///< > 0: most ids after the prompt or start token, instead of max_length
  int64_t min_length;           ///< eos is not chosen while a sequence has fewer ids
  int64_t num_beams;            ///< 1 = greedy search or sampling
  int64_t num_return_sequences; ///< per row; at most num_beams, any number when sampling
  double length_penalty;        ///< a hypothesis scores sum(log p) / length ** length_penalty
  int early_stopping;           ///< 1 = a row is done as soon as it has num_beams hypotheses
  int64_t no_repeat_ngram_size; ///< > 0: no n-gram of this size occurs twice
  double repetition_penalty;    ///< scores of ids that occurred: divided by it if > 0, multiplied if < 0
  int do_sample;                ///< 1 = draw from the distribution instead of taking the best
  double temperature;           ///< sampling: scores are divided by it; > 0
  int64_t top_k;                ///< sampling: only the k best ids; 0 = all
  double top_p;                 ///< sampling: only the best ids that make up this probability together, in (0, 1]
  uint64_t seed;                ///< sampling: noise is a function of (seed, row, step)
  int64_t eos_token_id;         ///< ends a sequence; -1 = none
  int64_t pad_token_id;         ///< fills rows that ended; -1 = eos
  int64_t forced_bos_token_id;  ///< the second id of a sequence; -1 = free
  int64_t forced_eos_token_id;  ///< the id at max_length - 1; -1 = free
  int64_t never_token_id;       ///< beam search: an id of probability 0 (Marian's pad); -1 = none
  const int64_t *bad_words_ids; ///< ids of words that must not occur, one word after the other; borrowed
  const int64_t *bad_words_lengths; ///< ids per word
  size_t num_bad_words;
  attune_token_fn on_token; ///< or null
  void *user;               ///< handed to on_token
} attune_generation_options;

#endif // ATTUNE_RUNTIME_GENERATION_GENERATIONOPTIONS_H
