//===- PythonPieceClasses.cpp - Tokenizers in Python with SentencePiece ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokenizer classes in Python (PythonTokenizer.h) that give texts to the SentencePiece library. The pieces that it
// returns have ids of their own in a vocabulary beside the model, except those of BertGenerationTokenizer. The functions
// here make the steps of the tables (TokenizerSpec.h) directly.
//===----------------------------------------------------------------------===//

#include "compiler/Text/LanguageCodes.h"
#include "compiler/Text/PieceModels.h"
#include "compiler/Text/PythonTokenizer.h"
#include "compiler/Text/TokenizerClasses.h"
#include "compiler/Text/VocabularyFiles.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

/// Fails if the settings of the class give any arguments to the SentencePiece library (`sp_model_kwargs`) or, if the class
/// has the setting `legacy`, a value other than true for it.
static Status checkPieceSettings(const TokenizerBuilder &builder, bool hasLegacy) {
  const TokenizerArguments &arguments = builder.arguments;
  const std::string ofClass = " for the tokenizer class " + std::string(builder.description().name);
  if (const Json *given = arguments.find("sp_model_kwargs"); given && !given->is_null() && !given->empty())
    return jsonTypeError(arguments.configFile, "sp_model_kwargs", "no arguments" + ofClass, *given);
  const Json *legacy = hasLegacy ? findJson(arguments.config, "legacy") : nullptr; // null counts as false
  if (legacy && *legacy != Json(true))
    return jsonTypeError(arguments.configFile, "legacy", "true" + ofClass, *legacy);
  return {};
}

/// Returns |text| with spaces instead of U+2581.
static std::string replaceMarks(const std::string &text) {
  static const std::string mark = kMark;
  std::string result;
  size_t begin = 0;
  for (size_t at; (at = text.find(mark, begin)) != std::string::npos; begin = at + mark.size())
    result.append(text, begin, at - begin) += ' ';
  return result.append(text, begin, std::string::npos);
}

/// Reads the vocabulary from |path|, a file vocab.json, and sets |unknown| to the string of the unknown token. Fails if
/// the vocabulary lacks this token.
static Status readVocabularyWithUnknown(TokenizerBuilder &builder, const std::string &path, std::string &unknown) {
  ATTUNE_RETURN_IF_FAILED(readVocabJson(path, builder.spec));
  builder.file = path;
  unknown = builder.text("unk_token", "<unk>");
  if (!builder.spec.vocab.count(unknown))
    return Status::error(path + ": expected the token " + describeJson(Json(unknown)) + " ('unk_token'), got none");
  return {};
}

/// Makes the tokenizer of MarianTokenizer. The SentencePiece model of the source language, source.spm, splits texts. It
/// also decodes tokens, unless the target language has a vocabulary of its own. A text may begin with the code of a
/// language, as ">>fra<<".
Status attune::text::buildMarian(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  const std::string folder = builder.arguments.folder + "/", vocabFile = folder + "vocab.json", sourceFile = folder + "source.spm";
  const std::string targetFile = folder + "target.spm", targetVocab = folder + "target_vocab.json";
  Result<SentencePieceModel> source = readPieceModel(sourceFile);
  if (!source)
    return source.status();
  Result<SentencePieceModel> target = readPieceModel(targetFile);
  if (!target)
    return target.status();
  std::string unknown;
  ATTUNE_RETURN_IF_FAILED(readVocabularyWithUnknown(builder, vocabFile, unknown));
  ATTUNE_RETURN_IF_FAILED(checkPieceSettings(builder, /*hasLegacy=*/false));
  setPythonRules(builder);
  spec.codeBegin = ">>";
  spec.codeEnd = "<<";
  bool separate = false;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("separate_vocabs", separate));
  ATTUNE_RETURN_IF_FAILED(
      initializeInPython(builder, readTokens(builder, {{"unk_token", "<unk>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}})));
  const SentencePieceModel &decoding = separate ? *target : *source;
  std::map<uint32_t, std::string> decoded;
  if (separate) {
    TokenizerSpec other;
    ATTUNE_RETURN_IF_FAILED(readVocabJson(targetVocab, other));
    for (size_t id = 0; id < other.tokens.size(); ++id)
      if (other.exists[id])
        decoded[uint32_t(id)] = other.tokens[id];
  }
  const size_t end = std::max(spec.tokens.size(), decoded.empty() ? 0 : size_t(decoded.rbegin()->first) + 1);
  auto pieceOf = [&](size_t id) { return id < decoding.pieces.size() ? decoding.pieces[id].text : unknown; };
  fillGaps(spec, end, [&](size_t id) {
    auto place = decoded.find(uint32_t(id));
    return place == decoded.end() ? pieceOf(id) : place->second;
  });
  if (separate)
    for (size_t id = 0; id < end; ++id)
      decoded.try_emplace(uint32_t(id), pieceOf(id));
  uint32_t eos = 0, unk = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "eos_token", eos));
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "unk_token", unk));
  spec.unknownToken = unknown;
  ATTUNE_RETURN_IF_FAILED(usePieceModel(*source, sourceFile, unk, spec));
  PieceDecoder decoder(decoding);
  spec.decoders.push_back(decoder.step());
  spec.decoders.push_back(makeStep(StepKind::DecodeTrim));
  spec.changeForm = [decoder, decoded, added = spec.added, specials = spec.specials](uint32_t id, TokenForm &form) {
    auto place = added.count(id) ? decoded.end() : decoded.find(id);
    const std::string text = place == decoded.end() ? form.content : place->second;
    if (specials.count(text)) {
      form.decoded = replaceMarks(text) + " ";
      form.flags |= kTokenCuts;
      return;
    }
    decoder.apply(text, form);
    if (form.flags & kTokenLiteral)
      form.decoded = replaceMarks(form.decoded);
  };
  spec.addTemplate({{0, 0, 0}, {2, 0, eos}}, {{0, 0, 0}, {1, 0, 0}, {2, 0, eos}});
  return {};
}

