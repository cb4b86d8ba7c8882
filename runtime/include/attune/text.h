/*===- text.h - Tokenizers ----------------------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens the tokenizer of a compiled model (`attune compile MODEL -o OUT.o` writes it to OUT.text) and turns texts into
 * ids and back. Ids, offsets and decoded texts are those of Hugging Face's tokenizers, or of transformers for
 * tokenizers that transformers implements in Python (docs/reference-versions.md). Default values stand in parentheses.
 * The conventions on errors, threads and strings are those of runtime.h; programs link libattune_text.
 *===-----------------------------------------------------------------------===*/
#ifndef ATTUNE_TEXT_H
#define ATTUNE_TEXT_H

#include "attune/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility push(default)
#endif

//===--- Files -------------------------------------------------------------===//

/// A mapped .text file: vocabulary, tables of the tokenizer, chat template. Immutable; shared by its tokenizers.
typedef struct attune_text attune_text;

/// Maps the file |path|. Reads its header, settings and steps, not its large tables, so this takes microseconds. Fails
/// with NOT_FOUND, IO_ERROR, CORRUPT, INCOMPATIBLE or OUT_OF_MEMORY.
attune_status attune_text_open(const char *path, attune_text **out_text);
/// Opens the contents of a .text file, |bytes| bytes at the address |data|, a multiple of 64. They are borrowed until
/// |*out_text| is closed. Fails with INVALID_ARGUMENT, CORRUPT, INCOMPATIBLE or OUT_OF_MEMORY.
attune_status attune_text_open_memory(const void *data, size_t bytes, attune_text **out_text);
/// Unmaps the file and frees |text|. Every tokenizer, task or other object that was made with |text| must have been
/// destroyed before. Null is allowed.
void attune_text_close(attune_text *text);
/// Reads the whole file: checks the checksums of all tables, and that the bytes between tables are 0. Fails with
/// CORRUPT.
attune_status attune_text_verify(const attune_text *text);

/// Returns the size of the vocabulary, 0 if the file has no tokenizer. Every id is less than this size; some of the
/// numbers below it may have no token.
int64_t attune_text_vocab_size(const attune_text *text);
/// Returns the string of token |id| (UTF-8, not NUL-terminated), and its length in bytes in |*out_bytes| unless
/// |out_bytes| is null; null and 0 if there is no such token.
const char *attune_text_token(const attune_text *text, int64_t id, size_t *out_bytes);
/// Returns the id of the token whose string is the |bytes| bytes of UTF-8 at |token|; -1 if there is none.
int64_t attune_text_token_id(const attune_text *text, const char *token, size_t bytes);
/// Returns 1 if |id| is a special token, else 0.
int attune_text_is_special(const attune_text *text, int64_t id);
/// Returns the compiled chat templates, for attune_chat_open (chat.h), and their length in bytes in |*out_bytes| unless
/// |out_bytes| is null; null and 0 if there are none. They live until |text| is closed.
const void *attune_text_chat_program(const attune_text *text, size_t *out_bytes);

//===--- Tokenizers --------------------------------------------------------===//

/// A tokenizer: its memory and its caches. Any thread may use it, but only one at a time. The caller must ensure this;
/// a second call at the same time is not detected.
typedef struct attune_tokenizer attune_tokenizer;

/// The options of a tokenizer. Set every field by attune_tokenizer_options_init first.
typedef struct attune_tokenizer_options {
  size_t struct_bytes;   ///< sizeof(attune_tokenizer_options), set by init
  size_t max_call_bytes; ///< most bytes of all texts, and most inputs, of a call of attune_tokenizer_encode; most ids
                         ///< of a call of attune_tokenizer_decode (4 MiB); at most 256 MiB
  void *memory;          ///< the caller's memory, at a multiple of 64, owned by the tokenizer until destroyed; null =
                         ///< reserve address space, whose pages are taken when a call first needs them
  size_t memory_bytes;   ///< size of |memory|, at least attune_tokenizer_memory_bytes
} attune_tokenizer_options;

