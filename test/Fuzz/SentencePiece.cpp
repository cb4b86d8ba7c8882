//===- SentencePiece.cpp - Fuzz SentencePiece models ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a byte that chooses a tokenizer class, and a SentencePiece model. It is refused by one line that names the file,
// or it becomes tables that open and encode a text.
//===----------------------------------------------------------------------===//
#include "attune/text.h"
#include "compiler/Text/TokenizerClasses.h"

#include <cstdlib>
#include <cstring>
#include <iterator>

using namespace attune;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const classes[] = {"TokenizersBackend",   "LlamaTokenizer",   "T5Tokenizer",      "NllbTokenizer",
                                        "XLMRobertaTokenizer", "PegasusTokenizer", "MBart50Tokenizer", "CamembertTokenizer"};
  if (size == 0)
    return 0;
  const text::TokenizerClass *type = text::findTokenizerClass(classes[data[0] % std::size(classes)]);
  Result<text::SentencePieceModel> model = text::parseSentencePiece({reinterpret_cast<const char *>(data) + 1, size - 1}, "fuzz");
  text::TokenizerBuilder builder({}, *type);
  Status status = model ? builder.run(*model, "fuzz") : model.status();
  text::TextFileWriter writer;
  if (!status.failed())
    status = text::writeTokenizer(builder.spec, "fuzz", [](const std::string &) {}, writer);
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