/// Makes the tokenizer of M2M100Tokenizer. The ids of vocab.json are followed by the tokens of languages and then by
/// `num_madeup_words` placeholders.
Status attune::text::buildM2M100(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  const std::string folder = builder.arguments.folder + "/", vocabFile = folder + "vocab.json";
  const std::string modelFile = folder + "sentencepiece.bpe.model";
  Result<SentencePieceModel> model = readPieceModel(modelFile);
  if (!model)
    return model.status();
  std::string codes = "m2m100", language = "en", unknown;
  ATTUNE_RETURN_IF_FAILED(readVocabularyWithUnknown(builder, vocabFile, unknown));
  ATTUNE_RETURN_IF_FAILED(checkPieceSettings(builder, /*hasLegacy=*/false));
  setPythonRules(builder);
  uint32_t madeUp = 8;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("language_codes", codes));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("src_lang", language));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("num_madeup_words", madeUp, 0, 100000));
  if (codes != "m2m100" && codes != "wmt21")
    return jsonTypeError(builder.arguments.configFile, "language_codes", "m2m100 or wmt21", Json(codes));
  ATTUNE_RETURN_IF_FAILED(initializeInPython(
      builder,
      readTokens(builder,
                 {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"sep_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}})));
  std::optional<uint32_t> languageId;
  const uint32_t first = spec.modelSize;
  for (const char *code : codes == "m2m100" ? m2m100Languages() : wmt21Languages()) {
    const uint32_t id = first + uint32_t(builder.languages.size());
    spec.addToken("__" + std::string(code) + "__", id);
    builder.languages.emplace_back(code, id);
    if (language == code)
      languageId = id;
  }
  if (!languageId)
    return jsonTypeError(builder.arguments.configFile, "src_lang", "a language of " + codes, Json(language));
  fillGaps(spec, std::max(spec.tokens.size(), size_t(first) + builder.languages.size() + madeUp), [&](size_t) { return unknown; });
  uint32_t eos = 0, unk = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "eos_token", eos));
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "unk_token", unk));
  spec.unknownToken = unknown;
  ATTUNE_RETURN_IF_FAILED(usePieceModel(*model, modelFile, unk, spec));
  PieceDecoder decoder(*model);
  spec.decoders.push_back(decoder.step());
  spec.decoders.push_back(makeStep(StepKind::DecodeTrim));
  spec.changeForm = [decoder, specials = spec.specials](uint32_t, TokenForm &form) {
    if (specials.count(form.content))
      form.flags |= kTokenCuts;
    else
      decoder.apply(form.content, form);
  };
  spec.addTemplate({{2, 0, *languageId}, {0, 0, 0}, {2, 0, eos}}, {{2, 0, *languageId}, {0, 0, 0}, {1, 0, 0}, {2, 0, eos}});
  return {};
}

