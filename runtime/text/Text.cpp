//===- Text.cpp - The C interface: files and tokenizers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/src/Error.h"
#include "runtime/text/EncodingPlan.h"
#include "runtime/text/Tokenizer.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

using namespace attune;
using namespace attune::text;

//===--- Files -------------------------------------------------------------===//

/// Sets |out| to a new object for the file |name|, which this does not open. Fails with OUT_OF_MEMORY.
static attune_status makeText(const char *name, attune_text **out) {
  attune_text *text = static_cast<attune_text *>(calloc(1, sizeof(attune_text)));
  if (!text)
    return fail(ATTUNE_OUT_OF_MEMORY, "cannot open '%s': %zu bytes could not be had", name, sizeof(attune_text));
  new (text) attune_text;
  snprintf(text->name, sizeof(text->name), "%s", name);
  *out = text;
  return ATTUNE_OK;
}

/// Finishes opening |text|; |status| is the result of opening its file. Checks its tables if it has a tokenizer, and
/// sets |outText| to |text|. If |status| or the check is an error, frees |text| and returns the error.
static attune_status finishOpen(attune_text *text, attune_status status, attune_text **outText) {
  text->hasTokenizer = status == ATTUNE_OK && text->file.find(kSectionSettings);
  if (text->hasTokenizer) {
    status = text->tables.open(text->file, text->name);
    if (status != ATTUNE_OK)
      text->file.close();
  }
  if (status != ATTUNE_OK) {
    free(text);
    return status;
  }
  *outText = text;
  return ATTUNE_OK;
}

attune_status attune_text_open(const char *path, attune_text **outText) {
  if (!outText)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_text is null");
  *outText = nullptr;
  if (!path)
    return fail(ATTUNE_INVALID_ARGUMENT, "path is null");
  attune_text *text = nullptr;
  ATTUNE_TRY(makeText(path, &text));
  return finishOpen(text, text->file.open(path), outText);
}

attune_status attune_text_open_memory(const void *data, size_t bytes, attune_text **outText) {
  if (!outText)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_text is null");
  *outText = nullptr;
  if (!data)
    return fail(ATTUNE_INVALID_ARGUMENT, "data is null");
  attune_text *text = nullptr;
  ATTUNE_TRY(makeText("memory", &text));
  return finishOpen(text, text->file.borrow("memory", data, bytes), outText);
}

void attune_text_close(attune_text *text) {
  if (!text)
    return;
  text->file.close();
  free(text);
}

attune_status attune_text_verify(const attune_text *text) {
  if (!text)
    return fail(ATTUNE_INVALID_ARGUMENT, "text is null");
  return text->file.verify(text->name);
}

int64_t attune_text_vocab_size(const attune_text *text) { return text && text->hasTokenizer ? text->tables.settings.vocabSize : 0; }

/// Returns the TokenFlags of the token |id|, 0 if there is none.
static uint8_t flagsOf(const attune_text *text, int64_t id) {
  return id >= 0 && id < attune_text_vocab_size(text) ? text->tables.flags[size_t(id)] : 0;
}

const char *attune_text_token(const attune_text *text, int64_t id, size_t *outBytes) {
  Bytes string;
  if (flagsOf(text, id) & kTokenExists)
    string = text->tables.strings.get(size_t(id));
  if (outBytes)
    *outBytes = string.size;
  return reinterpret_cast<const char *>(string.data);
}

int64_t attune_text_token_id(const attune_text *text, const char *token, size_t bytes) {
  if (!text || !text->hasTokenizer || !token)
    return -1;
  uint32_t id = text->tables.lookup.find(text->tables.strings, reinterpret_cast<const uint8_t *>(token), bytes);
  return id == kNoId ? -1 : int64_t(id);
}

int attune_text_is_special(const attune_text *text, int64_t id) { return (flagsOf(text, id) & kTokenSpecial) != 0; }

const void *attune_text_chat_program(const attune_text *text, size_t *outBytes) {
  Section section = text ? text->file.find(kSectionChatTemplate) : Section();
  if (outBytes)
    *outBytes = section.bytes;
  return section.data;
}

//===--- Tokenizers --------------------------------------------------------===//

void attune_tokenizer_options_init(attune_tokenizer_options *options) {
  if (!options)
    return;
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
  options->max_call_bytes = size_t(4) << 20;
}

