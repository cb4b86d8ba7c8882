/*===- tasks.h - Texts in, vectors and labels out -----------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Joins a model with its tokenizer for one kind of work: texts to embeddings, labels, words for masks, or answers. The
 * results are those of the reference libraries (sentence-transformers, the pipelines of transformers). Default values
 * stand in parentheses. The conventions on errors, threads and strings are those of runtime.h; programs link
 * libattune_text.
 *
 *   attune_model_open(&attune_model, NULL, &model);
 *   attune_text_open("model.text", &text);
 *   attune_task_create(model, text, ATTUNE_TASK_EMBED, NULL, &task);
 *   attune_embed_texts(task, texts, num_texts, NULL, vectors);
 *
 * The result of a text has the same bits whatever other texts are in the same call.
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

/// A session of a model, with the model's tokenizer and memory for texts. Serves one call at a time; a second call at
/// the same time gets ATTUNE_BUSY.
typedef struct attune_task attune_task;

/// The work of a model on texts.
typedef enum attune_task_kind {
  ATTUNE_TASK_EMBED = 0,           ///< a vector for each text
  ATTUNE_TASK_CLASSIFY_TEXTS = 1,  ///< scores of labels for each text
  ATTUNE_TASK_CLASSIFY_TOKENS = 2, ///< a label for each token
  ATTUNE_TASK_FILL = 3,            ///< tokens for each mask
  ATTUNE_TASK_ANSWER = 4           ///< a part of a context that answers a question
} attune_task_kind;

/// The options of a task. Set every field by attune_task_options_init first.
typedef struct attune_task_options {
  size_t struct_bytes;     ///< sizeof(attune_task_options), set by init
  int64_t max_batch;       ///< most texts that the model computes at once (32); always 1 for CLASSIFY_TOKENS and FILL
  int64_t max_length;      ///< most tokens of a text, special ones included, if the settings of the model folder and
                           ///< the model allow as many; 0 = as many as they allow, 512 if neither has a limit (0)
  int64_t max_texts;       ///< a call with more texts takes them in groups of this size; the texts of a group are
                           ///< sorted by length for the model (1024)
  size_t max_text_bytes;   ///< most bytes of a text, its pair and its prompt together (64 KiB)
  int64_t num_threads;     ///< as in attune_session_options
  const attune_host *host; ///< as in attune_session_options
  void *memory;            ///< the caller's memory, at a multiple of 64, owned by the task until destroyed; null = allocate
  size_t memory_bytes;     ///< size of |memory|, at least attune_task_memory_bytes
} attune_task_options;

/// Sets |options| to the defaults.
void attune_task_options_init(attune_task_options *options);
/// Writes the task of |model|'s head to |out_kind|: ANSWER, CLASSIFY_TEXTS, CLASSIFY_TOKENS or FILL if the outputs of
/// |model| are those of such a head, else EMBED. Fails with INVALID_ARGUMENT if the outputs of |model| fit no task;
/// does not change |*out_kind| then.
attune_status attune_task_find_kind(const attune_model *model, attune_task_kind *out_kind);
/// Writes the bytes of memory that a task of |kind| with these options needs to |out_bytes|. |options| may be null.
/// Fails as attune_task_create does for these arguments.
attune_status attune_task_memory_bytes(attune_model *model, const attune_text *text, attune_task_kind kind,
                                       const attune_task_options *options, size_t *out_bytes);
/// Makes a task. |model| and |text| are borrowed until the task is destroyed. |options| may be null. Takes all memory
/// that the task needs; calls of the task take none. Fails with INVALID_ARGUMENT for a model that does something else
/// than |kind|, or options.memory that is too small or misaligned, or as attune_session_create does.
attune_status attune_task_create(attune_model *model, const attune_text *text, attune_task_kind kind, const attune_task_options *options,
                                 attune_task **out_task);
/// Ends the session of |task| and gives the memory back. Null is allowed.
void attune_task_destroy(attune_task *task);
/// Returns the session of |task|, which a program may use for its own calls while no call of |task| runs.
attune_session *attune_task_session(attune_task *task);
/// Returns the tokenizer of |task|. A program may use it while no call of |task| runs. Its results live until the next
/// call of the tokenizer or of |task|.
attune_tokenizer *attune_task_tokenizer(attune_task *task);
/// Returns the most tokens of a text, special ones included; longer texts are cut. attune_answer_question makes windows
/// of longer contexts instead.
int64_t attune_task_max_length(const attune_task *task);
/// Returns the number of texts that the last call has cut; 0 after attune_answer_question.
int64_t attune_task_num_cut(const attune_task *task);

//===--- Embeddings --------------------------------------------------------===//

/// The options of a call of attune_embed_texts. Set every field by attune_embed_options_init first.
typedef struct attune_embed_options {
  size_t struct_bytes;     ///< sizeof(attune_embed_options), set by init
  const char *prompt_name; ///< the name of the model's prompt that goes before each text; null = the model's default
                           ///< prompt, or none if the model has no default; "" = none
  const char *prompt;      ///< a text that goes before each text instead of the prompt of prompt_name; null = no such
                           ///< text
  int32_t normalize;       ///< 1 = vectors are scaled to Euclidean length 1; zero vectors stay (0)
} attune_embed_options;

/// Sets |options| to the defaults.
void attune_embed_options_init(attune_embed_options *options);
/// Returns the number of features of an embedding, 0 if |task| is not of the kind EMBED or is null.
int64_t attune_embed_size(const attune_task *task);
/// Returns 1 if the model folder says how an embedding is made from the vectors of the tokens. Returns 0 if it does
/// not; an embedding is then the mean of these vectors.
int attune_embed_is_declared(const attune_text *text);
/// A function that compares two embeddings; a larger value means closer texts.
typedef enum attune_similarity {
  ATTUNE_SIMILARITY_COSINE = 0,
  ATTUNE_SIMILARITY_DOT = 1,       ///< the dot product
  ATTUNE_SIMILARITY_EUCLIDEAN = 2, ///< the negative Euclidean distance
  ATTUNE_SIMILARITY_MANHATTAN = 3  ///< the negative sum of absolute differences
} attune_similarity;

/// Returns the similarity function that the model folder names, cosine if it names none.
attune_similarity attune_embed_similarity(const attune_text *text);
/// Returns the similarity of two vectors of |features| values.
float attune_embed_compare(attune_similarity similarity, const float *a, const float *b, int64_t features);
/// Returns the name of prompt |index|, from 0, and the text of the prompt in |*out_text|; null for both if there is no
/// such prompt. The strings are not NUL-terminated; |*out_name_bytes| and |*out_text_bytes| get their lengths in bytes.
/// The out_ parameters may be null.
const char *attune_embed_prompt(const attune_text *text, int64_t index, size_t *out_name_bytes, const char **out_text,
                                size_t *out_text_bytes);
/// Writes the embedding of each text (whose pair is not used) to |out_vectors| [num_texts, attune_embed_size].
/// |options| may be null. Fails with INVALID_ARGUMENT for an unknown prompt, bytes that are not UTF-8 or a text without
/// tokens, with LIMIT_EXCEEDED for a text above max_text_bytes, or as attune_session_run does.
attune_status attune_embed_texts(attune_task *task, const attune_text_input *texts, size_t num_texts, const attune_embed_options *options,
                                 float *out_vectors);

//===--- Labels ------------------------------------------------------------===//

/// A function from logits to scores.
typedef enum attune_score_function {
  ATTUNE_SCORES_DEFAULT = 0, ///< the function that the configuration of the model implies; else sigmoid if there is one
                             ///< logit, and softmax if there are several
  ATTUNE_SCORES_SOFTMAX = 1,
  ATTUNE_SCORES_SIGMOID = 2,
  ATTUNE_SCORES_LOGITS = 3 ///< the logits themselves
} attune_score_function;

/// Writes the score of each label for each text or pair to |out_scores| [num_texts, attune_model_num_labels]. A
/// reranker has one label, whose score says how well the second text of a pair fits the first. Fails as
/// attune_embed_texts does. This function and those below also fail with INVALID_ARGUMENT if a logit is NaN, or
/// if infinite logits leave the softmax without a value.
attune_status attune_classify_texts(attune_task *task, const attune_text_input *texts, size_t num_texts, attune_score_function function,
                                    float *out_scores);

/// The rule by which tokens become spans.
typedef enum attune_aggregation {
  ATTUNE_AGGREGATE_NONE = 0,    ///< each token is a span
  ATTUNE_AGGREGATE_SIMPLE = 1,  ///< consecutive tokens whose labels belong together (B-X I-X) are one span
  ATTUNE_AGGREGATE_FIRST = 2,   ///< as SIMPLE, for words instead of tokens; a word has the label of its first token
  ATTUNE_AGGREGATE_AVERAGE = 3, ///< as FIRST, but a word has the label whose mean score over the word's tokens is best
  ATTUNE_AGGREGATE_MAX = 4      ///< as FIRST, but a word has the label of its token with the best score
} attune_aggregation;

/// A part of a text with a label.
typedef struct attune_span {
  int64_t label;      ///< the number of the label, see attune_model_label; a span of several tokens has the label of
                      ///< its first token or word, and the caller ignores the "B-" or "I-" of its name
  float score;        ///< the probability of the label; of several tokens or words, the mean of their probabilities
  int64_t begin, end; ///< the characters (code points) [begin, end) of the text
  int64_t index;      ///< with ATTUNE_AGGREGATE_NONE the number of the token in the encoding, from 0; else -1
  const char *word;   ///< with ATTUNE_AGGREGATE_NONE the string of the token, else the decoded text of the tokens; not
                      ///< NUL-terminated
  size_t word_bytes;
} attune_span;

/// Finds the spans of |text| (whose pair is not used). Skips spans whose label is "O" unless |keep_outside| is not 0.
/// |*out_spans| has |*out_num| elements and lives until the next call of |task|. Fails as attune_embed_texts does, and
/// with LIMIT_EXCEEDED if the memory of the task is too small for the spans.
attune_status attune_classify_tokens(attune_task *task, const attune_text_input *text, attune_aggregation aggregation, int keep_outside,
                                     const attune_span **out_spans, size_t *out_num);

//===--- Masks -------------------------------------------------------------===//

/// A token for a mask.
typedef struct attune_candidate {
  int64_t mask;     ///< the number of the mask in the text, from 0
  int64_t token;    ///< the id of the token
  float score;      ///< the probability of the token in the place of the mask
  const char *word; ///< the token as text; not NUL-terminated
  size_t word_bytes;
  const char *sequence; ///< the text with this token instead of the mask; without special tokens if the text has one
                        ///< mask, with them, the other masks included, if it has several
  size_t sequence_bytes;
} attune_candidate;

/// Returns the token that marks a place to fill, "[MASK]" or the like (not NUL-terminated), and its length in bytes in
/// |*out_bytes| unless |out_bytes| is null; null and 0 if the tokenizer has no such token.
const char *attune_fill_mask(const attune_text *text, size_t *out_bytes);
/// Finds the |top_k| best tokens for each mask of |text|, its pair included, best first, mask by mask.
/// |*out_candidates| has |*out_num| elements and lives until the next call of |task|. Fails with INVALID_ARGUMENT if
/// |top_k| is not from 1 to the size of the vocabulary, or there is no mask in the text, with LIMIT_EXCEEDED if the
/// memory of the task is too small for the candidates, or as attune_embed_texts does.
attune_status attune_fill_text(attune_task *task, const attune_text_input *text, int64_t top_k, const attune_candidate **out_candidates,
                               size_t *out_num);

//===--- Answers -----------------------------------------------------------===//

/// The options of attune_answer_question. Set every field by attune_answer_options_init first.
typedef struct attune_answer_options {
  size_t struct_bytes;    ///< sizeof(attune_answer_options), set by init
  int64_t top_k;          ///< most answers, 1 to 1024 (1)
  int64_t max_length;     ///< most tokens of a window: question, a part of the context, and special tokens; 0 = 384, or
                          ///< attune_task_max_length if that is less (0)
  int64_t stride;         ///< tokens of the context that a window shares with the window before; 0 = 128, or half of
                          ///< max_length if that is less (0)
  int64_t max_answer;     ///< most tokens of an answer (15)
  int32_t allow_none;     ///< 1 = the empty answer, that the context has no answer, competes with the others (0)
  int32_t align_to_words; ///< 1 = answers are extended to whole words (1)
} attune_answer_options;

/// Sets |options| to the defaults.
void attune_answer_options_init(attune_answer_options *options);

/// A part of a context that answers a question.
typedef struct attune_answer {
  float score;                 ///< probability of the beginning times that of the end, summed over all candidates, also
                               ///< of other windows, that have the same text, case ignored
  int64_t begin, end;          ///< the characters (code points) [begin, end) of the context; both 0 for the empty
                               ///< answer
  size_t begin_byte, end_byte; ///< the same in bytes
} attune_answer;

/// Finds the best answers to |question| in |context|, best first. |options| may be null. |*out_answers| has |*out_num|
/// elements and lives until the next call of |task|. Fails as attune_embed_texts does, where max_text_bytes is the
/// limit of question and context together, and with INVALID_ARGUMENT if one of them is empty or options are out of
/// range.
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
