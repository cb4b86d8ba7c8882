//===- PythonClasses.cpp - Tokenizers in Python for proteins and bytes ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokenizer classes in Python (PythonTokenizer.h) for proteins and for bytes. The functions here make the steps of the
// tables (TokenizerSpec.h) directly.
//===----------------------------------------------------------------------===//

#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/PythonTokenizer.h"
#include "compiler/Text/TokenizerClasses.h"
#include "compiler/Text/Unicode.h"
#include "compiler/Text/VocabularyFiles.h"
#include "runtime/text/ByteCharacters.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

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
    lines.push_back(stripPythonSpace(toUtf8({characters.begin() + ptrdiff_t(at), characters.begin() + ptrdiff_t(end)})));
    if (splitAtPythonSpace(lines.back()).size() > 1)
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
  ATTUNE_RETURN_IF_FAILED(initializeInPython(
      builder,
      readTokens(
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
  spec.addTemplate({{2, 0, cls}, {0, 0, 0}, {2, 0, eos}}, {{2, 0, cls}, {0, 0, 0}, {2, 0, eos}, {1, 1, 0}, {2, 1, eos}});
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
  ATTUNE_RETURN_IF_FAILED(initializeInPython(builder, tokens, additional));
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
  spec.addTemplate({{0, 0, 0}, {3, 0, eos}}, {{0, 0, 0}, {3, 0, eos}, {1, 0, 0}, {3, 0, eos}});
  return {};
}
