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
  ATTUNE_TOKEN_END_ROW = 2  ///< ends this row after |token|, as an end id does; with beams, ends the generation
} attune_token_answer;

/// Called for each new token: |row| is a row of the result, and |length| the number of its ids so far, the new one
/// included. Beam search calls it once per step for each row of the input that is not done, with |token| = -1. The
/// callback returns an attune_token_answer. It must not use the session.
typedef int (*attune_token_fn)(void *user, int64_t row, int64_t token, int64_t length);

/// The rule that ends a row of a beam search once it has num_beams hypotheses (finished sequences).
typedef enum attune_early_stopping {
  ATTUNE_STOP_BY_ESTIMATE = 0, ///< when the best candidate of a step, scored at the length before it, does not beat the worst hypothesis
  ATTUNE_STOP_EARLY = 1,       ///< at once
  ATTUNE_STOP_NEVER_EARLY = 2  ///< when no open beam can beat the worst hypothesis at any length
} attune_early_stopping;

/// The options of a generation. Set every field by attune_generation_options_init first. Names and meanings are those
/// of transformers; an id of -1 means that there is none. Compiled models contain this structure, so its layout is part
/// of the ABI; new fields come last.
typedef struct attune_generation_options {
  size_t struct_bytes;          ///< sizeof(attune_generation_options), set by init
  int64_t max_length;           ///< most ids of a sequence, prompt or start token included
  int64_t max_new_tokens;       ///< > 0: most ids after the prompt or start token, instead of max_length
  int64_t min_length;           ///< no end id is chosen while a sequence has fewer ids
  int64_t min_new_tokens;       ///< no end id is chosen while fewer ids than this follow the prompt or start token
  int64_t num_beams;            ///< 1 = greedy search or sampling
  int64_t num_return_sequences; ///< per row; at most num_beams, any number when sampling
  double length_penalty;        ///< a hypothesis scores sum(log p) / length ** length_penalty
  int64_t early_stopping;       ///< attune_early_stopping
  int64_t no_repeat_ngram_size; ///< > 0: no id is chosen that completes an n-gram of this size a second time; the prompt counts
  double repetition_penalty;    ///< for ids in the sequence, prompt included: positive scores are divided by it, negative ones multiplied
  int64_t do_sample;            ///< 1 = draw from the distribution instead of taking the best
  double temperature;           ///< sampling: scores are divided by it; > 0, finite. Very small values draw the best id only
  int64_t top_k;                ///< sampling: only the k best ids, and those equal to the last of them; 0 = all
  double top_p;                 ///< sampling: only the fewest best ids whose probabilities add up to more than this, in (0, 1]
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
  const char *unsupported;  ///< text that names a setting of the model's files that this version does not support, or null. With a text,
                            ///< attune_generate fails with this text; set it to null to generate without that setting
  int64_t want_step_logits; ///< 1 = keep the model's logits of each step, before the rules change them; not with beams
  attune_token_fn on_token; ///< or null
  void *user;               ///< handed to on_token
  int64_t encoder_no_repeat_ngram_size; ///< > 0: no id is chosen that completes an n-gram of this size of the source; encoder-decoders only
  double encoder_repetition_penalty; ///< ids of the source (of a decoder: the prompt): positive scores are multiplied by it, others divided
  const int64_t *suppress_tokens;    ///< ids that are never chosen; borrowed
  size_t num_suppress_tokens;
  const int64_t *begin_suppress_tokens; ///< ids that are never the first after the prompt or start token, or, if that is a single id and
                                        ///< forced_bos_token_id follows it, the first after forced_bos_token_id; borrowed
  size_t num_begin_suppress_tokens;
  int64_t renormalize_logits; ///< beam search: 1 = scores are normalized to log-probabilities again after the rules
  double typical_p;           ///< sampling: only the ids with -log p nearest to the entropy, until their p add up to this, in (0, 1]
  double min_p;               ///< sampling: only ids of at least this part of the best one's probability, in [0, 1]
  double epsilon_cutoff;      ///< sampling: only ids of at least this probability, and the best one, in [0, 1); 0 = all
  double eta_cutoff;          ///< sampling: the same with the lower bound min(eta, sqrt(eta) * exp(-entropy)), in [0, 1); 0 = all
  int64_t reuse_cache;        ///< 1 = tokens that a cache slot holds from earlier calls are not computed again, see attune_generate
  double presence_penalty;    ///< subtracted from the scores of ids that were generated before; those of the prompt do not count
  double frequency_penalty;   ///< subtracted from the score of an id once for each time that it was generated
  const char *const *stop_strings; ///< texts that end a sequence before they appear in it; borrowed. attune_generate, which knows ids
                                   ///< alone, fails unless there are none; attune_generate_texts (text_generation.h)
                                   ///< looks for them
  size_t num_stop_strings;
} attune_generation_options;

/// Sets |options| to the settings of |model| (generation_config.json and config.json when it was compiled). Settings
/// that it lacks, and all of them if |model| is null, get the defaults of transformers 4.22: greedy search up to 20
/// ids.
void attune_generation_options_init(const attune_model *model, attune_generation_options *options);

