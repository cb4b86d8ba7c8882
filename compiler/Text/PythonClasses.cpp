//===- PythonClasses.cpp - Tokenizers that transformers runs in Python ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokenizer classes in Python (PythonTokenizer.h) with a SentencePiece model, those for proteins, and those for bytes.
// The functions here make the steps of the tables (TokenizerSpec.h) directly.
//===----------------------------------------------------------------------===//

#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/LanguageCodes.h"
#include "compiler/Text/PieceModels.h"
#include "compiler/Text/PythonTokenizer.h"
#include "compiler/Text/TokenizerClasses.h"
#include "compiler/Text/Unicode.h"
#include "compiler/Text/VocabularyFiles.h"
#include "runtime/text/ByteCharacters.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

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

//===--- SentencePiece with a vocabulary -----------------------------------===//

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
      builder.initializeInPython(readTokens(builder, {{"unk_token", "<unk>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}})));
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
  addTemplate(builder, {{0, 0, 0}, {2, 0, eos}}, {{0, 0, 0}, {1, 0, 0}, {2, 0, eos}});
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
  ATTUNE_RETURN_IF_FAILED(builder.initializeInPython(readTokens(
      builder, {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"sep_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}})));
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
  addTemplate(builder, {{2, 0, *languageId}, {0, 0, 0}, {2, 0, eos}}, {{2, 0, *languageId}, {0, 0, 0}, {1, 0, 0}, {2, 0, eos}});
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
  ATTUNE_RETURN_IF_FAILED(builder.initializeInPython(readTokens(
      builder, {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"sep_token", "<::::>"}})));
  spec.unknownToken = model->pieces[unknown].text;
  ATTUNE_RETURN_IF_FAILED(usePieceModel(*model, builder.file, unknown, spec));
  addJoinedDecoding(spec);
  addTemplate(builder, {{0, 0, 0}}, {{0, 0, 0}, {1, 1, 0}});
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
  ATTUNE_RETURN_IF_FAILED(builder.initializeInPython(readTokens(builder, {{"bos_token", "<s>"},
                                                                          {"eos_token", "</s>"},
                                                                          {"unk_token", "<unk>"},
                                                                          {"sep_token", "</s>"},
                                                                          {"cls_token", "<s>"},
                                                                          {"pad_token", "<pad>"},
                                                                          {"mask_token", "<mask>"}})));
  for (const auto &[id, token] : spec.added) {
    auto place = spec.vocab.find(token.content);
    if (place == spec.vocab.end())
      return Status::error(builder.arguments.configFile + ": expected added tokens of dict.txt, which has no " +
                           describeJson(Json(token.content)));
    if (place->second != id)
      return Status::error(builder.arguments.configFile + ": expected the added token " + describeJson(Json(token.content)) +
                           " to have its id in the vocabulary, " + std::to_string(place->second) + ", got " + std::to_string(id));
  }
  uint32_t cls = 0, sep = 0, unknown = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "cls_token", cls));
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "sep_token", sep));
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "unk_token", unknown));
  spec.unknownToken = builder.token("unk_token");
  ATTUNE_RETURN_IF_FAILED(usePieceModel(*model, modelFile, unknown, spec));
  addJoinedDecoding(spec);
  addTemplate(builder, {{2, 0, cls}, {0, 0, 0}, {2, 0, sep}}, {{2, 0, cls}, {0, 0, 0}, {2, 0, sep}, {2, 0, sep}, {1, 0, 0}, {2, 0, sep}});
  return {};
}

//===--- ESM ---------------------------------------------------------------===//

/// Returns the lines of the file |path|, split as by Python's splitlines() and stripped as by strip(). Fails if the
/// file is not UTF-8 or a stripped line has white space inside.
static Result<std::vector<std::string>> readStrippedLines(const std::string &path) {
  Result<MappedFile> file = openVocabularyFile(path, 64);
  if (!file)
    return file.status();
  const std::string content(reinterpret_cast<const char *>(file->data()), file->size());
  if (!isUtf8(content))
    return Status::error(path + ": expected UTF-8, got other bytes");
  const std::vector<uint32_t> characters = toCodePoints(content);
  auto endsLine = [](uint32_t c) { return (c >= 0xA && c <= 0xD) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029; };
  std::vector<std::string> lines;
  for (size_t at = 0; at < characters.size();) {
    size_t end = at;
    while (end < characters.size() && !endsLine(characters[end]))
      ++end;
    size_t begin = at, stop = end;
    while (begin < stop && isPythonSpace(characters[begin]))
      ++begin;
    while (begin < stop && isPythonSpace(characters[stop - 1]))
      --stop;
    lines.push_back(toUtf8({characters.begin() + ptrdiff_t(begin), characters.begin() + ptrdiff_t(stop)}));
    if (std::any_of(characters.begin() + ptrdiff_t(begin), characters.begin() + ptrdiff_t(stop), isPythonSpace))
      return Status::error(path + ": line " + std::to_string(lines.size()) + ": expected a token without white space, got " +
                           describeJson(Json(lines.back())));
    at = end + 1;
    if (end + 1 < characters.size() && characters[end] == '\r' && characters[end + 1] == '\n')
      ++at;
  }
  return lines;
}

