/*===- text_generation.h - Text in, text out --------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Generates texts from texts, and replies in a conversation, with a compiled model and its OUT.text. Default values
 * stand in parentheses. The conventions on errors, threads and strings are those of runtime.h. Programs link
 * libattune_text, the runtime and the mathematics library (-lattune_text -lattune_runtime -lm).
 *
 *   attune_model_open(&attune_model_gpt, NULL, &model);
 *   attune_text_open("gpt.text", &text);
 *   attune_generate_texts(model, text, &options, &input, 1, &generation);   // one call, no more
 *
 *   attune_chat_session_create(model, text, &options, &chat);               // or a conversation
 *   attune_chat_session_send(chat, "Hello", 5, &reply);
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_TEXT_GENERATION_H
#define ATTUNE_TEXT_GENERATION_H

#include "attune/chat.h"
#include "attune/generate.h"
#include "attune/text.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility push(default)
#endif

/// Called for each piece of a text as it comes: |row| is the row of the result, and |piece| has |bytes| bytes of
/// complete UTF-8, not NUL-terminated. All pieces of a row together are its text. Text that may be the beginning of a
/// stop string comes only when later text shows that it is none. The callback returns an attune_token_answer. With
/// beams all pieces come at the end, row by row, and any answer but ATTUNE_TOKEN_GO_ON ends the text of its row only.
typedef int (*attune_piece_fn)(void *user, int64_t row, const char *piece, size_t bytes);

/// The reason why a text ends.
typedef enum attune_finish {
  ATTUNE_FINISH_END = 0,     ///< an end id
  ATTUNE_FINISH_STOP = 1,    ///< a stop string
  ATTUNE_FINISH_LENGTH = 2,  ///< the largest number of tokens
  ATTUNE_FINISH_CALLBACK = 3 ///< the answer of a callback
} attune_finish;
/// Returns "end", "stop", "length" or "callback"; "unknown" for other values.
const char *attune_finish_name(attune_finish finish);

//===--- Texts -------------------------------------------------------------===//

/// The options of attune_generate_texts. Set every field by attune_text_generation_options_init first.
typedef struct attune_text_generation_options {
  size_t struct_bytes;                         ///< sizeof(attune_text_generation_options), set by init
  const attune_generation_options *generation; ///< null = the model's own; its on_token is called beside on_text
  attune_piece_fn on_text;                     ///< or null
  void *user;                                  ///< handed to on_text
  int32_t add_special_tokens;                  ///< 1 = add the special tokens of the tokenizer's template (1)
  int32_t keep_special_tokens;                 ///< 0 = leave special tokens and end ids out of texts (0)
  int64_t new_tokens;                          ///< > 0: the most new tokens, fewer where the model has no more
                                               ///< positions, instead of max_length and max_new_tokens
  const char *source_language;                 ///< the language of the inputs of a translator, as "eng_Latn"; null =
                                               ///< the one that the tokenizer adds
  const char *target_language;                 ///< the language to translate to; null = the one of the generation
                                               ///< options
  int64_t num_threads;                         ///< as in attune_session_options
} attune_text_generation_options;

/// Sets |options| to the defaults.
void attune_text_generation_options_init(attune_text_generation_options *options);

/// A text of a result.
typedef struct attune_generated_text {
  int64_t input;     ///< the number of the input from which it was generated
  const char *text;  ///< the text after the prompt; UTF-8, and a NUL behind it
  size_t bytes;      ///< without the NUL
  const int64_t *ids; ///< [num_ids], the new ids, an end id included
  int64_t num_ids;
  double score; ///< the score of the hypothesis; 0 without beams
  attune_finish finish;
} attune_generated_text;

/// The texts of a generation, in memory of the runtime: num_return_sequences texts for each input, in the order of the
/// inputs.
typedef struct attune_text_generation {
  size_t num_texts;
  const attune_generated_text *texts;
  int64_t prompt_tokens; ///< of all inputs together, without padding
} attune_text_generation;

/// Generates from |inputs|, at least one, in one batch. A decoder continues each input; an encoder-decoder takes it as
/// the source. The ids that a decoder adds to a prompt are decoded together with the prompt, so that prompt and result
/// join to one text. |options| may be null.
///
/// If options.generation is null, options.new_tokens is 0, and the model's files set neither max_length (20 counts as
/// not set) nor max_new_tokens, at most 256 tokens are generated. A prompt without any token becomes bos_token_id. If a
/// stop string is the string of a special token, the id of this token ends a text, since texts leave special tokens
/// out.
///
/// The languages are names of tokens of the tokenizer, as "fra_Latn", "fr_XX", or "fr" for "__fr__" and ">>fr<<". The
/// source language replaces the one that the tokenizer adds. The target language is the first token that is generated
/// (forced_bos_token_id), or the start token if decoder_start_token_id is a language in the options; a target token
/// such as ">>fr<<" goes before the source instead.
///
/// Takes memory, also for a session, for the time of the call, and for the result, which attune_text_generation_free
/// frees. Fails as attune_tokenizer_encode, attune_session_create and attune_generate do, and with INVALID_ARGUMENT for
/// a language that the tokenizer lacks, a source language if the tokenizer adds none, a language for a model that is no
/// encoder-decoder, stop strings with beams, or an input without any token unless bos_token_id can replace it.
attune_status attune_generate_texts(attune_model *model, const attune_text *text, const attune_text_generation_options *options,
                                    const attune_text_input *inputs, size_t num_inputs, attune_text_generation **out_generation);
/// Frees |generation|. Null is allowed.
void attune_text_generation_free(attune_text_generation *generation);

//===--- Conversations -----------------------------------------------------===//

/// A conversation with a model: a session whose cache holds the text so far, the messages, and the chat template.
/// Serves one call of attune_chat_session_send at a time: a second one, also from a callback, gets ATTUNE_BUSY.
typedef struct attune_chat_session attune_chat_session;

/// Called before each rendering of a conversation, which may be several times for a message, to set variables of the
/// template (attune_chat_set(chat, attune_chat_variables(chat), "enable_thinking", attune_chat_bool(chat, 0))).
typedef void (*attune_chat_variables_fn)(void *user, attune_chat *chat);

/// The options of a conversation. Set every field by attune_chat_session_options_init first.
typedef struct attune_chat_session_options {
  size_t struct_bytes;                         ///< sizeof(attune_chat_session_options), set by init
  const attune_generation_options *generation; ///< null = the model's own; copied, but lists and strings in it are
                                               ///< borrowed
  const char *system;                          ///< the system message (UTF-8), or null; copied
  size_t system_bytes;
  int64_t context;                   ///< the most tokens of a conversation, at most the positions of the model; 0 =
                                     ///< these positions, but at most 8192
  int64_t num_threads;               ///< as in attune_session_options
  const char *template_name;         ///< as in attune_chat_options
  const attune_chat_date *date;      ///< the date that the template prints, or null; copied
  attune_piece_fn on_text;           ///< called for each piece of a reply, as row 0; or null
  attune_chat_variables_fn variables; ///< or null
  void *user;                        ///< handed to on_text and variables
} attune_chat_session_options;

/// Sets |options| to the defaults.
void attune_chat_session_options_init(attune_chat_session_options *options);

/// A reply, in memory of the conversation until its next call.
typedef struct attune_chat_reply {
  const char *text; ///< UTF-8, and a NUL behind it
  size_t bytes;     ///< without the NUL
  attune_finish finish;
  int64_t prompt_tokens; ///< number of tokens of the whole text before the reply
  int64_t reused_tokens; ///< number of those of the prompt_tokens that the session held already
  int64_t reply_tokens;  ///< number of tokens of the reply, an end id included
  int64_t left_turns;    ///< number of the oldest turns that were dropped in this call because there was no room for
                         ///< them
} attune_chat_reply;

/// Begins a conversation. |text| is borrowed until the conversation is destroyed. |options| may be null. Reserves
/// address space, whose pages become memory when they are used; later calls allocate only as attune_generate does for
/// each reply. Fails with NOT_FOUND if the model has no chat template, with INVALID_ARGUMENT if |model| has no decoder
/// that continues sequences or is an encoder-decoder, for stop strings with beams, and for options out of range, and as
/// attune_chat_open and attune_session_create do.
attune_status attune_chat_session_create(attune_model *model, const attune_text *text, const attune_chat_session_options *options,
                                         attune_chat_session **out_chat);
/// Ends the conversation and gives its memory back. Null is allowed.
void attune_chat_session_destroy(attune_chat_session *chat);
/// Returns the most tokens of the conversation, 0 for null.
int64_t attune_chat_session_context(const attune_chat_session *chat);
/// Forgets all messages except the system message. No call of |chat| may be running. Null is allowed.
void attune_chat_session_reset(attune_chat_session *chat);

/// Sends |message|, |bytes| bytes of UTF-8 from the user, and generates the reply. Computes only the tokens that the
/// session does not hold.
///
/// A reply ends with an end id of the generation options, with the token by which the template ends a message of the
/// assistant, with a stop string, after max_new_tokens, when the context is full, or when a callback ends it;
/// max_length is ignored. The reply should have room for max_new_tokens tokens, or for a quarter of the context if that
/// is less or max_new_tokens is not set. As long as there is less room, the oldest turn, a message and its reply,
/// leaves the conversation; the system message stays. If no turn is left, the reply gets the room that there is. A
/// reply that a callback ends stays in the conversation with the text so far; a reply without any text is dropped
/// together with its message.
///
/// Sampling uses the seed of the generation options plus the number of the reply. Replies are numbered from 0;
/// attune_chat_session_reset does not restart the numbers. Fails with INVALID_ARGUMENT for a message that is not UTF-8
/// or that the template refuses, with LIMIT_EXCEEDED for a message that is too long for the context, with BUSY while
/// another call runs, and as attune_chat_render and attune_generate do. The messages of the conversation are then as
/// before the call.
attune_status attune_chat_session_send(attune_chat_session *chat, const char *message, size_t bytes, attune_chat_reply *out_reply);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_TEXT_GENERATION_H */
