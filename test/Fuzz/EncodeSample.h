//===- EncodeSample.h - Use of a tokenizer that a target has made ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_ENCODESAMPLE_H
#define ATTUNE_TEST_FUZZ_ENCODESAMPLE_H

#include "attune/text.h"
#include "compiler/Text/TextFileWriter.h"

#include <cstdlib>
#include <cstring>

namespace attune {

/// Checks the tokenizer that a reader has made from the input, with "fuzz" as the name of the file. |status| is the
/// result of the reader. If it is an error, traps unless the message begins with that name. If it is a success, opens
/// the file that |writer| has written and encodes a sample text; traps if the runtime does not accept the file, since
/// it accepts all that the compiler writes.
inline void encodeSample(const Status &status, text::TextFileWriter &writer) {
  if (status.failed()) {
    if (status.message().rfind("fuzz: ", 0) != 0)
      __builtin_trap();
    return;
  }
  std::string file = writer.finish();
  void *copy = std::aligned_alloc(text::kSectionAlignment, file.size());
  std::memcpy(copy, file.data(), file.size());
  attune_text *text;
  attune_tokenizer *tokenizer;
  attune_tokenizer_options options;
  attune_tokenizer_options_init(&options);
  options.max_call_bytes = 1024;
  if (attune_text_open_memory(copy, file.size(), &text) != ATTUNE_OK || attune_tokenizer_create(text, &options, &tokenizer) != ATTUNE_OK)
    __builtin_trap();
  static const char sample[] = "Hello <s> W\xC3\xB6rld, it's 42\n \xE4\xB8\xAD";
  attune_text_input input = {sample, sizeof(sample) - 1, nullptr, 0};
  const attune_encoding *encodings;
  size_t count;
  (void)attune_tokenizer_encode(tokenizer, &input, 1, nullptr, &encodings, &count);
  attune_tokenizer_destroy(tokenizer);
  attune_text_close(text);
  std::free(copy);
}

} // namespace attune

#endif // ATTUNE_TEST_FUZZ_ENCODESAMPLE_H
