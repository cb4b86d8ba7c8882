//===- TokenizerJson.cpp - Fuzz tokenizer.json ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a tokenizer.json. It is refused by one line that names the file, or it becomes tables that open and encode a
// text.
//===----------------------------------------------------------------------===//
#include "attune/text.h"
#include "compiler/Text/TokenizerSpec.h"

#include <cstdlib>
#include <cstring>

using namespace attune;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<Json> root = parseJson({reinterpret_cast<const char *>(data), size}, "fuzz");
  if (!root)
    return 0;
  text::TokenizerSpec spec;
  text::TextFileWriter writer;
  Status status = text::readTokenizerModel(*root, "fuzz", spec);
  if (!status.failed())
    status = text::readTokenizerComponents(*root, "fuzz", spec);
  if (!status.failed())
    status = text::writeTokenizer(spec, "fuzz", [](const std::string &) {}, writer);
  if (status.failed()) {
    if (status.message().rfind("fuzz: ", 0) != 0)
      __builtin_trap();
    return 0;
  }
  std::string file = writer.finish();
  void *copy = aligned_alloc(text::kSectionAlignment, file.size());
  memcpy(copy, file.data(), file.size());
  attune_text *text;
  attune_tokenizer *tokenizer;
  attune_tokenizer_options options;
  attune_tokenizer_options_init(&options);
  options.max_call_bytes = 1024;
  // The runtime accepts every file that the compiler writes.
  if (attune_text_open_memory(copy, file.size(), &text) != ATTUNE_OK || attune_tokenizer_create(text, &options, &tokenizer) != ATTUNE_OK)
    __builtin_trap();
  static const char sample[] = "Hello <s> W\xC3\xB6rld, it's 42\n \xE4\xB8\xAD";
  attune_text_input input = {sample, sizeof(sample) - 1, nullptr, 0};
  const attune_encoding *encodings;
  size_t count;
  (void)attune_tokenizer_encode(tokenizer, &input, 1, nullptr, &encodings, &count);
  attune_tokenizer_destroy(tokenizer);
  attune_text_close(text);
  free(copy);
  return 0;
}
