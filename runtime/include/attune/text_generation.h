/*===- text_generation.h - Text in, text out --------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Generates texts from texts, and replies in a conversation, with a compiled model and its OUT.text. The conventions on
 * errors, threads and strings are those of runtime.h. Programs link libattune_text, the runtime and the mathematics
 * library (-lattune_text -lattune_runtime -lm).
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

/// Called for each piece of a text as it comes: |row| of the result, and |bytes| bytes of complete UTF-8, not
/// NUL-terminated. All pieces of a row together are its text. Text that may be the beginning of a stop string waits
/// until that is decided. With beams all pieces come at the end, row by row, and an answer ends the text of its row
/// only. The callback returns an attune_token_answer.
typedef int (*attune_piece_fn)(void *user, int64_t row, const char *piece, size_t bytes);

/// The reason why a text ends.
typedef enum attune_finish {
  ATTUNE_FINISH_END = 0,     ///< an end id
  ATTUNE_FINISH_STOP = 1,    ///< a stop string
  ATTUNE_FINISH_LENGTH = 2,  ///< the most tokens
  ATTUNE_FINISH_CALLBACK = 3 ///< the answer of a callback
} attune_finish;
/// Returns "end", "stop", "length" or "callback", or "unknown".
const char *attune_finish_name(attune_finish finish);

//===--- Texts -------------------------------------------------------------===//

/// The options of attune_generate_texts. Set every field by attune_text_generation_options_init first.
typedef struct attune_text_generation_options {
  size_t struct_bytes;                         ///< sizeof(attune_text_generation_options), set by init
  const attune_generation_options *generation; ///< null = the model's own; on_token, too, is called
  attune_piece_fn on_text;                     ///< or null
  void *user;                                  ///< handed to on_text
  int32_t add_special_tokens;                  ///< 1 = to the inputs, as the tokenizer's template says
  int32_t keep_special_tokens;                 ///< 0 = texts leave special tokens and end ids out
  int64_t new_tokens;                          ///< > 0: the most new tokens, fewer where the model has no more positions, instead of
                                               ///< max_length and max_new_tokens
  const char *source_language;                 ///< the language of the inputs of a translator, as "eng_Latn"; null = the tokenizer's
  const char *target_language;                 ///< the language to translate to; null = the model's own settings
  int64_t num_threads;                         ///< as in attune_session_options
} attune_text_generation_options;

/// Sets |options| to the defaults.
void attune_text_generation_options_init(attune_text_generation_options *options);

/// A text of a result.
typedef struct attune_generated_text {
  int64_t input;     ///< the number of the input from which it was generated
  const char *text;  ///< the text after the prompt; UTF-8, and a NUL behind it
  size_t bytes;
  const int64_t *ids; ///< the new ids, an end id included
  int64_t num_ids;
  double score; ///< the score of the hypothesis; 0 without beams
  attune_finish finish;
} attune_generated_text;

/// The texts of a generation, in memory of the runtime: num_return_sequences for each input, in order.
typedef struct attune_text_generation {
  size_t num_texts;
  const attune_generated_text *texts;
  int64_t prompt_tokens; ///< of all inputs together, without padding
} attune_text_generation;

/// Generates from |inputs| in one batch. A decoder continues each text; an encoder-decoder takes it as the source. A
/// result that follows a prompt is decoded behind it, so prompt and result make one text. |options| may be null.
///
/// If options.generation is null, options.new_tokens is 0, and the model's files set neither max_length (20 counts as
/// not set) nor max_new_tokens, at most 256 tokens are generated. A prompt without any token becomes bos_token_id. A
/// stop string that is the string of a special token ends a text at the id of that token, since texts leave special
/// tokens out.
///
/// The languages are names of tokens of the tokenizer, as "fra_Latn", "fr_XX", or "fr" for "__fr__" and ">>fr<<". The
/// source language replaces the one that the tokenizer adds. The target language is the first token that is generated,
/// or the start token if that is a language in the model's settings; a token such as ">>fr<<" goes before the source.
///
/// Takes memory, also for a session, for the time of the call, and for the result. Fails as attune_tokenizer_encode,
/// attune_session_create and attune_generate do, with INVALID_ARGUMENT for a language that the tokenizer lacks, a
/// source language if the tokenizer adds none, a language for a model that is no encoder-decoder, stop strings with
/// beams, and an input without any token unless bos_token_id can replace it.
attune_status attune_generate_texts(attune_model *model, const attune_text *text, const attune_text_generation_options *options,
                                    const attune_text_input *inputs, size_t num_inputs, attune_text_generation **out_generation);
/// Frees |generation|. Null is allowed.
void attune_text_generation_free(attune_text_generation *generation);

//===--- Conversations -----------------------------------------------------===//

/// A conversation with a model: its session, whose cache holds the text so far, its messages and its chat template.
/// Serves one call at a time: another one, also from a callback, gets ATTUNE_BUSY.
typedef struct attune_chat_session attune_chat_session;

/// Called before each rendering of a conversation, to set variables of the template
/// (attune_chat_set(chat, attune_chat_variables(chat), "enable_thinking", attune_chat_bool(chat, 0))).
typedef void (*attune_chat_variables_fn)(void *user, attune_chat *chat);

/// The options of a conversation. Set every field by attune_chat_session_options_init first.
typedef struct attune_chat_session_options {
  size_t struct_bytes;                         ///< sizeof(attune_chat_session_options), set by init
  const attune_generation_options *generation; ///< null = the model's own; copied, what it points to is borrowed
  const char *system;                          ///< the system message (UTF-8), or null; copied
  size_t system_bytes;
  int64_t context;                   ///< the most tokens of a conversation; 0 = those of the model, at most 8192
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
  size_t bytes;
  attune_finish finish;
  int64_t prompt_tokens; ///< of the whole text before the reply
  int64_t reused_tokens; ///< those of the prompt_tokens that the session held already
  int64_t reply_tokens;  ///< an end id included
  int64_t left_turns;    ///< number of the oldest turns that were dropped because there was no room for them
} attune_chat_reply;

/// Begins a conversation. |text| is borrowed until the conversation is destroyed. |options| may be null. Reserves
/// address space, whose pages become memory when they are used; later calls allocate only as attune_generate does for
/// each reply. Fails with NOT_FOUND if the model has no chat template, with INVALID_ARGUMENT if it has no decoder that
/// continues sequences or is an encoder-decoder, and as attune_session_create does.
attune_status attune_chat_session_create(attune_model *model, const attune_text *text, const attune_chat_session_options *options,
                                         attune_chat_session **out_chat);
/// Ends the conversation. Null is allowed.
void attune_chat_session_destroy(attune_chat_session *chat);
/// Returns the most tokens of the conversation, 0 for null.
int64_t attune_chat_session_context(const attune_chat_session *chat);
/// Forgets all messages but the system message. No call may be running.
void attune_chat_session_reset(attune_chat_session *chat);

/// Sends |message| of the user and generates the reply. Only the tokens that the session does not hold are computed.
///
/// A reply ends with an end id of the settings, with the token by which the template ends a message of the assistant,
/// with a stop string, or when the context is full; max_length of the settings does not count, max_new_tokens does. The
/// reply should have room for max_new_tokens, or for a quarter of the context if that is less or max_new_tokens is not
/// set. While it has not, the oldest turns leave the conversation, a message and its reply at a time; the system
/// message stays. If no turn is left, the reply gets the room that there is. A reply that a callback ends stays in the
/// conversation as far as it got; a reply without any text leaves together with its message.
///
/// Sampling draws reply n, counted from 0 and not anew after attune_chat_session_reset, with the seed of the settings
/// plus n. Fails with INVALID_ARGUMENT for a message that is not UTF-8 or that the template refuses, with
/// LIMIT_EXCEEDED for a message that is too long for the context, with BUSY while another call runs, and as
/// attune_generate does; the conversation is then as before.
attune_status attune_chat_session_send(attune_chat_session *chat, const char *message, size_t bytes, attune_chat_reply *out_reply);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_TEXT_GENERATION_H */
