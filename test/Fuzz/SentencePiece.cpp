//===- SentencePiece.cpp - Fuzz SentencePiece models ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input: a byte, and a SentencePiece model. The byte chooses a tokenizer class, or an encoding by the model alone,
// without a class. The compiler refuses the model with an error that begins with the name of the file, or it writes a
// .text file. The runtime must open that file, and encodes a text with it.
//===----------------------------------------------------------------------===//
#include "compiler/Text/PieceModels.h"
#include "compiler/Text/TokenizerClasses.h"
#include "test/Fuzz/EncodeSample.h"

#include <iterator>

using namespace attune;

/// Writes the tables of a tokenizer that has no class and encodes by |model| alone. Its vocabulary has "<unk>" and the
/// pieces of |model| with even numbers, so that about half of the pieces are no tokens.
static Status encodePieces(const text::SentencePieceModel &model, text::TextFileWriter &writer) {
  text::TokenizerSpec spec;
  spec.addToken("<unk>", 0);
  for (size_t i = 0; i < model.pieces.size(); i += 2)
    if (!spec.vocab.count(model.pieces[i].text))
      spec.addToken(model.pieces[i].text, uint32_t(spec.tokens.size()));
  spec.modelSize = uint32_t(spec.tokens.size());
  spec.unknownToken = "<unk>";
  Status status = text::checkPieceModel(model, "fuzz");
  if (!status.failed())
    status = text::usePieceModel(model, "fuzz", 0, spec);
  if (status.failed())
    return status;
  text::PieceDecoder decoder(model);
  spec.decoders.push_back(decoder.step());
  spec.hasDecoder = true;
  spec.changeForm = [decoder](uint32_t, text::TokenForm &form) { decoder.apply(form.content, form); };
  return text::writeTokenizer(spec, "fuzz", [](const std::string &) {}, writer);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const classes[] = {"TokenizersBackend",   "LlamaTokenizer",   "T5Tokenizer",      "NllbTokenizer",
                                        "XLMRobertaTokenizer", "PegasusTokenizer", "MBart50Tokenizer", "CamembertTokenizer"};
  if (size == 0)
    return 0;
  Result<text::SentencePieceModel> model = text::parseSentencePiece({reinterpret_cast<const char *>(data) + 1, size - 1}, "fuzz");
  const size_t which = data[0] % (std::size(classes) + 1);
  if (which == std::size(classes)) {
    text::TextFileWriter writer;
    encodeSample(model ? encodePieces(*model, writer) : model.status(), writer);
    return 0;
  }
  const text::TokenizerClass *type = text::findTokenizerClass(classes[which]);
  text::TokenizerBuilder builder({}, *type);
  Status status = model ? builder.run(*model, "fuzz") : model.status();
  text::TextFileWriter writer;
  if (!status.failed())
    status = text::writeTokenizer(builder.spec, "fuzz", [](const std::string &) {}, writer);
  encodeSample(status, writer);
  return 0;
}