/// Sets |options| to the defaults.
void attune_tokenizer_options_init(attune_tokenizer_options *options);
/// Returns a size of options.memory in bytes that is enough for every call within options.max_call_bytes without
/// padding and overlapping windows. These make encodings longer than the texts; a call for which the memory is then too
/// small fails with LIMIT_EXCEEDED. |options| may be null. Returns 0 if |text| has no tokenizer or the size overflows.
size_t attune_tokenizer_memory_bytes(const attune_text *text, const attune_tokenizer_options *options);
/// Makes a tokenizer. |text| is borrowed until the tokenizer is destroyed. |options| may be null. Calls of the
/// tokenizer take no memory. Fails with INVALID_ARGUMENT, also for options.memory that is too small or misaligned, or
/// with OUT_OF_MEMORY.
attune_status attune_tokenizer_create(const attune_text *text, const attune_tokenizer_options *options, attune_tokenizer **out_tokenizer);
/// Ends |tokenizer|, and frees its memory unless that is the caller's. Null is allowed.
void attune_tokenizer_destroy(attune_tokenizer *tokenizer);

/// A text, or two that belong together. Texts are UTF-8 and may contain NUL.
typedef struct attune_text_input {
  const char *text;
  size_t bytes;
  const char *pair; ///< the second text, or null
  size_t pair_bytes;
} attune_text_input;

/// The choice of the text of a pair that is truncated.
typedef enum attune_truncation {
  ATTUNE_TRUNCATE_LONGEST_FIRST = 0, ///< the longer text, until both are equally long; then both
  ATTUNE_TRUNCATE_ONLY_FIRST = 1,    ///< the first text, also if it is the only one
  ATTUNE_TRUNCATE_ONLY_SECOND = 2    ///< the second text; a call that must truncate an input without one fails
} attune_truncation;

/// The options of an encoding. Set every field by attune_encode_options_init first.
typedef struct attune_encode_options {
  size_t struct_bytes;          ///< sizeof(attune_encode_options), set by init
  int32_t add_special_tokens;   ///< 1 = add the special tokens of the tokenizer's template
  int32_t split_special_tokens; ///< 1 = "<s>" and the like in a text are plain text, not special tokens
  int32_t want_offsets;         ///< 1 = encodings have offsets and word_ids
  int32_t truncation;           ///< attune_truncation
  int64_t max_length;           ///< most tokens of an encoding, special ones included; -1 = no limit, no truncation
  int64_t stride;               ///< tokens that a window of a truncated text shares with the window before
  int32_t want_overflow;        ///< 1 = a truncated input also gets encodings of its windows after the first
  int32_t truncate_left;        ///< 1 = the first window is the end of the text, not the beginning
  int32_t pad_to_longest;       ///< 1 = pad encodings to the length of the longest one of the call
  int32_t pad_left;             ///< 1 = padding goes before the tokens
  int64_t pad_length;           ///< > 0: pad shorter encodings to this length; ignored with pad_to_longest
  int64_t pad_to_multiple_of;   ///< > 1: the length to which encodings are padded is rounded up to a multiple of this
  int64_t pad_id;               ///< the id of padding
  int64_t pad_type_id;          ///< the type id of padding
} attune_encode_options;

/// Sets |options| to the defaults: special tokens, no truncation, no padding. pad_id, pad_type_id, pad_left,
/// truncate_left and split_special_tokens are those of |text|, or 0 if |text| is null or has no tokenizer.
void attune_encode_options_init(const attune_text *text, attune_encode_options *options);

