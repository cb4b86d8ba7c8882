//===- SentencePiece.cpp - Fuzz SentencePiece models ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a byte that chooses a tokenizer class, and a SentencePiece model. It is refused by one line that names the file,
// or it becomes tables that open and encode a text.
//===----------------------------------------------------------------------===//
#include "compiler/Text/TokenizerClasses.h"
#include "test/Fuzz/EncodeSample.h"

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
  encodeSample(status, writer);
  return 0;
}
