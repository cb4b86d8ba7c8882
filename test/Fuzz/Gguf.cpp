//===- Gguf.cpp - Fuzz GGUF files -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a GGUF file. If the reader accepts the file, the target reads the first and the last element of every tensor,
// and the sanitizer checks that the blocks of these elements are within the input. The target also reads the chat
// templates and the tokenizer of the file. It does not write and use the tables of the tokenizer, which takes longer
// and is the task of the target `tokenizer`.
//===----------------------------------------------------------------------===//
#include "compiler/Support/DType.h"
#include "compiler/Support/Gguf.h"
#include "compiler/Text/ChatTemplates.h"
#include "compiler/Text/GgufTokenizer.h"
#include "compiler/Text/TokenizerBuilder.h"
#include "compiler/Text/TokenizerClasses.h"

using namespace attune;

/// Reads the tokenizer of |file|, if it has one.
static Status readTokenizer(const GgufFile &file) {
  Result<std::optional<text::TokenizerArguments>> arguments = text::readGgufTokenizer(file, [](const std::string &) {});
  if (!arguments || !*arguments)
    return arguments.status();
  return text::TokenizerBuilder(std::move(**arguments), *text::findTokenizerClass("TokenizersBackend")).run();
}

/// Traps if |status| is an error that does not name the file.
static void check(const Status &status) {
  if (status.failed() && status.message().rfind("fuzz: ", 0) != 0)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<GgufFile> file = GgufFile::parse("fuzz", data, size);
  if (!file) {
    check(file.status());
    return 0;
  }
  for (const auto &[name, tensor] : file->tensors())
    for (int64_t index : {int64_t(0), *elementCount(tensor.shape) - 1}) {
      float value;
      dequantizeGguf(tensor.type, tensor.data, index, 1, &value);
    }
  check(readChatTemplates(*file).status());
  check(readTokenizer(*file));
  return 0;
}