void attune_encode_options_init(const attune_text *text, attune_encode_options *options) {
  if (!options)
    return;
  memset(options, 0, sizeof(*options));
  options->struct_bytes = sizeof(*options);
  options->add_special_tokens = 1;
  options->max_length = -1;
  if (text && text->hasTokenizer) {
    options->pad_id = text->tables.settings.padId;
    options->pad_type_id = text->tables.settings.padTypeId;
    options->pad_left = (text->tables.settings.defaults & kDefaultPadLeft) != 0;
    options->truncate_left = (text->tables.settings.defaults & kDefaultTruncateLeft) != 0;
    options->split_special_tokens = (text->tables.settings.defaults & kDefaultSplitSpecial) != 0;
  }
}

/// The largest max_call_bytes of a tokenizer. Positions in normalized texts, which may have TextEncoder::room bytes,
/// must fit into signed 32-bit numbers.
static constexpr size_t kMostCallBytes = size_t(1) << 28;
static_assert(TextEncoder::room(kMostCallBytes) <= INT32_MAX);

size_t attune_tokenizer_memory_bytes(const attune_text *text, const attune_tokenizer_options *options) {
  attune_tokenizer_options defaults;
  attune_tokenizer_options_init(&defaults);
  size_t bytes = options ? options->max_call_bytes : defaults.max_call_bytes;
  if (!text || !text->hasTokenizer || bytes > SIZE_MAX / 4096)
    return 0;
  // Takes the same memory as a call does, from a block that does not exist and has no limit, to measure it.
  Memory memory;
  memory.open(nullptr, SIZE_MAX / 2);
  memory.take<attune_tokenizer>(1);
  TextEncoder encoder;
  encoder.openCaches(text->tables, memory);
  size_t room = TextEncoder::room(bytes);
  TokenList tokens;
  tokens.open(memory, room, true);
  encoder.open(text->tables, memory, bytes);
  // Later in a call, encodings need memory, too, for their tokens and for up to |bytes| inputs. 64 bytes for each
  // token, twice kTokenBytes, leave some for padding and overlapping windows.
  size_t inputs, encodings = (room + 4096) * 64;
  if (__builtin_mul_overflow(bytes, EncodingPlan::inputBytes(text->tables) + 2 * sizeof(TokenSpan), &inputs) || inputs > SIZE_MAX / 4)
    return 0;
  if (encodings < inputs + (room + 4096) * EncodingPlan::kTokenBytes)
    encodings = inputs + (room + 4096) * EncodingPlan::kTokenBytes;
  return memory.mark() + encodings + 4096;
}

attune_status attune_tokenizer_create(const attune_text *text, const attune_tokenizer_options *options, attune_tokenizer **outTokenizer) {
  if (!outTokenizer)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_tokenizer is null");
  *outTokenizer = nullptr;
  if (!text || !text->hasTokenizer)
    return fail(ATTUNE_INVALID_ARGUMENT, text ? "'%s' has no tokenizer" : "text is null", text ? text->name : "");
  attune_tokenizer_options defaults;
  attune_tokenizer_options_init(&defaults);
  if (!options)
    options = &defaults;
  if (options->struct_bytes != sizeof(*options))
    return fail(ATTUNE_INVALID_ARGUMENT, "options: expected struct_bytes %zu, got %zu: call attune_tokenizer_options_init",
                sizeof(*options), options->struct_bytes);
  size_t needed = attune_tokenizer_memory_bytes(text, options);
  if (needed == 0 || options->max_call_bytes > kMostCallBytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "max_call_bytes: expected at most %zu, got %zu", kMostCallBytes, options->max_call_bytes);
  void *block = options->memory;
  size_t bytes = options->memory_bytes;
  if (block && (reinterpret_cast<uintptr_t>(block) % 64 || bytes < needed))
    return fail(ATTUNE_INVALID_ARGUMENT, "memory: expected %zu bytes at a multiple of 64, got %zu", needed, bytes);
  if (block) {
    memset(block, 0, PieceCache::zeroBytes() + sizeof(attune_tokenizer) + 128);
  } else {
    bytes = needed;
    block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
      return fail(ATTUNE_OUT_OF_MEMORY, "cannot reserve %zu bytes for calls of %zu bytes: %s", bytes, options->max_call_bytes,
                  strerror(errno));
  }
  Memory memory;
  memory.open(block, bytes);
  attune_tokenizer *tokenizer = new (memory.take<attune_tokenizer>(1).data) attune_tokenizer;
  tokenizer->text = text;
  tokenizer->block = block;
  tokenizer->blockBytes = bytes;
  tokenizer->ownsBlock = !options->memory;
  tokenizer->maxBytes = options->max_call_bytes;
  tokenizer->encoder.openCaches(text->tables, memory);
  tokenizer->memory = memory;
  tokenizer->callMark = memory.mark();
  *outTokenizer = tokenizer;
  return ATTUNE_OK;
}

