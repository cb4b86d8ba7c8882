/*===- text.h - Tokenizers ----------------------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opens the tokenizer of a compiled model (OUT.text) and turns texts into ids and back. Ids, offsets and decoded texts
 * are those of Hugging Face's tokenizers, or of transformers for tokenizers that it implements in Python
 * (docs/reference-versions.md). The conventions on errors, threads and strings are those of runtime.h; programs
 * link libattune_text.
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
/// Opens a file in memory, which begins at a multiple of 64 and is borrowed until |*out_text| is closed. Fails with
/// INVALID_ARGUMENT, CORRUPT, INCOMPATIBLE or OUT_OF_MEMORY.
attune_status attune_text_open_memory(const void *data, size_t bytes, attune_text **out_text);
/// Unmaps the file and frees |text|. Its tokenizers, and all else that was made with it, must have been destroyed. Null
/// is allowed.
void attune_text_close(attune_text *text);
/// Compares the checksums of all tables and expects zeros between them; reads the whole file. Fails with CORRUPT.
attune_status attune_text_verify(const attune_text *text);

/// Returns the size of the vocabulary, 0 if the file has no tokenizer. Every id is less; some of these numbers may have
/// no token.
int64_t attune_text_vocab_size(const attune_text *text);
/// Returns the string of token |id| (UTF-8, not NUL-terminated) and its length in |out_bytes|; null if there is none.
const char *attune_text_token(const attune_text *text, int64_t id, size_t *out_bytes);
/// Returns the id of the token whose string is |token|, |bytes| bytes of UTF-8; -1 if there is none.
int64_t attune_text_token_id(const attune_text *text, const char *token, size_t bytes);
/// Returns 1 if |id| is a special token, else 0.
int attune_text_is_special(const attune_text *text, int64_t id);
/// Returns the compiled chat templates, for attune_chat_open (chat.h), and their length in |out_bytes|; null if there
/// are none. They live until |text| is closed.
const void *attune_text_chat_program(const attune_text *text, size_t *out_bytes);

//===--- Tokenizers --------------------------------------------------------===//

/// The memory and the caches of a tokenizer. Any thread may call it, but only one at a time; the caller sees to that.
typedef struct attune_tokenizer attune_tokenizer;

/// The options of a tokenizer. Set every field by attune_tokenizer_options_init first.
typedef struct attune_tokenizer_options {
  size_t struct_bytes;   ///< sizeof(attune_tokenizer_options), set by init
  size_t max_call_bytes; ///< most bytes of the texts, and most ids, of one call (4 MiB); at most 256 MiB
  void *memory;          ///< the caller's memory, at a multiple of 64, owned by the tokenizer until destroyed; null = reserve
                         ///< address space, whose pages are taken when a call first needs them
  size_t memory_bytes;   ///< size of |memory|, at least attune_tokenizer_memory_bytes
} attune_tokenizer_options;

/// Sets |options| to the defaults.
void attune_tokenizer_options_init(attune_tokenizer_options *options);
/// Returns a size of |memory| that is enough for every call with at most options.max_call_bytes bytes of text and at most
/// that number of inputs; padding and overlapping windows, which make the encodings longer than the texts, may need more.
/// |options| may be null. Returns 0 if |text| has no tokenizer or the size overflows.
size_t attune_tokenizer_memory_bytes(const attune_text *text, const attune_tokenizer_options *options);
/// Makes a tokenizer. |options| may be null. Calls of it take no memory. Fails with INVALID_ARGUMENT or OUT_OF_MEMORY.
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

/// The text of a pair that is truncated.
typedef enum attune_truncation {
  ATTUNE_TRUNCATE_LONGEST_FIRST = 0, ///< the longer text, until both are equally long; then both
  ATTUNE_TRUNCATE_ONLY_FIRST = 1,
  ATTUNE_TRUNCATE_ONLY_SECOND = 2
} attune_truncation;

/// The options of an encoding. Set every field by attune_encode_options_init first.
typedef struct attune_encode_options {
  size_t struct_bytes;          ///< sizeof(attune_encode_options), set by init
  int32_t add_special_tokens;   ///< 1 = as the tokenizer's template says
  int32_t split_special_tokens; ///< 1 = "<s>" and the like in a text are plain text, not special tokens
  int32_t want_offsets;         ///< 1 = offsets and words
  int32_t truncation;           ///< attune_truncation
  int64_t max_length;           ///< most tokens, special ones included; -1 = any
  int64_t stride;               ///< tokens that a window of a truncated text shares with the one before
  int32_t want_overflow;        ///< 1 = a truncated text also has the encodings of its windows after the first
  int32_t truncate_left;        ///< 1 = the end of the text is kept, not the beginning
  int32_t pad_to_longest;       ///< 1 = encodings get the length of the longest
  int32_t pad_left;             ///< 1 = padding goes before the tokens
  int64_t pad_length;           ///< > 0: least length of an encoding; ignored with pad_to_longest
  int64_t pad_to_multiple_of;   ///< > 1: padded lengths are multiples of this
  int64_t pad_id;               ///< the id of padding
  int64_t pad_type_id;
} attune_encode_options;

/// Sets |options| to the defaults: special tokens, no truncation, no padding. pad_id, pad_type_id, the sides and
/// split_special_tokens are those of |text|; they are 0 if that is null or has no tokenizer.
void attune_encode_options_init(const attune_text *text, attune_encode_options *options);

/// The tokens of an input, or of one window of it, in memory of the tokenizer. |offsets| and |word_ids| are null unless
/// options.want_offsets.
typedef struct attune_encoding {
  int64_t input;                      ///< the number of the input, from 0
  int64_t length;                     ///< tokens, special ones and padding included
  const int32_t *ids;                 ///< [length], and the same below
  const int32_t *type_ids;            ///< 0 for the first text, 1 for the second, or what the template says; pad_type_id for padding
  const int32_t *attention_mask;      ///< 0 for padding
  const int32_t *special_tokens_mask; ///< 1 for tokens that the template or padding added
  const int32_t *sequence_ids;        ///< 0 or 1: the text; -1 for tokens of the template and padding
  const int32_t *offsets;  ///< [length, 2]: first character in the text and the one after the last; (0, 0) where sequence_ids is -1
  const int32_t *word_ids; ///< number of the piece or added token in the text that the token is part of; -1 where sequence_ids is -1
} attune_encoding;

/// Encodes |num_inputs| inputs. |*out_encodings| is an array of |*out_num| encodings, in the order of the inputs, each
/// followed by its further windows; it lives until the next call of |tokenizer|. |options| may be null. Fails with
/// INVALID_ARGUMENT for bytes that are not UTF-8, a part of a text that needs the unknown token if the vocabulary has
/// none, a max_length below the number of special tokens, a stride that is not less than a window, or a truncation that
/// cannot reach max_length, and with LIMIT_EXCEEDED for longer texts than max_call_bytes, texts that the normalizer or the
/// pre-tokenizer makes longer than four times their bytes plus 64 KiB, or encodings that need more memory than |tokenizer|
/// has.
attune_status attune_tokenizer_encode(attune_tokenizer *tokenizer, const attune_text_input *inputs, size_t num_inputs,
                                      const attune_encode_options *options, const attune_encoding **out_encodings, size_t *out_num);

/// Decodes ids to text: |*out_text| (UTF-8, NUL-terminated) with |*out_bytes| bytes lives until the next call of
/// |tokenizer|. Ids without a token are skipped, and so are special tokens if |skip_special_tokens|. Fails with
/// LIMIT_EXCEEDED for more ids than max_call_bytes, or a text that needs more memory than |tokenizer| has.
attune_status attune_tokenizer_decode(attune_tokenizer *tokenizer, const int32_t *ids, size_t num_ids, int skip_special_tokens,
                                      const char **out_text, size_t *out_bytes);

//===--- Text as it comes --------------------------------------------------===//

/// Decodes ids one after the other. Emits only complete UTF-8; the pieces together are what attune_tokenizer_decode
/// makes of all ids.
typedef struct attune_decode_stream attune_decode_stream;

/// Makes a stream. Takes memory; calls of it take none. Fails with OUT_OF_MEMORY, or with INVALID_ARGUMENT if |text|
/// has no tokenizer.
attune_status attune_decode_stream_create(const attune_text *text, int skip_special_tokens, attune_decode_stream **out_stream);
/// Frees |stream|. Null is allowed.
void attune_decode_stream_destroy(attune_decode_stream *stream);
/// Adds |id|. |*out_text| (not NUL-terminated) with |*out_bytes| bytes is the text that is now complete, often nothing;
/// it lives until the next call of |stream|. Fails with LIMIT_EXCEEDED if too many ids wait for the end of a text, or
/// their text is too long.
attune_status attune_decode_stream_push(attune_decode_stream *stream, int32_t id, const char **out_text, size_t *out_bytes);
/// Ends the text: |*out_text| with |*out_bytes| bytes is the rest of it, which waited for more ids. The next id begins
/// another text.
attune_status attune_decode_stream_finish(attune_decode_stream *stream, const char **out_text, size_t *out_bytes);

#ifdef ATTUNE_BUILD_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* ATTUNE_TEXT_H */
