/*===- chat.h - Chat templates -----------------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Renders a conversation by the chat template of a model, to the text that apply_chat_template of transformers 5 gives.
 * The template was compiled with the model; nothing is parsed here. Default values stand in parentheses. The
 * conventions on errors, threads and strings are those of runtime.h. A chat serves one call at a time; the caller must
 * ensure this.
 *
 *   program = attune_text_chat_program(text, &bytes);  // of OUT.text (text.h)
 *   attune_chat_open(program, bytes, NULL, &chat);
 *   attune_chat_message(chat, "user", "Hello");
 *   attune_chat_set(chat, attune_chat_variables(chat), "add_generation_prompt", attune_chat_bool(chat, 1));
 *   attune_chat_render(chat, &rendered);
 *
 * The text holds all special tokens that the template writes, the one at the beginning included. Encode the text
 * *without* special tokens of the tokenizer's own (add_special_tokens = 0), or the model sees that token twice.
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_CHAT_H
#define ATTUNE_CHAT_H

#include "attune/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility push(default)
#endif

/// The compiled templates of a model, with memory for values and text.
typedef struct attune_chat attune_chat;
/// A value in the memory of a chat. It lives until attune_chat_clear or attune_chat_close.
typedef struct attune_chat_value attune_chat_value;

/// The options of a chat. Set every field by attune_chat_options_init first.
typedef struct attune_chat_options {
  size_t struct_bytes;       ///< sizeof(attune_chat_options), set by init
  const char *template_name; ///< null = "tool_use" if there is a template of this name and tools are given, else
                             ///< "default"
  size_t memory_bytes;       ///< address space for values and the work of a rendering, 1 MiB to 1 TiB (256 MiB); pages
                             ///< are taken when needed
  size_t output_bytes;       ///< most bytes of text, 1 byte to 1 TiB (64 MiB)
  uint64_t max_steps;        ///< most steps of a rendering, > 0 (100 million, about a second); an instruction takes a
                             ///< step, and more of them where it works on long values
} attune_chat_options;

/// A date and a time, in the time zone of the user. A chat has no date until attune_chat_set_date sets one.
typedef struct attune_chat_date {
  int32_t year, month, day;     ///< 1 … 9999, 1 … 12, a day of the month
  int32_t hour, minute, second; ///< 0 … 23, 0 … 59, 0 … 59
} attune_chat_date;

/// The bytes [begin, end) of a text.
typedef struct attune_chat_span {
  size_t begin, end;
} attune_chat_span;

/// A rendered conversation. It lives until the next call with the same chat.
typedef struct attune_chat_rendered {
  const char *text; ///< UTF-8, and a NUL after it
  size_t bytes;     ///< without the NUL
  const attune_chat_span *assistant; ///< the parts that the template marks as written by the assistant ({% generation %})
  size_t num_assistant;
} attune_chat_rendered;

/// Sets |options| to the defaults.
void attune_chat_options_init(attune_chat_options *options);
/// Opens the compiled templates at |program|, |bytes| bytes at an address that is a multiple of 8;
/// attune_text_chat_program (text.h) returns |program| and |bytes| for a file OUT.text. This memory is borrowed until
/// the chat is closed. |options| may be null. Fails with INVALID_ARGUMENT, NOT_FOUND (no template is called
/// options.template_name), CORRUPT, INCOMPATIBLE or OUT_OF_MEMORY.
attune_status attune_chat_open(const void *program, size_t bytes, const attune_chat_options *options, attune_chat **out_chat);
/// Frees |chat| and its values. Null is allowed.
void attune_chat_close(attune_chat *chat);
/// Frees all values of |chat| and forgets its variables, messages and date.
void attune_chat_clear(attune_chat *chat);

//===--- Values ------------------------------------------------------------===//
// The functions of this section return null and set attune_last_error if the memory of the chat is full, or an argument
// is wrong. If an argument that should be a value is null, they return null and leave attune_last_error as it is. So a
// program may nest calls and check only the result of the outermost one.

/// Returns the value none: None in Python, null in JSON.
attune_chat_value *attune_chat_none(attune_chat *chat);
/// Returns the value true if |value| is not 0, else the value false.
attune_chat_value *attune_chat_bool(attune_chat *chat, int value);
/// Returns |value| as an int of Python.
attune_chat_value *attune_chat_int(attune_chat *chat, int64_t value);
/// Returns |value| as a float of Python, which a template prints with a point: "1.0".
attune_chat_value *attune_chat_float(attune_chat *chat, double value);
/// Returns a string, a copy of the |bytes| bytes at |text|, which must be UTF-8.
attune_chat_value *attune_chat_text(attune_chat *chat, const char *text, size_t bytes);
/// Returns a new list without elements; attune_chat_append adds them.
attune_chat_value *attune_chat_list(attune_chat *chat);
/// Returns a new dictionary without keys; attune_chat_set adds them.
attune_chat_value *attune_chat_dict(attune_chat *chat);
/// Appends |value| to |list|; returns |list|.
attune_chat_value *attune_chat_append(attune_chat *chat, attune_chat_value *list, const attune_chat_value *value);
/// Sets |key| of the dictionary |dict| to |value|; returns |dict|. Keys keep the order in which they are first set.
attune_chat_value *attune_chat_set(attune_chat *chat, attune_chat_value *dict, const char *key, const attune_chat_value *value);
/// Does the same as attune_chat_set for the key of |key_bytes| bytes at |key|, which may contain NUL.
attune_chat_value *attune_chat_set_text(attune_chat *chat, attune_chat_value *dict, const char *key, size_t key_bytes,
                                        const attune_chat_value *value);

//===--- Rendering ---------------------------------------------------------===//

/// Returns the dictionary of the variables that the template sees; attune_chat_set adds variables. The names are those
/// of transformers: `messages`, a list of dictionaries; `tools` and `documents`, lists of dictionaries or none;
/// `add_generation_prompt`; and variables of a model's own template, such as `enable_thinking`. The template also sees
/// the tokenizer's special tokens (`bos_token`, `eos_token`, …) unless the dictionary has variables of these names.
attune_chat_value *attune_chat_variables(attune_chat *chat);
/// Appends a message of |role| with |content| to the variable `messages`. Returns the message, a dictionary, or null
/// after a failure, which attune_last_error then describes.
attune_chat_value *attune_chat_message(attune_chat *chat, const char *role, const char *content);
/// Sets the date that templates print (`strftime_now`). If no date is set, a rendering that asks for the date fails
/// with INVALID_ARGUMENT. Fails with INVALID_ARGUMENT for a date that does not exist.
attune_status attune_chat_set_date(attune_chat *chat, const attune_chat_date *date);
/// Renders the conversation. As in transformers, the template does not see keys of a message whose value is none, and
/// it sees the reasoning of a message under both names `reasoning_content` and `thinking`, also if the message has it
/// under only one of these names or as `reasoning`.
///
/// Fails with INVALID_ARGUMENT if there is no message, or for an error of the template: an error that the template
/// raises (`raise_exception`, whose text attune_last_error gives), or an operation on values that do not allow it.
/// Fails with NOT_FOUND if there is no template to choose (attune_chat_options::template_name), or the chosen one could
/// not be compiled; with LIMIT_EXCEEDED above max_steps or output_bytes of the options, above 200 nested calls, filters
/// or values, above 4096 parts of the assistant, or for an integer of more than 64 bits; with OUT_OF_MEMORY above
/// memory_bytes of the options; with CORRUPT for a damaged template.
attune_status attune_chat_render(attune_chat *chat, attune_chat_rendered *out_rendered);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_CHAT_H */