void attune_tokenizer_destroy(attune_tokenizer *tokenizer) {
  if (tokenizer && tokenizer->ownsBlock)
    munmap(tokenizer->block, tokenizer->blockBytes);
}

/// Returns the offset of the first character that is not UTF-8 or not complete, |size| if there is none.
static size_t findInvalid(const uint8_t *text, size_t size) {
  const uint8_t *at = text, *end = text + size;
  while (at < end) {
    if (end - at >= 8) {
      uint64_t word;
      memcpy(&word, at, 8);
      if (!(word & 0x8080808080808080ull)) {
        at += 8;
        continue;
      }
    }
    bool complete;
    size_t length = scanCharacter(at, end, complete);
    if (!length || !complete)
      return size_t(at - text);
    at += length;
  }
  return size;
}

/// Checks the texts of |inputs| and sets |total| to the number of their bytes. Fails with INVALID_ARGUMENT if a text
/// that has bytes is null or a text is not UTF-8, with LIMIT_EXCEEDED if |total| would exceed max_call_bytes.
static attune_status checkInputs(const attune_tokenizer &tokenizer, const attune_text_input *inputs, size_t numInputs, size_t &total) {
  total = 0;
  for (size_t i = 0; i < numInputs; ++i) {
    const char *texts[2] = {inputs[i].text, inputs[i].pair};
    const size_t sizes[2] = {inputs[i].bytes, inputs[i].pair ? inputs[i].pair_bytes : 0};
    for (int k = 0; k < 2; ++k) {
      if (!texts[k] && sizes[k])
        return fail(ATTUNE_INVALID_ARGUMENT, "input %zu: the text is null", i);
      if (sizes[k] > tokenizer.maxBytes - total)
        return fail(ATTUNE_LIMIT_EXCEEDED, "input %zu: the texts have more than %zu bytes, the tokenizer's max_call_bytes", i,
                    tokenizer.maxBytes);
      total += sizes[k];
      size_t invalid = findInvalid(reinterpret_cast<const uint8_t *>(texts[k]), sizes[k]);
      if (invalid < sizes[k])
        return fail(ATTUNE_INVALID_ARGUMENT, "input %zu: expected UTF-8, got byte 0x%02X at offset %zu", i, uint8_t(texts[k][invalid]),
                    invalid);
    }
  }
  return ATTUNE_OK;
}

static attune_status checkOptions(const attune_encode_options &options) {
  if (options.struct_bytes != sizeof(options))
    return fail(ATTUNE_INVALID_ARGUMENT, "options: expected struct_bytes %zu, got %zu: call attune_encode_options_init", sizeof(options),
                options.struct_bytes);
  if (options.truncation < ATTUNE_TRUNCATE_LONGEST_FIRST || options.truncation > ATTUNE_TRUNCATE_ONLY_SECOND)
    return fail(ATTUNE_INVALID_ARGUMENT, "truncation: expected 0 to 2, got %d", options.truncation);
  if (options.max_length < -1)
    return fail(ATTUNE_INVALID_ARGUMENT, "max_length: expected -1 or more, got %lld", static_cast<long long>(options.max_length));
  if (options.stride < 0)
    return fail(ATTUNE_INVALID_ARGUMENT, "stride: expected 0 or more, got %lld", static_cast<long long>(options.stride));
  if (options.pad_length < 0 || options.pad_length > INT32_MAX || options.pad_to_multiple_of < 0 || options.pad_to_multiple_of > INT32_MAX)
    return fail(ATTUNE_INVALID_ARGUMENT, "pad_length and pad_to_multiple_of: expected 0 to %d, got %lld and %lld", INT32_MAX,
                static_cast<long long>(options.pad_length), static_cast<long long>(options.pad_to_multiple_of));
  return ATTUNE_OK;
}

