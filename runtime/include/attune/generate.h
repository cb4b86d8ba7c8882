/*===- generate.h - Text generation ------------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Greedy search, sampling and beam search on a session of a model that has the entries `prefill` and `decode`, and
 * `encode` if it is an encoder-decoder. The conventions on errors, threads and strings are those of runtime.h. Programs
 * link the mathematics library (-lm).
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_GENERATE_H
#define ATTUNE_GENERATE_H

#include "attune/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility push(default)
#endif

/// The answers of attune_token_fn.
typedef enum attune_token_answer {
  ATTUNE_TOKEN_GO_ON = 0,
  ATTUNE_TOKEN_END_ALL = 1, ///< ends the generation after this step; so does every value that is not in this list
  ATTUNE_TOKEN_END_ROW = 2  ///< ends the row after this token, as an end id does; with beams, ends the generation
} attune_token_answer;

/// Called for each new token: |row| is a row of the result, |token| its new id, and |length| the number of its ids so
/// far, the prompt and the new id included. Beam search calls it once per step for each row of the input that is not
/// done; |row| is then the row of the input, and |token| is -1. The callback returns an attune_token_answer. A
/// generation that the callback ends succeeds with the ids so far. The callback must not use the session.
typedef int (*attune_token_fn)(void *user, int64_t row, int64_t token, int64_t length);

/// The rule that ends a row of a beam search once it has num_beams hypotheses (finished sequences).
typedef enum attune_early_stopping {
  ATTUNE_STOP_BY_ESTIMATE = 0, ///< when the best candidate of a step, scored with the number of ids before the step,
                               ///< does not beat the worst hypothesis
  ATTUNE_STOP_EARLY = 1,       ///< at once
  ATTUNE_STOP_NEVER_EARLY = 2  ///< when no open beam can beat the worst hypothesis at any length up to max_length
} attune_early_stopping;

/// The options of a generation. Set every field by attune_generation_options_init first. Options that
/// transformers has, too, have its names and its meanings, of beam search those of version 4.22. An id of -1 means that
/// there is no such id. Compiled models contain this structure, so its layout
/// is part of the ABI; new fields come last.
typedef struct attune_generation_options {
  size_t struct_bytes;          ///< sizeof(attune_generation_options), set by init
  int64_t max_length;           ///< most ids of a sequence, prompt or start token included
  int64_t max_new_tokens;       ///< > 0: most ids after the prompt or start token, instead of max_length
  int64_t min_length;           ///< no end id is chosen while a sequence has fewer ids
  int64_t min_new_tokens;       ///< no end id is chosen while fewer ids than this follow the prompt or start token
  int64_t num_beams;            ///< 1 = greedy search or sampling
  int64_t num_return_sequences; ///< sequences of the result for each row of the input; at most num_beams, but any
                                ///< number when sampling
  double length_penalty;        ///< a hypothesis scores s / n ** length_penalty: s is the sum of log p of the ids
                                ///< chosen for it, n the number of its ids, the prompt included and the end id not
  int64_t early_stopping;       ///< attune_early_stopping
  int64_t no_repeat_ngram_size; ///< > 0: no id is chosen that completes an n-gram of this size a second time; the
                                ///< prompt counts
  double repetition_penalty;    ///< for ids in the sequence, prompt included: positive scores are divided by the
                                ///< penalty, negative ones multiplied
  int64_t do_sample;            ///< 1 = draw from the distribution instead of taking the best id
  double temperature;           ///< sampling: scores are divided by it; > 0, finite; a very small one leaves only the
                                ///< best ids
  int64_t top_k;                ///< sampling: only the k best ids, and those equal to the last of them; 0 = all
  double top_p;                 ///< sampling: only the fewest best ids whose probabilities add up to more than this, in
                                ///< (0, 1]; 1 = all
  uint64_t seed;                ///< sampling: noise is a function of (seed, row, step)
  const int64_t *eos_token_ids; ///< end ids: each ends a sequence; borrowed
  size_t num_eos_token_ids;
  int64_t pad_token_id;             ///< fills the rest of rows that ended; -1 = the first end id, or 0 if there is none
  int64_t bos_token_id;             ///< start token of encoder-decoders if there is no decoder_start_token_id
  int64_t decoder_start_token_id;   ///< start token of encoder-decoders
  int64_t forced_bos_token_id;      ///< the second id of a sequence whose prompt is a single id
  int64_t forced_eos_token_id;      ///< the last id of a sequence that reaches max_length
  int64_t never_token_id;           ///< beam search: an id that is never chosen (Marian's pad)
  const int64_t *bad_words_ids;     ///< the ids of all words that must not occur, word after word; borrowed.
                                    ///< A word that is a single end id is ignored
  const int64_t *bad_words_lengths; ///< ids per word; borrowed
  size_t num_bad_words;
  const char *unsupported;  ///< a text that names a setting of the model's files that this version does not support, or
                            ///< null. attune_generate fails with this text; set the field to null to generate without
                            ///< that setting
  int64_t want_step_logits; ///< 1 = keep the model's logits of each step, before the other options change them; not
                            ///< with beams
  attune_token_fn on_token; ///< or null
  void *user;               ///< handed to on_token
  int64_t encoder_no_repeat_ngram_size; ///< > 0: no id is chosen that completes an n-gram of this size that occurs in
                                        ///< the source; encoder-decoders only
  double encoder_repetition_penalty; ///< for ids of the source (of a decoder: of the prompt): positive scores are
                                     ///< multiplied by the penalty, negative ones divided
  const int64_t *suppress_tokens;    ///< ids that are never chosen; borrowed
  size_t num_suppress_tokens;
  const int64_t *begin_suppress_tokens; ///< ids that are not chosen first after the prompt or start token; where
                                        ///< forced_bos_token_id is forced there, not first after it; borrowed
  size_t num_begin_suppress_tokens;
  int64_t renormalize_logits; ///< beam search: 1 = scores are normalized to log-probabilities again after the penalties
                              ///< and bans of the other options
  double typical_p;           ///< sampling: only the ids with -log p nearest to the entropy of the distribution, until
                              ///< their p add up to this, in (0, 1]; 1 = all
  double min_p;               ///< sampling: only ids with at least this part of the best one's probability, in [0, 1]
  double epsilon_cutoff;      ///< sampling: only ids of at least this probability, and the best one, in [0, 1); 0 = all
  double eta_cutoff;          ///< sampling: only ids of at least the probability min(eta_cutoff, sqrt(eta_cutoff) *
                              ///< exp(-entropy)), and the best one, in [0, 1); 0 = all
  int64_t reuse_cache;        ///< 1 = tokens that a cache slot holds from earlier calls are not computed again, see
                              ///< attune_generate
  double presence_penalty;    ///< subtracted once from the score of each id that was generated before; ids of the
                              ///< prompt do not count
  double frequency_penalty;   ///< subtracted from the score of an id once for each time that it was generated
  const char *const *stop_strings; ///< texts that end a sequence where they appear, and are not part of its text;
                                   ///< borrowed. attune_generate, which knows only ids, fails if there are any;
                                   ///< attune_generate_texts (text_generation.h) looks for them
  size_t num_stop_strings;
} attune_generation_options;

/// Sets |options| to the settings of |model| (those of generation_config.json and config.json when |model| was
/// compiled). Settings that |model| lacks, and all settings if |model| is null, get the defaults of transformers 4.22:
/// greedy search up to 20 ids.
void attune_generation_options_init(const attune_model *model, attune_generation_options *options);

/// The result of a generation, in memory of the runtime. Each row of the input has num_return_sequences consecutive
/// rows in the result.
typedef struct attune_generation {
  int64_t rows;             ///< rows of the result
  int64_t length;           ///< ids of the longest sequence, prompt or start token included
  int64_t steps;            ///< ids chosen for the longest sequence; with beams the number of search steps, which may be more
  int64_t vocab_size;       ///< logits per step
  const int64_t *sequences; ///< [rows, length] ids, prompt or start token included; pad_token_id after the end of a row
  const float *scores;      ///< [rows], the scores of the hypotheses; null without beams
  const float *step_logits; ///< [rows, steps, vocab_size], 0 after the end of a row; null unless asked for
  int64_t reused_tokens;    ///< tokens of the prompts, of all rows together, that slots held before; 0 without reuse_cache
} attune_generation;

/// Generates on |session|, which is busy until this returns. |options| may be null: the model's own.
///
/// |inputs| are inputs of the entries `prefill` and `encode` by name, in host memory. For a decoder: `input_ids` [rows,
/// length], and, if some prompts are shorter, `attention_mask` of the same shape; prompts are padded on the left. For
/// an encoder-decoder: the inputs of `encode` (`input_ids`, `attention_mask`), and `decoder_input_ids` if sequences
/// begin with more than decoder_start_token_id.
///
/// Without options.reuse_cache, and for encoder-decoders, all slots and sources of the session are emptied first. With
/// options.reuse_cache, a conversation continues where it stopped: the prompt is the whole text so far, that is the ids
/// of the last generation followed by those of the next turn. Each row takes a slot: slots[row] if the input `slots`
/// ([rows]) is given, else the free slot with the largest difference a - b, where the first a tokens of the slot agree
/// with the prompt and b tokens follow them. The tokens that agree stay, the others in the slot are discarded, and only
/// the other tokens of the prompt, at least the last one, are computed. Beams, and sequences after the first one of a
/// row, take further slots, the emptiest ones first. Slots that no sequence takes keep their tokens.
///
/// Ids and scores are those of a generation without reuse, repetition rules and sampling included: bit for bit on a
/// CPU, up to rounding on a GPU, where a decoding step sums in another order than prefill.
/// attune_generation.reused_tokens counts reused tokens. Nothing is reused from slots that were filled by
/// attune_session_cache_write or with inputs other than ids, `attention_mask` and `slots`, nor in a generation that has
/// such inputs.
///
/// The session needs a slot ("batch") for each sequence and capacity ("past") for its ids; attune_generation_limits
/// computes both. If the session has less, or the model has too few positions, the call fails with LIMIT_EXCEEDED and
/// leaves the slots as they are. Rows that end leave the batch. The result of a row does not depend on the other rows,
/// with two exceptions: sampling depends on the number of the row, and the padding of a shorter prompt counts in
/// max_length and min_length, in n-grams that must not occur and in encoder_repetition_penalty. Takes memory for the
/// time of the call, and for the result, which attune_generation_free frees. Fails as attune_session_run does, with
/// INVALID_ARGUMENT for options that contradict each other or the model, and with OUT_OF_MEMORY.
attune_status attune_generate(attune_session *session, const attune_generation_options *options, const attune_tensor *inputs,
                              size_t num_inputs, attune_generation **out_generation);
/// Frees |generation|. Null is allowed.
void attune_generation_free(attune_generation *generation);

/// Returns the bytes of scratch memory that attune_sample needs for |vocab_size| logits; 0 if |vocab_size| is less than
/// 1 or greater than 2^31 - 1.
size_t attune_sample_scratch_bytes(int64_t vocab_size);
/// Chooses the next id from |logits| [vocab_size], for programs that call the entries of a model themselves, and writes
/// it to |out_id|. A null |options| stands for the defaults of attune_generation_options_init without a model. Takes no
/// memory but |scratch|, |scratch_bytes| bytes at a multiple of 4, at least attune_sample_scratch_bytes(vocab_size);
/// |scratch| may be null if options.do_sample is 0.
///
/// With options.do_sample 0 the id is that of the largest logit, the smallest id of equal logits. Otherwise, in this
/// order: logits are divided by options.temperature; the top_k largest stay (0 = all), and those equal to the least of
/// them; of these the most probable ones stay, until their probabilities add up to more than top_p; then the filters
/// min_p, typical_p, epsilon_cutoff and eta_cutoff; softmax; and an id is drawn by noise that depends on (options.seed,
/// |row|, |step|) alone. attune_generate draws with the number of the row in its result and the number of ids that it
/// has chosen for the row so far, so the same logits give the same id here. An id with a logit of -inf or NaN is never
/// chosen; the first id with a logit of +inf is chosen without a draw. No other option has an effect: rules about ids
/// that occurred, such as repetition_penalty, are left to the caller, who changes the logits before.
///
/// Fails with INVALID_ARGUMENT for a null or negative argument, options out of range, |scratch| that is too small or
/// misaligned, or logits that are all -inf or NaN.
attune_status attune_sample(const attune_generation_options *options, const float *logits, int64_t vocab_size, int64_t row, int64_t step,
                            void *scratch, size_t scratch_bytes, int64_t *out_id);

/// The most limits that attune_generation_limits writes.
#define ATTUNE_MAX_GENERATION_LIMITS 4
/// Computes the limits of a session that is just large enough for a generation by |options| and |inputs|, which are as
/// in attune_generate. Writes at most ATTUNE_MAX_GENERATION_LIMITS limits to |out_limits|, for attune_session_options,
/// and their number to |out_num_limits|. Fails as attune_generate does for options and inputs.
attune_status attune_generation_limits(const attune_model *model, const attune_generation_options *options, const attune_tensor *inputs,
                                       size_t num_inputs, attune_dim_limit *out_limits, size_t *out_num_limits);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif

#if defined(__cplusplus)
static_assert(sizeof(attune_generation_options) == 376, "attune_generation_options is part of the ABI");
#else
_Static_assert(sizeof(attune_generation_options) == 376, "attune_generation_options is part of the ABI");
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_GENERATE_H */