/// The tokens of an input, or of one window of it, in memory of the tokenizer. |offsets| and |word_ids| are null unless
/// options.want_offsets is 1.
typedef struct attune_encoding {
  int64_t input;                      ///< the number of the input, from 0
  int64_t length;                     ///< number of tokens, special ones and padding included
  const int32_t *ids;                 ///< [length], as the arrays below unless they say otherwise
  const int32_t *type_ids;            ///< 0 for the first text, 1 for the second, or the numbers in the tokenizer's
                                      ///< template; pad_type_id for padding
  const int32_t *attention_mask;      ///< 1 for tokens, 0 for padding
  const int32_t *special_tokens_mask; ///< 1 for tokens of the template and padding, 0 for those of the texts
  const int32_t *sequence_ids;        ///< 0 for the first text, 1 for the second; -1 for tokens of the template and
                                      ///< padding
  const int32_t *offsets;  ///< [length, 2]: the characters (code points) [begin, end) of the text that the token stands
                           ///< for; (0, 0) where sequence_ids is -1
  const int32_t *word_ids; ///< the number of the piece or added token of the text, from 0, to which the token belongs;
                           ///< -1 where sequence_ids is -1
} attune_encoding;

/// Encodes |num_inputs| inputs. |*out_encodings| is an array of |*out_num| encodings, in the order of the inputs; with
/// want_overflow, the further windows of an input follow its first one. The array lives until the next call of
/// |tokenizer|. |options| may be null. Fails with INVALID_ARGUMENT for bytes that are not UTF-8, a part of a text that
/// needs the unknown token if the vocabulary has none, a max_length below the number of special tokens, a stride that
/// is not less than a window, or a truncation that cannot reach max_length. Fails with LIMIT_EXCEEDED for a call above
/// max_call_bytes, for texts that the normalizer or the pre-tokenizer makes longer than four times their bytes plus 64
/// KiB, or for encodings that need more memory than |tokenizer| has.
attune_status attune_tokenizer_encode(attune_tokenizer *tokenizer, const attune_text_input *inputs, size_t num_inputs,
                                      const attune_encode_options *options, const attune_encoding **out_encodings, size_t *out_num);

/// Decodes ids to text: |*out_text| (UTF-8, NUL-terminated) with |*out_bytes| bytes, the NUL not included. The text
/// lives until the next call of |tokenizer|. Ids without a token are skipped, and so are special tokens if
/// |skip_special_tokens| is not 0. Fails with LIMIT_EXCEEDED for more ids than max_call_bytes, or a text that needs
/// more memory than |tokenizer| has.
attune_status attune_tokenizer_decode(attune_tokenizer *tokenizer, const int32_t *ids, size_t num_ids, int skip_special_tokens,
                                      const char **out_text, size_t *out_bytes);

//===--- Text as it comes --------------------------------------------------===//

/// A decoder that takes ids one after the other. It emits only complete UTF-8; the pieces together are the text that
/// attune_tokenizer_decode makes of all ids.
typedef struct attune_decode_stream attune_decode_stream;

/// Makes a stream. |text| is borrowed until the stream is destroyed. |skip_special_tokens| is as in
/// attune_tokenizer_decode. Takes memory; calls of the stream take none. Fails with OUT_OF_MEMORY, or with
/// INVALID_ARGUMENT if |text| has no tokenizer.
attune_status attune_decode_stream_create(const attune_text *text, int skip_special_tokens, attune_decode_stream **out_stream);
/// Frees |stream|. Null is allowed.
void attune_decode_stream_destroy(attune_decode_stream *stream);
/// Adds |id|. |*out_text| (not NUL-terminated) with |*out_bytes| bytes is the text that has become complete by |id|,
/// often none; it lives until the next call of |stream|. Fails with LIMIT_EXCEEDED if too many ids wait for the end of
/// a text, or their text is too long; |*out_text| is then "".
attune_status attune_decode_stream_push(attune_decode_stream *stream, int32_t id, const char **out_text, size_t *out_bytes);
/// Ends the text: |*out_text| (not NUL-terminated) with |*out_bytes| bytes is the rest of the text, which waited for
/// more ids. The next id begins another text. Fails with LIMIT_EXCEEDED as attune_decode_stream_push does; the next id
/// begins another text then, too.
attune_status attune_decode_stream_finish(attune_decode_stream *stream, const char **out_text, size_t *out_bytes);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_TEXT_H */