attune_status attune_tokenizer_encode(attune_tokenizer *tokenizer, const attune_text_input *inputs, size_t numInputs,
                                      const attune_encode_options *options, const attune_encoding **outEncodings, size_t *outNum) {
  if (!outEncodings || !outNum)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_encodings or out_num is null");
  *outEncodings = nullptr;
  *outNum = 0;
  if (!tokenizer || (!inputs && numInputs))
    return fail(ATTUNE_INVALID_ARGUMENT, tokenizer ? "inputs is null" : "tokenizer is null");
  attune_encode_options defaults;
  attune_encode_options_init(tokenizer->text, &defaults);
  if (!options)
    options = &defaults;
  ATTUNE_TRY(checkOptions(*options));
  size_t total = 0;
  ATTUNE_TRY(checkInputs(*tokenizer, inputs, numInputs, total));
  if (numInputs > tokenizer->maxBytes)
    return fail(ATTUNE_LIMIT_EXCEEDED, "expected at most %zu inputs, the tokenizer's max_call_bytes, got %zu", tokenizer->maxBytes,
                numInputs);

  const Tables &tables = tokenizer->text->tables;
  Memory &memory = tokenizer->memory;
  memory.release(tokenizer->callMark);
  TokenList tokens;
  bool hasPair = false;
  for (size_t i = 0; i < numInputs; ++i)
    hasPair |= inputs[i].pair != nullptr;
  tokens.open(memory, TextEncoder::room(total), options->want_offsets || (hasPair && options->max_length >= 0));
  Array<TokenSpan> spans = memory.take<TokenSpan>(numInputs * 2);
  size_t scratch = memory.mark();
  TextEncoder &encoder = tokenizer->encoder;
  encoder.open(tables, memory, total);
  for (size_t i = 0; i < numInputs; ++i) {
    const char *texts[2] = {inputs[i].text, inputs[i].pair};
    const size_t sizes[2] = {inputs[i].bytes, inputs[i].pair ? inputs[i].pair_bytes : 0};
    for (int k = 0; k < 2; ++k) {
      uint32_t begin = uint32_t(tokens.size());
      encoder.encode(reinterpret_cast<const uint8_t *>(texts[k]), sizes[k], options->split_special_tokens, options->want_offsets, tokens);
      spans.push({begin, uint32_t(tokens.size())});
    }
  }
  if (encoder.missedUnknown())
    return fail(ATTUNE_INVALID_ARGUMENT, "a part of the text has no token, and the vocabulary of '%s' has no unknown token",
                tokenizer->text->name);
  if (encoder.full() || tokens.full() || spans.full)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the texts (%zu bytes) become longer than %zu bytes, the limit for texts of this size", total,
                TextEncoder::room(total));

  memory.release(scratch);
  size_t most = numInputs + 16;
  if (options->max_length >= 0 && options->want_overflow)
    most += tokens.size() * 2;
  Array<PlannedEncoding> planned = memory.take<PlannedEncoding>(most);
  Array<attune_encoding> encodings = memory.take<attune_encoding>(most);
  EncodingPlan plan(tables, *options, tokens);
  for (size_t i = 0; i < numInputs; ++i)
    ATTUNE_TRY(plan.add(uint32_t(i), spans[2 * i], spans[2 * i + 1], inputs[i].pair != nullptr, planned));
  if (planned.full)
    return fail(ATTUNE_LIMIT_EXCEEDED, "the windows need more memory than the tokenizer has: raise max_call_bytes");
  ATTUNE_TRY(plan.fill(inputs, planned, memory, encodings));
  *outEncodings = encodings.data;
  *outNum = encodings.size;
  return ATTUNE_OK;
}

attune_status attune_tokenizer_decode(attune_tokenizer *tokenizer, const int32_t *ids, size_t numIds, int skipSpecialTokens,
                                      const char **outText, size_t *outBytes) {
  if (!outText || !outBytes)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_text or out_bytes is null");
  *outText = nullptr;
  *outBytes = 0;
  if (!tokenizer || (!ids && numIds))
    return fail(ATTUNE_INVALID_ARGUMENT, tokenizer ? "ids is null" : "tokenizer is null");
  if (numIds > tokenizer->maxBytes)
    return fail(ATTUNE_LIMIT_EXCEEDED, "expected at most %zu ids, the tokenizer's max_call_bytes, got %zu", tokenizer->maxBytes, numIds);
  Memory &memory = tokenizer->memory;
  memory.release(tokenizer->callMark);
  Decoder decoder;
  Bytes text;
  if (!decoder.run(tokenizer->text->tables, ids, numIds, skipSpecialTokens != 0, memory, text))
    return fail(ATTUNE_LIMIT_EXCEEDED, "the text of %zu ids needs more memory than the tokenizer has: raise max_call_bytes", numIds);
  *outText = reinterpret_cast<const char *>(text.data);
  *outBytes = text.size;
  return ATTUNE_OK;
}
