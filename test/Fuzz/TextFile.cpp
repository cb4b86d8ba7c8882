//===- TextFile.cpp - Fuzz .text files, the encoder and the decoder -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a byte that chooses a tokenizer of test/Text/Inputs, a byte with the number of changes modulo 32, the changes,
// and a text. A change has four bytes: section, position in the section (two bytes, low byte first), and value. After
// the changes of the tokenizer's file, the text is encoded, with and without offsets, and its ids are decoded, as a
// whole and as a stream. Without changes, the ids must be the same with and without offsets, and the parts of the
// stream must join to the text that is decoded as a whole.
#include "attune/text.h"
#include "compiler/Text/TokenizerFolder.h"
#include "runtime/text/TextFormat.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace attune;

/// Returns the contents of the .text files of tokenizers of all kinds, compiled from folders of test/Text/Inputs.
static std::vector<std::string> compileAll() {
  std::vector<std::string> files;
  for (const char *name : {"gpt2", "bert_uncased", "llama2", "t5", "unigram_bytes", "added", "clip", "wp_sequence", "characters",
                           "deepseek", "folder_marian", "folder_marian_settings", "folder_marian_bytes", "folder_m2m100", "folder_esm",
                           "folder_byt5", "folder_phobert", "folder_blenderbot_small", "llama3"}) {
    Result<std::optional<std::string>> bytes =
        text::compileTokenizer(std::string(ATTUNE_TEXT_INPUTS "/") + name, [](const std::string &) {});
    if (!bytes || !*bytes)
      abort();
    files.push_back(std::move(**bytes));
  }
  return files;
}

/// Sets byte |place| of section |section| of |file| to |value|. |section| is taken modulo the number of sections and
/// |place| modulo the bytes of the section. An empty section does not change.
static void change(uint8_t *file, uint8_t section, uint16_t place, uint8_t value) {
  text::TextHeader header;
  memcpy(&header, file, sizeof(header));
  text::SectionEntry entry;
  memcpy(&entry, file + sizeof(header) + section % header.numSections * sizeof(entry), sizeof(entry));
  if (entry.bytes)
    file[entry.offset + place % entry.bytes] = value;
}

/// Decodes |ids| as a whole and as a stream. If |intact|, traps unless both give the same text.
static void decodeBoth(const attune_text *text, attune_tokenizer *tokenizer, const std::vector<int32_t> &ids, bool intact) {
  const char *part;
  size_t bytes;
  attune_decode_stream *stream;
  if (attune_tokenizer_decode(tokenizer, ids.data(), ids.size(), 0, &part, &bytes) != ATTUNE_OK)
    return;
  std::string whole(part, bytes), joined;
  if (attune_decode_stream_create(text, 0, &stream) != ATTUNE_OK)
    abort();
  for (int32_t id : ids)
    if (attune_decode_stream_push(stream, id, &part, &bytes) == ATTUNE_OK)
      joined.append(part, bytes);
  if (attune_decode_stream_finish(stream, &part, &bytes) == ATTUNE_OK)
    joined.append(part, bytes);
  attune_decode_stream_destroy(stream);
  if (intact && joined != whole)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<std::string> files = compileAll();
  if (size < 2)
    return 0;
  const std::string &file = files[data[0] % files.size()];
  size_t changes = data[1] % 32;
  data += 2;
  size -= 2;
  uint8_t *copy = static_cast<uint8_t *>(aligned_alloc(text::kSectionAlignment, file.size()));
  memcpy(copy, file.data(), file.size());
  for (size_t i = 0; i < changes && size >= 4; ++i, data += 4, size -= 4)
    change(copy, data[0], uint16_t(data[1] | data[2] << 8), data[3]);
  attune_text *text;
  if (attune_text_open_memory(copy, file.size(), &text) == ATTUNE_OK) {
    attune_tokenizer_options options;
    attune_tokenizer_options_init(&options);
    options.max_call_bytes = 8192;
    attune_tokenizer *tokenizer;
    if (attune_tokenizer_create(text, &options, &tokenizer) != ATTUNE_OK)
      abort();
    attune_encode_options encode;
    attune_encode_options_init(text, &encode);
    attune_text_input input = {reinterpret_cast<const char *>(data), size, nullptr, 0};
    std::vector<int32_t> ids[2];
    for (int offsets = 0; offsets < 2; ++offsets) {
      encode.want_offsets = offsets;
      const attune_encoding *encodings;
      size_t count;
      if (attune_tokenizer_encode(tokenizer, &input, 1, &encode, &encodings, &count) == ATTUNE_OK)
        ids[offsets].assign(encodings[0].ids, encodings[0].ids + encodings[0].length);
    }
    if (changes == 0 && ids[0] != ids[1])
      __builtin_trap();
    decodeBoth(text, tokenizer, ids[0], changes == 0);
    attune_tokenizer_destroy(tokenizer);
    attune_text_close(text);
  }
  free(copy);
  return 0;
}
