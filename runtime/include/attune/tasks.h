/*===- tasks.h - Texts in, vectors and labels out -----------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Joins a model with its tokenizer for one kind of work: texts to embeddings, labels, words for masks, or answers. The
 * results are those of the reference libraries (sentence-transformers, the pipelines of transformers). The conventions
 * on errors, threads and strings are those of runtime.h; programs link libattune_text.
 *
 *   attune_model_open(&attune_model, NULL, &model);
 *   attune_text_open("model.text", &text);
 *   attune_task_create(model, text, ATTUNE_TASK_EMBED, NULL, &task);
 *   attune_embed_texts(task, texts, num_texts, NULL, vectors);
 *
 * A result has the same bits whatever other texts are beside it in a call.
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_TASKS_H
#define ATTUNE_TASKS_H

#include "attune/text.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility push(default)
#endif

//===--- Tasks -------------------------------------------------------------===//

/// A session of a model, its tokenizer and memory for texts; serves one call at a time, another one gets ATTUNE_BUSY.
typedef struct attune_task attune_task;

/// The work of a model on texts.
typedef enum attune_task_kind {
  ATTUNE_TASK_EMBED = 0,           ///< one vector of each text
  ATTUNE_TASK_CLASSIFY_TEXTS = 1,  ///< scores of labels for each text
  ATTUNE_TASK_CLASSIFY_TOKENS = 2, ///< a label for each token
  ATTUNE_TASK_FILL = 3,            ///< tokens for each mask
  ATTUNE_TASK_ANSWER = 4           ///< a part of a context that answers a question
} attune_task_kind;

/// The options of a task. Set every field by attune_task_options_init first.
typedef struct attune_task_options {
  size_t struct_bytes;     ///< sizeof(attune_task_options), set by init
  int64_t max_batch;       ///< most texts that the model computes at once (32); 1 for CLASSIFY_TOKENS and FILL
  int64_t max_length;      ///< most tokens of a text, special ones included, if folder and model allow as many; 0 = as many as they
                           ///< allow, 512 if neither says
  int64_t max_texts;       ///< a call with more texts takes them in groups of this size; each group is sorted by length (1024)
  size_t max_text_bytes;   ///< most bytes of a text with its pair and its prompt (64 KiB)
  int64_t num_threads;     ///< as in attune_session_options
  const attune_host *host; ///< as in attune_session_options
  void *memory;            ///< the caller's memory, at a multiple of 64, owned by the task until destroyed; null = allocate
  size_t memory_bytes;     ///< size of |memory|, at least attune_task_memory_bytes
} attune_task_options;

/// Sets |options| to the defaults.
void attune_task_options_init(attune_task_options *options);
/// Writes the task of |model|'s head to |out_kind|: ANSWER, CLASSIFY_TEXTS, CLASSIFY_TOKENS or FILL if its outputs are
/// those of such a head, else EMBED. Fails with INVALID_ARGUMENT if the outputs of |model| fit no task.
attune_status attune_task_find_kind(const attune_model *model, attune_task_kind *out_kind);
/// Writes the bytes of memory that a task of |kind| with these options needs to |out_bytes|. |options| may be null.
/// Fails as attune_task_create does for its arguments.
attune_status attune_task_memory_bytes(attune_model *model, const attune_text *text, attune_task_kind kind,
                                       const attune_task_options *options, size_t *out_bytes);
/// Makes a task. |model| and |text| are borrowed until it is destroyed. |options| may be null. This takes all memory;
/// calls take none. Fails with INVALID_ARGUMENT for a model that does something else than |kind|, or options.memory
/// that is too small or misaligned, or as attune_session_create does.
attune_status attune_task_create(attune_model *model, const attune_text *text, attune_task_kind kind, const attune_task_options *options,
                                 attune_task **out_task);
/// Ends the session and gives the memory back. Null is allowed.
void attune_task_destroy(attune_task *task);
/// Returns the session of |task|, which a program may use for its own calls while no call of |task| runs.
attune_session *attune_task_session(attune_task *task);
/// Returns the tokenizer of |task|. A program may use it while no call of |task| runs. Its results live until the next
/// call of the tokenizer or of |task|.
attune_tokenizer *attune_task_tokenizer(attune_task *task);
/// Returns the most tokens of a text, special ones included; longer texts are cut.
int64_t attune_task_max_length(const attune_task *task);
/// Returns the number of texts that the last call has cut; 0 after attune_answer_question, which makes windows instead.
int64_t attune_task_num_cut(const attune_task *task);

//===--- Embeddings --------------------------------------------------------===//

/// The options of a call of attune_embed_texts. Set every field by attune_embed_options_init first.
typedef struct attune_embed_options {
  size_t struct_bytes;     ///< sizeof(attune_embed_options), set by init
  const char *prompt_name; ///< the name of the model's prompt that goes before each text; null = the model's default prompt, "" = none
  const char *prompt;      ///< a text that goes before each text, whatever prompt_name says; null = as prompt_name says
  int32_t normalize;       ///< 1 = vectors get the length 1; zero vectors stay
} attune_embed_options;

/// Sets |options| to the defaults.
void attune_embed_options_init(attune_embed_options *options);
/// Returns the number of features of an embedding, 0 if |task| is of another kind.
int64_t attune_embed_size(const attune_task *task);
/// Returns 1 if the model folder says how an embedding is made from the vectors of the tokens, 0 if it does not; the
/// embedding is their mean then.
int attune_embed_is_declared(const attune_text *text);
/// The function that compares two embeddings; a larger value means closer texts.
typedef enum attune_similarity {
  ATTUNE_SIMILARITY_COSINE = 0,
  ATTUNE_SIMILARITY_DOT = 1,
  ATTUNE_SIMILARITY_EUCLIDEAN = 2, ///< minus the distance
  ATTUNE_SIMILARITY_MANHATTAN = 3  ///< minus the sum of absolute differences
} attune_similarity;

/// Returns the function that the model folder names, cosine if it names none.
attune_similarity attune_embed_similarity(const attune_text *text);
/// Returns the similarity of two vectors of |features| values.
float attune_embed_compare(attune_similarity similarity, const float *a, const float *b, int64_t features);
/// Returns the name of prompt |index|, and its text in |*out_text|; null for both if there is none. The strings are not
/// NUL-terminated; |out_name_bytes| and |out_text_bytes| get their lengths. The out_ parameters may be null.
const char *attune_embed_prompt(const attune_text *text, int64_t index, size_t *out_name_bytes, const char **out_text,
                                size_t *out_text_bytes);
/// Writes the embedding of each text (whose pair is not used) to |out_vectors| [num_texts, attune_embed_size].
/// |options| may be null. Fails with INVALID_ARGUMENT for an unknown prompt, bytes that are not UTF-8 or a text without
/// tokens, LIMIT_EXCEEDED for a text above max_text_bytes, or as attune_session_run.
attune_status attune_embed_texts(attune_task *task, const attune_text_input *texts, size_t num_texts, const attune_embed_options *options,
                                 float *out_vectors);

//===--- Labels ------------------------------------------------------------===//

/// The function from logits to scores.
typedef enum attune_score_function {
  ATTUNE_SCORES_DEFAULT = 0, ///< as the model says, else sigmoid of one logit and softmax of several
  ATTUNE_SCORES_SOFTMAX = 1,
  ATTUNE_SCORES_SIGMOID = 2,
  ATTUNE_SCORES_LOGITS = 3
} attune_score_function;

/// Writes the score of each label for each text or pair to |out_scores| [num_texts, attune_model_num_labels]. A
/// reranker has one label, whose score says how well the second text of a pair fits the first. Fails as
/// attune_embed_texts, and, as the functions below, with INVALID_ARGUMENT for logits that are not numbers.
attune_status attune_classify_texts(attune_task *task, const attune_text_input *texts, size_t num_texts, attune_score_function function,
                                    float *out_scores);

/// The rule by which tokens become spans.
typedef enum attune_aggregation {
  ATTUNE_AGGREGATE_NONE = 0,    ///< each token is a span
  ATTUNE_AGGREGATE_SIMPLE = 1,  ///< tokens side by side whose labels belong together (B-X I-X) are one
  ATTUNE_AGGREGATE_FIRST = 2,   ///< the same with whole words for tokens; a word has the label of its first token
  ATTUNE_AGGREGATE_AVERAGE = 3, ///< whole words; a word has the label whose mean score over its tokens is best
  ATTUNE_AGGREGATE_MAX = 4      ///< whole words; a word has the label of its token with the best score
} attune_aggregation;

/// A part of a text with a label.
typedef struct attune_span {
  int64_t label;      ///< the label's number; joined tokens have the label of the first one, of which "B-" or "I-" is to be ignored
  float score;        ///< the probability of the label; of joined tokens or words, the mean
  int64_t begin, end; ///< characters [begin, end) of the text
  int64_t index;      ///< the token's number in the encoding with ATTUNE_AGGREGATE_NONE, else -1
  const char *word;   ///< the token, or the text of the tokens; not NUL-terminated
  size_t word_bytes;
} attune_span;

/// Finds the spans of |text| (whose pair is not used). Skips spans whose label is "O" unless |keep_outside|.
/// |*out_spans| lives until the next call of |task|. Fails as attune_embed_texts.
attune_status attune_classify_tokens(attune_task *task, const attune_text_input *text, attune_aggregation aggregation, int keep_outside,
                                     const attune_span **out_spans, size_t *out_num);

//===--- Masks -------------------------------------------------------------===//

/// A token for a mask.
typedef struct attune_candidate {
  int64_t mask;     ///< the number of the mask in the text, from 0
  int64_t token;    ///< the id
  float score;      ///< the probability of the token in this place
  const char *word; ///< the token as text; not NUL-terminated
  size_t word_bytes;
  const char *sequence; ///< the text with this token instead of the mask; without special tokens unless there are several masks
  size_t sequence_bytes;
} attune_candidate;

/// Returns the token that marks a place to fill, "[MASK]" or the like, and its length in |*out_bytes|; null if the
/// tokenizer has none.
const char *attune_fill_mask(const attune_text *text, size_t *out_bytes);
/// Finds the |top_k| best tokens for each mask of |text|, best first, mask by mask. |*out_candidates| lives until the
/// next call of |task|. Fails with INVALID_ARGUMENT if |top_k| is not from 1 to the size of the vocabulary, or there is
/// no mask in the text, or as attune_embed_texts.
attune_status attune_fill_text(attune_task *task, const attune_text_input *text, int64_t top_k, const attune_candidate **out_candidates,
                               size_t *out_num);

//===--- Answers -----------------------------------------------------------===//

/// The options of attune_answer_question. Set every field by attune_answer_options_init first.
typedef struct attune_answer_options {
  size_t struct_bytes;    ///< sizeof(attune_answer_options), set by init
  int64_t top_k;          ///< most answers (1)
  int64_t max_length;     ///< most tokens of a window: question, a part of the context, special ones; 0 = 384 or the task's if fewer
  int64_t stride;         ///< tokens that a window shares with the one before; 0 = 128, or half of max_length if that is less
  int64_t max_answer;     ///< most tokens of an answer (15)
  int32_t allow_none;     ///< 1 = the empty answer competes, too (0)
  int32_t align_to_words; ///< 1 = answers are whole words (1)
} attune_answer_options;

/// Sets |options| to the defaults.
void attune_answer_options_init(attune_answer_options *options);

/// A part of a context.
typedef struct attune_answer {
  float score;                 ///< probability of the beginning times that of the end; the sum over spans of equal text
  int64_t begin, end;          ///< characters [begin, end) of the context; both 0 for the empty answer
  size_t begin_byte, end_byte; ///< the same in bytes
} attune_answer;

/// Finds the best answers to |question| in |context|, best first. |options| may be null. |*out_answers| lives until the
/// next call of |task|. Fails as attune_embed_texts; max_text_bytes is the limit of question and context together.
attune_status attune_answer_question(attune_task *task, const char *question, size_t question_bytes, const char *context,
                                     size_t context_bytes, const attune_answer_options *options, const attune_answer **out_answers,
                                     size_t *out_num);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_TASKS_H */