/// The result of a generation, in memory of the runtime. Each row of the input has num_return_sequences rows here, side
/// by side.
typedef struct attune_generation {
  int64_t rows;
  int64_t length;           ///< ids of the longest sequence, prompt or start token included
  int64_t steps;            ///< ids chosen for the longest sequence; with beams the number of search steps, which may be more
  int64_t vocab_size;       ///< logits per step
  const int64_t *sequences; ///< [rows, length]; after its end a row holds pad_token_id
  const float *scores;      ///< [rows], the scores of the hypotheses; null without beams
  const float *step_logits; ///< [rows, steps, vocab_size], 0 after the end of a row; null unless asked for
  int64_t reused_tokens;    ///< tokens of the prompts, of all rows together, that slots held before; 0 without reuse_cache
} attune_generation;

/// Generates on |session|, which is busy until this returns. |options| may be null: the model's own.
///
/// |inputs| are those of the entries `prefill` and `encode` by name, ids and masks in host memory. For a decoder:
/// `input_ids` [rows, length], and, if some prompts are shorter, `attention_mask` of the same shape; prompts are padded
/// on the left. For an encoder-decoder: the inputs of `encode` (`input_ids`, `attention_mask`), and `decoder_input_ids`
/// if sequences begin with more than decoder_start_token_id.
///
/// Without options.reuse_cache, and for encoder-decoders, all slots and sources of the session are emptied first. With
/// it, a conversation continues where it stopped: the prompt is the whole text so far, that is the ids of the last
/// generation followed by those of the next turn. Each row takes a slot: slots[row] if the input `slots` ([rows]) is
/// given, else the free slot with the largest difference between the number of its first tokens that agree with the
/// text and the number of its other tokens. The tokens that agree stay, the rest of that slot is discarded, and only
/// the other tokens of the text, at least the last, are computed. Slots that no sequence takes keep their tokens. Ids
/// and scores are those of the whole text without reuse, repetition rules and sampling included: bit for bit on a CPU,
/// up to rounding on a GPU, where a decoding step sums in another order than prefill. attune_generation.reused_tokens
/// counts reused tokens. Nothing is reused from slots that were filled by attune_session_cache_write or with inputs
/// beside ids and `attention_mask`, nor in a generation that has such inputs. Reuse works with greedy search, sampling
/// and beams; beams and several sequences per row take further slots, emptiest first. A text that is longer than the
/// session ("past") or the model has room for fails with LIMIT_EXCEEDED, and leaves the slots as they are.
///
/// The session needs a slot ("batch") for each sequence and capacity ("past") for its ids; attune_generation_limits
/// computes both. Rows that end leave the batch; a row's result does not depend on the others, except that sampling
/// depends on the row's number, and that the padding of a shorter prompt counts in max_length and min_length, in
/// n-grams that must not occur and in encoder_repetition_penalty. Takes memory for the time of the call, and for the
/// result, which attune_generation_free frees. Fails as attune_session_run does, with INVALID_ARGUMENT for options that
/// contradict each other or the model, and with OUT_OF_MEMORY.
attune_status attune_generate(attune_session *session, const attune_generation_options *options, const attune_tensor *inputs,
                              size_t num_inputs, attune_generation **out_generation);
/// Frees |generation|. Null is allowed.
void attune_generation_free(attune_generation *generation);

/// Returns the bytes of scratch memory that attune_sample needs for |vocab_size| logits; 0 if |vocab_size| is less than
/// 1 or greater than 2^31 - 1.
size_t attune_sample_scratch_bytes(int64_t vocab_size);
/// Chooses the next id from |logits| [vocab_size], for programs that call the entries of a model themselves, and writes
/// it to |out_id|. A null |options| stands for the defaults of attune_generation_options_init without a model. Takes no
/// memory but |scratch|, at a multiple of 4 and at least attune_sample_scratch_bytes(vocab_size) long; it may be null if
/// options.do_sample is 0.
///
/// With options.do_sample 0 the id is that of the largest logit, the smallest of equals. Otherwise, in this order:
/// logits are divided by options.temperature; the top_k largest stay (0 = all), and those equal to the least of them;
/// of these the most probable ones until they make up top_p; then the filters min_p, typical_p, epsilon_cutoff and
/// eta_cutoff; softmax; and one is drawn by noise that depends on (options.seed, |row|, |step|) alone. attune_generate
/// draws with the number of the row in its result and the number of ids that it has chosen for the row so far, so the
/// same logits give the same id here. An id with a logit of -inf or NaN is never chosen; the first id with a logit of
/// +inf is chosen without a draw. No other option has an effect: the caller changes the logits before, if it wants
/// rules about ids that occurred, such as repetition_penalty.
///
/// Fails with INVALID_ARGUMENT for a null or negative argument, options out of range, too little scratch, or logits
/// that leave no id.
attune_status attune_sample(const attune_generation_options *options, const float *logits, int64_t vocab_size, int64_t row, int64_t step,
                            void *scratch, size_t scratch_bytes, int64_t *out_id);

/// The most limits that attune_generation_limits writes.
#define ATTUNE_MAX_GENERATION_LIMITS 4
/// Computes the limits of a session that is just large enough for this generation; the arguments are those of
/// attune_generate. Writes at most ATTUNE_MAX_GENERATION_LIMITS limits to |out_limits|, for attune_session_options, and
/// their number to |out_num_limits|. Fails as attune_generate does before it begins.
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