/// Adds the decoding of classes that join the strings of all tokens: U+2581 becomes a space, and white space at both ends
/// is removed.
static void addJoinedDecoding(TokenizerSpec &spec) {
  spec.decoders.push_back(makeStep(StepKind::DecodeFuse));
  spec.decoders.push_back(makeStep(StepKind::DecodeTrim));
  spec.changeForm = [](uint32_t, TokenForm &form) { form.decoded = replaceMarks(form.content); };
}

/// Makes the tokenizer of BertGenerationTokenizer. Tokens are the pieces of the SentencePiece model, with the ids that
/// they have there.
Status attune::text::buildBertGeneration(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  builder.file = builder.arguments.folder + "/spiece.model";
  Result<SentencePieceModel> model = readPieceModel(builder.file);
  if (!model)
    return model.status();
  ATTUNE_RETURN_IF_FAILED(checkPieceSettings(builder, /*hasLegacy=*/true));
  uint32_t unknown = 0;
  for (uint32_t id = 0; id < model->pieces.size(); ++id) {
    spec.addToken(model->pieces[id].text, id);
    if (model->pieces[id].type == SentencePieceModel::Unknown)
      unknown = id;
  }
  spec.modelSize = uint32_t(model->pieces.size());
  setPythonRules(builder);
  ATTUNE_RETURN_IF_FAILED(initializeInPython(
      builder,
      readTokens(builder,
                 {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"sep_token", "<::::>"}})));
  spec.unknownToken = model->pieces[unknown].text;
  ATTUNE_RETURN_IF_FAILED(usePieceModel(*model, builder.file, unknown, spec));
  addJoinedDecoding(spec);
  spec.addTemplate({{0, 0, 0}}, {{0, 0, 0}, {1, 1, 0}});
  return {};
}

/// Makes the tokenizer of BartphoTokenizer. The SentencePiece model is a multilingual one; the vocabulary has the special
/// tokens and then the pieces that dict.txt lists, one at the beginning of each line. Other pieces are unknown.
Status attune::text::buildBartpho(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  const std::string modelFile = builder.arguments.folder + "/sentencepiece.bpe.model";
  builder.file = builder.arguments.folder + "/dict.txt";
  Result<SentencePieceModel> model = readPieceModel(modelFile);
  if (!model)
    return model.status();
  Result<PythonLines> lines = readPythonLines(builder.file);
  if (!lines)
    return lines.status();
  ATTUNE_RETURN_IF_FAILED(checkPieceSettings(builder, /*hasLegacy=*/true));
  auto add = [&](const std::string &token) {
    const bool isNew = !spec.vocab.count(token);
    if (isNew)
      spec.addToken(token, spec.modelSize++);
    return isNew;
  };
  for (auto [name, fallback] : {std::pair("bos_token", "<s>"), std::pair("pad_token", "<pad>"), std::pair("eos_token", "</s>"),
                                std::pair("unk_token", "<unk>"), std::pair("sep_token", "</s>"), std::pair("cls_token", "<s>")})
    add(builder.text(name, NamedToken(fallback)));
  for (size_t i = 0; i < lines->lines.size(); ++i) {
    const std::vector<std::string> words = splitAtPythonSpace(lines->lines[i]);
    if (words.empty() || !add(words[0]))
      return Status::error(builder.file + ": line " + std::to_string(i + 1) + ": expected a token that is not listed before, got " +
                           describeJson(Json(lines->lines[i])));
  }
  add(builder.text("mask_token", NamedToken("<mask>")));
  setPythonRules(builder);
  ATTUNE_RETURN_IF_FAILED(initializeInPython(builder, readRobertaTokens(builder)));
  for (const auto &[id, token] : spec.added) {
    auto place = spec.vocab.find(token.content);
    if (place == spec.vocab.end())
      return Status::error(builder.arguments.configFile +
                           ": expected added tokens of the vocabulary (dict.txt and the special tokens), which has no " +
                           describeJson(Json(token.content)));
    if (place->second != id)
      return Status::error(builder.arguments.configFile + ": expected the added token " + describeJson(Json(token.content)) +
                           " to have its id in the vocabulary, " + std::to_string(place->second) + ", got " + std::to_string(id));
  }
  uint32_t unknown = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "unk_token", unknown));
  spec.unknownToken = builder.token("unk_token");
  ATTUNE_RETURN_IF_FAILED(usePieceModel(*model, modelFile, unknown, spec));
  addJoinedDecoding(spec);
  return addClsSepTemplate(builder);
}