/// Makes the tokenizer of EsmTokenizer. All tokens of the vocabulary are cut out of texts, as added tokens are. Each
/// run of other characters without white space becomes the unknown token.
Status attune::text::buildEsm(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  builder.file = builder.arguments.folder + "/vocab.txt";
  Result<std::vector<std::string>> lines = readStrippedLines(builder.file);
  if (!lines)
    return lines.status();
  if (lines->empty())
    return Status::error(builder.file + ": expected a token on each line, got an empty file");
  std::unordered_map<std::string, uint32_t> ids;
  for (size_t i = 0; i < lines->size(); ++i)
    ids[(*lines)[i]] = uint32_t(i);
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::string &token = (*lines)[i];
    if (ids[token] == i)
      spec.addToken(token, uint32_t(i));
    else
      spec.decodedOnly[uint32_t(i)] = token;
    if (ids[token] == i && !token.empty())
      spec.cutTokens.push_back(uint32_t(i));
  }
  spec.tokens.resize(lines->size());
  spec.exists.resize(lines->size());
  spec.modelSize = uint32_t(ids.size());
  spec.model = ModelKind::WordLevel;
  setPythonRules(builder);
  ATTUNE_RETURN_IF_FAILED(builder.initializeInPython(readTokens(
      builder,
      {{"unk_token", "<unk>"}, {"cls_token", "<cls>"}, {"pad_token", "<pad>"}, {"mask_token", "<mask>"}, {"eos_token", "<eos>"}})));
  const std::string unknown = builder.token("unk_token");
  if (auto place = spec.vocab.find(unknown); place != spec.vocab.end())
    spec.unknownId = place->second;
  uint32_t cls = 0, eos = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "cls_token", cls));
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "eos_token", eos));
  spec.preTokenizers.push_back(makeStep(StepKind::SplitWhiteSpaces));
  spec.decoders.push_back(makeStep(StepKind::DecodeFuse, 1));
  addTemplate(builder, {{2, 0, cls}, {0, 0, 0}, {2, 0, eos}}, {{2, 0, cls}, {0, 0, 0}, {2, 0, eos}, {1, 1, 0}, {2, 1, eos}});
  return {};
}

//===--- Bytes -------------------------------------------------------------===//

/// Returns |bytes| as the characters that stand for them in byte-level vocabularies.
static std::string toByteLevel(const std::string &bytes) {
  std::string text;
  for (char byte : bytes)
    appendCharacter(text, byteToCharacter(uint8_t(byte)));
  return text;
}

/// Makes the tokenizer of ByT5Tokenizer. The order of ids: three special tokens, the 256 bytes, further special tokens.
/// Decoded texts omit bytes that are not UTF-8.
Status attune::text::buildByT5(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  const TokenizerArguments &arguments = builder.arguments;
  builder.file = arguments.configFile;
  static constexpr uint32_t numSpecials = 3;
  uint32_t count = 125;
  ATTUNE_RETURN_IF_FAILED(arguments.read("extra_ids", count, 0, 100000));
  std::optional<std::vector<NamedToken>> additional = arguments.additional;
  if (count > 0 && !additional) {
    additional.emplace();
    for (uint32_t i = 0; i < count; ++i)
      additional->emplace_back("<extra_id_" + std::to_string(i) + ">");
  } else if (count > 0 && !additional->empty()) {
    std::set<std::string> given;
    for (const NamedToken &token : *additional)
      if (token.content.find("extra_id") != std::string::npos)
        given.insert(token.content);
    if (given.size() != count)
      return Status::error(arguments.configFile + ": 'extra_ids': expected the number of tokens <extra_id_…> of " +
                           "'additional_special_tokens', " + std::to_string(given.size()) + ", got " + std::to_string(count));
  }
  NamedTokens tokens = readTokens(builder, {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
  std::map<uint32_t, NamedToken> first; // the ids in transformers: pad, eos, unk
  for (auto [index, id] : {std::pair(2, 0u), std::pair(0, 1u), std::pair(1, 2u)}) {
    std::optional<NamedToken> &token = tokens[size_t(index)].second;
    if (!token)
      return Status::error(arguments.configFile + ": '" + tokens[size_t(index)].first + "': expected a token, got null");
    if (!token->hasFlags) {
      token->hasFlags = token->stripLeft = token->stripRight = true;
      token->special = false;
    }
    first[id] = *token;
  }
  // Tokens that the settings give these ids take precedence over the three.
  for (const auto &[id, token] : first)
    builder.arguments.byId.try_emplace(id, token);
  for (uint32_t byte = 0; byte < 256; ++byte)
    spec.addToken(toByteLevel(std::string(1, char(byte))), numSpecials + byte);
  // As in transformers, the ids of further special tokens begin at the number of different strings of bytes and added
  // tokens. initializeInPython adds the number of added tokens to `modelSize`, so those that |known| has are
  // subtracted.
  std::set<std::string> known;
  for (uint32_t id = 0; id < numSpecials + 256; ++id) {
    auto place = arguments.byId.find(id);
    known.insert(place != arguments.byId.end() ? place->second.content : toUtf8({id - numSpecials}));
  }
  spec.modelSize = uint32_t(known.size());
  for (const auto &[id, token] : arguments.byId)
    spec.modelSize -= known.count(token.content) ? 1 : 0;
  spec.model = ModelKind::Bpe;
  setPythonRules(builder);
  ATTUNE_RETURN_IF_FAILED(builder.initializeInPython(tokens, additional));
  uint32_t eos = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "eos_token", eos));
  Step split = makeStep(StepKind::SplitByteLevel, 2);
  split.b = kNoId;
  spec.preTokenizers.push_back(split);
  spec.decoders.push_back(makeStep(StepKind::DecodeByteLevel, 1));
  spec.changeForm = [added = spec.added](uint32_t id, TokenForm &form) {
    if (added.count(id))
      form.decoded = toByteLevel(form.content);
    else
      form.content = toUtf8({id - numSpecials});
  };
  addTemplate(builder, {{0, 0, 0}, {3, 0, eos}}, {{0, 0, 0}, {3, 0, eos}, {1, 0, 0}, {3, 0, eos}});
  return {};
}
