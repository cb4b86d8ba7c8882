//===- UnigramClasses.cpp - Tokenizers with Unigram models ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/LanguageCodes.h"
#include "compiler/Text/TokenizerClasses.h"

#include <algorithm>

using namespace attune;
using namespace attune::text;

/// Gives a mask token without flags the flag `lstrip` and, if |special|, the flag `special`.
static void stripLeftOfMask(NamedTokens &tokens, bool special = false) {
  for (auto &[name, token] : tokens)
    if (name == std::string("mask_token") && token && !token->hasFlags) {
      token->hasFlags = token->stripLeft = true;
      token->special = special;
    }
}

static bool fromSentencePiece(const TokenizerBuilder &builder) { return builder.arguments.tokenizerFile.empty(); }

static std::vector<NamedToken> additionalTokens(const TokenizerBuilder &builder) {
  return builder.arguments.additional ? *builder.arguments.additional : std::vector<NamedToken>();
}

/// Replaces the first |count| pieces by |tokens| and appends |appended|, both with the score 0.
static void replacePieces(TokenizerBuilder &builder, const std::vector<std::string> &tokens, size_t count,
                          const std::vector<std::string> &appended) {
  Pieces pieces;
  for (const std::string &token : tokens)
    pieces.emplace_back(token, 0.0);
  pieces.insert(pieces.end(), builder.pieces.begin() + ptrdiff_t(std::min(count, builder.pieces.size())), builder.pieces.end());
  for (const std::string &token : appended)
    pieces.emplace_back(token, 0.0);
  builder.pieces = std::move(pieces);
}

static Json precompiled(const TokenizerBuilder &builder) {
  return {{"type", "Precompiled"}, {"precompiled_charsmap", builder.characterMap}};
}

/// Returns a sequence of two pre-tokenizers: WhitespaceSplit, then Metaspace with the `prepend_scheme` |scheme|.
static Json splitWords(const char *scheme) { return jsonSequence("pretokenizers", {jsonType("WhitespaceSplit"), jsonMetaspace(scheme)}); }

/// Sets |scheme|, a `prepend_scheme` of Metaspace, by the setting `add_prefix_space`, which is true by default: to
/// "always" if it is true, else to |without|.
static Status readScheme(const TokenizerBuilder &builder, const char *&scheme, const char *without = "never") {
  bool space = true;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("add_prefix_space", space));
  scheme = space ? "always" : without;
  return {};
}

/// Sets the templates "bos A eos" for one text and "bos A eos eos B eos" for two.
static Status setRobertaTemplate(TokenizerBuilder &builder) {
  const std::string bos = builder.token("bos_token"), eos = builder.token("eos_token");
  return builder.setTemplate({{bos}, {"$A"}, {eos}}, {{bos}, {"$A"}, {eos}, {eos}, {"$B"}, {eos}});
}

/// Returns the index of the first piece from |begin| on with the string |text| and the score 0; nullopt if there is
/// none.
static std::optional<uint32_t> findPiece(const TokenizerBuilder &builder, const std::string &text, size_t begin = 0) {
  for (size_t i = begin; i < builder.pieces.size(); ++i)
    if (builder.pieces[i].first == text && builder.pieces[i].second == 0)
      return uint32_t(i);
  return std::nullopt;
}

Status attune::text::buildT5(TokenizerBuilder &builder) {
  uint32_t count = 100;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("extra_ids", count, 0, 100000));
  auto extraId = [](uint32_t i) { return "<extra_id_" + std::to_string(i) + ">"; };
  if (fromSentencePiece(builder))
    for (uint32_t i = count; i-- > 0;)
      builder.pieces.emplace_back(extraId(i), 0.0);
  std::vector<NamedToken> additional = additionalTokens(builder);
  auto given = size_t(std::count_if(additional.begin(), additional.end(),
                                    [](const NamedToken &token) { return token.content.find("<extra_id_") != std::string::npos; }));
  if (given == 0)
    for (uint32_t i = 0; i < count; ++i)
      additional.emplace_back(extraId(i));
  else if (count > 0 && given != count)
    return Status::error(builder.arguments.configFile + ": 'extra_ids': expected the number of tokens <extra_id_…> of " +
                         "'additional_special_tokens', " + std::to_string(given) + ", got " + std::to_string(count));
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(2));
  if (!builder.characterMap.empty())
    builder.normalizer = precompiled(builder);
  builder.preTokenizer = splitWords("always");
  builder.decoder = jsonMetaspace("always");
  ATTUNE_RETURN_IF_FAILED(
      builder.initialize(readTokens(builder, {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}), additional));
  const std::string eos = builder.token("eos_token");
  return builder.setTemplate({{"$A"}, {eos}}, {{"$A"}, {eos}, {"$B"}, {eos}});
}

/// Sets |parts| to the normalizers of ALBERT's class. |lower| and |accents| are the defaults of do_lower_case and
/// keep_accents. If |joinsSpaces|, a run of spaces becomes one space.
static Status readAlbertNormalizers(const TokenizerBuilder &builder, bool lower, bool accents, bool joinsSpaces, std::vector<Json> &parts) {
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("do_lower_case", lower));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("keep_accents", accents));
  parts = {jsonReplace("``", "\""), jsonReplace("''", "\"")};
  if (joinsSpaces)
    parts.push_back(jsonReplaceRegex(" {2,}", " "));
  if (!accents) {
    parts.push_back(jsonType("NFKD"));
    parts.push_back(jsonType("StripAccents"));
  }
  if (lower)
    parts.push_back(jsonType("Lowercase"));
  if (!builder.characterMap.empty())
    parts.push_back(precompiled(builder));
  return {};
}

Status attune::text::buildAlbert(TokenizerBuilder &builder) {
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(1));
  std::vector<Json> parts;
  ATTUNE_RETURN_IF_FAILED(readAlbertNormalizers(builder, /*lower=*/true, /*accents=*/false, /*joinsSpaces=*/false, parts));
  builder.normalizer = jsonSequence("normalizers", parts);
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme));
  builder.preTokenizer = splitWords(scheme);
  builder.decoder = jsonMetaspace(scheme);
  if (builder.postProcessor.is_null()) {
    ATTUNE_RETURN_IF_FAILED(builder.setBertTemplate(builder.text("cls_token", "[CLS]"), builder.text("sep_token", "[SEP]")));
  }
  return builder.initialize(readTokens(builder, {{"bos_token", "[CLS]"},
                                                 {"eos_token", "[SEP]"},
                                                 {"sep_token", "[SEP]"},
                                                 {"cls_token", "[CLS]"},
                                                 {"unk_token", "<unk>"},
                                                 {"pad_token", "<pad>"},
                                                 {"mask_token", "[MASK]"}}));
}

Status attune::text::buildXlmRoberta(TokenizerBuilder &builder) {
  if (fromSentencePiece(builder))
    replacePieces(builder,
                  {builder.text("bos_token", "<s>"), builder.text("pad_token", "<pad>"), builder.text("eos_token", "</s>"),
                   builder.text("unk_token", "<unk>")},
                  3, {builder.text("mask_token", "<mask>")});
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(3));
  if (!builder.characterMap.empty())
    builder.normalizer = precompiled(builder);
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme));
  builder.preTokenizer = splitWords(scheme);
  builder.decoder = jsonMetaspace(scheme);
  ATTUNE_RETURN_IF_FAILED(builder.initialize(readRobertaTokens(builder)));
  return setRobertaTemplate(builder);
}

Status attune::text::buildCamembert(TokenizerBuilder &builder) {
  const std::string unknown = builder.text("unk_token", "<unk>");
  if (fromSentencePiece(builder)) {
    replacePieces(builder, {"<s>NOTUSED", builder.text("pad_token", "<pad>"), "</s>NOTUSED", unknown, "<unk>NOTUSED"}, 1,
                  {builder.text("mask_token", "<mask>")});
    builder.pieces[4].second = -100;
  }
  uint32_t unknownId = 0;
  for (size_t i = builder.pieces.size(); i-- > 0;)
    if (builder.pieces[i].first == unknown)
      unknownId = uint32_t(i);
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(unknownId));
  if (!builder.characterMap.empty())
    builder.normalizer = precompiled(builder);
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme));
  builder.preTokenizer = splitWords(scheme);
  builder.decoder = jsonMetaspace(scheme);
  NamedTokens tokens = readRobertaTokens(builder);
  stripLeftOfMask(tokens, /*special=*/true);
  std::vector<NamedToken> extra = {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"};
  if (builder.arguments.additional)
    extra = *builder.arguments.additional;
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens, extra));
  return setRobertaTemplate(builder);
}

Status attune::text::buildDebertaV2(TokenizerBuilder &builder) {
  uint32_t unknownId = fromSentencePiece(builder) ? builder.spec.unknownId.value_or(1) : 1;
  if (!fromSentencePiece(builder)) {
    ATTUNE_RETURN_IF_FAILED(builder.arguments.read("unk_id", unknownId, 0, INT32_MAX));
  }
  unknownId = findPiece(builder, builder.text("unk_token", "[UNK]")).value_or(unknownId);
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(unknownId));
  bool lower = false, punctuation = false;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("do_lower_case", lower));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("split_by_punct", punctuation));
  std::vector<Json> normalizers, splits;
  if (lower)
    normalizers.push_back(jsonType("Lowercase"));
  normalizers.push_back(jsonReplaceRegex("\\s{2,}|[\\n\\r\\t]", " "));
  normalizers.push_back(jsonType("NFC"));
  normalizers.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
  builder.normalizer = jsonSequence("normalizers", normalizers);
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme, "first"));
  if (punctuation)
    splits.push_back({{"type", "Punctuation"}, {"behavior", "Isolated"}});
  splits.push_back(jsonMetaspace(scheme));
  builder.preTokenizer = jsonSequence("pretokenizers", splits);
  builder.decoder = jsonMetaspace(scheme);
  ATTUNE_RETURN_IF_FAILED(builder.initialize(readBracketTokens(builder)));
  return builder.setBertTemplate(builder.token("cls_token"), builder.token("sep_token"));
}

/// Adds each given language that is a token to `languages` of |builder|, with the id of the token.
static void addLanguages(TokenizerBuilder &builder, const std::vector<const char *> &codes) {
  for (const char *code : codes)
    if (std::optional<uint32_t> id = builder.spec.findToken(code))
      builder.languages.emplace_back(code, *id);
}

/// Replaces the first three pieces of the model by four special tokens: the one with the attribute |first| ("bos_token"
/// or "cls_token"), padding, end of text, and unknown token. Appends |languages| and the mask token.
static void addLanguagePieces(TokenizerBuilder &builder, const char *first, const std::vector<const char *> &languages) {
  std::vector<std::string> appended(languages.begin(), languages.end());
  appended.push_back(builder.text("mask_token", "<mask>"));
  const std::vector<std::string> tokens = {builder.text(first, "<s>"), builder.text("pad_token", "<pad>"),
                                           builder.text("eos_token", "</s>"), builder.text("unk_token", "<unk>")};
  replacePieces(builder, tokens, 3, appended);
}

Status attune::text::buildMBart(TokenizerBuilder &builder) {
  const std::vector<const char *> codes = mbartLanguages();
  if (fromSentencePiece(builder))
    addLanguagePieces(builder, "bos_token", codes);
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(3));
  builder.preTokenizer = splitWords("always");
  builder.decoder = jsonMetaspace("always");
  NamedTokens tokens = readRobertaTokens(builder);
  stripLeftOfMask(tokens);
  std::vector<NamedToken> extra(codes.begin(), codes.end());
  for (const NamedToken &token : additionalTokens(builder))
    if (std::find(extra.begin(), extra.end(), token) == extra.end())
      extra.push_back(token);
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens, extra));
  addLanguages(builder, codes);
  std::string language = "en_XX";
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("src_lang", language));
  const std::string eos = builder.token("eos_token");
  return builder.setTemplate({{"$A"}, {eos}, {language}}, {{"$A"}, {"$B"}, {eos}, {language}});
}

Status attune::text::buildMBart50(TokenizerBuilder &builder) {
  const std::vector<const char *> &codes = mbart50Languages();
  bool has = false;
  if (!fromSentencePiece(builder))
    has = std::any_of(builder.pieces.begin(), builder.pieces.end(), [&](const auto &piece) {
      return std::any_of(codes.begin(), codes.end(), [&](const char *code) { return piece.first == code; });
    });
  if (!has)
    addLanguagePieces(builder, "cls_token", codes);
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(3));
  std::vector<Json> parts;
  if (!builder.characterMap.empty())
    parts.push_back(precompiled(builder));
  parts.push_back(jsonReplaceRegex(" {2,}", " "));
  builder.normalizer = jsonSequence("normalizers", parts);
  builder.preTokenizer = builder.decoder = jsonMetaspace("always");
  NamedTokens tokens = readTokens(builder, {{"eos_token", "</s>"},
                                            {"sep_token", "</s>"},
                                            {"cls_token", "<s>"},
                                            {"unk_token", "<unk>"},
                                            {"pad_token", "<pad>"},
                                            {"mask_token", "<mask>"}});
  stripLeftOfMask(tokens);
  std::vector<NamedToken> extra = additionalTokens(builder);
  extra.insert(extra.end(), codes.begin(), codes.end());
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens, extra));
  addLanguages(builder, codes);
  std::string language = "en_XX";
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("src_lang", language));
  const std::string eos = builder.token("eos_token");
  return builder.setTemplate({{language}, {"$A"}, {eos}}, {{language}, {"$A"}, {"$B"}, {eos}});
}

Status attune::text::buildPegasus(TokenizerBuilder &builder) {
  uint32_t offset = 103;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("offset", offset, 0, 100000));
  std::string maskOfSentences = "<mask_1>";
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("mask_token_sent", maskOfSentences));
  if (fromSentencePiece(builder)) {
    // In transformers the converter of SentencePiece models has other defaults than the class.
    std::string mask = builder.text("mask_token", "<mask_1>"), maskSentence = "<mask_2>";
    ATTUNE_RETURN_IF_FAILED(builder.arguments.read("mask_token_sent", maskSentence));
    std::vector<std::string> first = {builder.text("pad_token", "<pad>"), builder.text("eos_token", "</s>")};
    if (mask != "None")
      first.push_back(mask);
    if (maskSentence != "None" && maskSentence != mask)
      first.push_back(maskSentence);
    const size_t specials = first.size();
    for (uint32_t i = 2; i < offset; ++i)
      first.push_back("<unk_" + std::to_string(i) + ">");
    const size_t end = first.size();
    replacePieces(builder, first, 2, {});
    for (size_t i = specials; i < end; ++i)
      builder.pieces[i].second = -100;
  }
  const std::string unknown = builder.text("unk_token", "<unk>");
  std::optional<uint32_t> unknownId = findPiece(builder, unknown, 1);
  if (!unknownId)
    return Status::error(builder.file + ": expected the piece " + describeJson(Json(unknown)) + " with the score 0, got none");
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(*unknownId));
  if (!builder.characterMap.empty())
    builder.normalizer = jsonSequence("normalizers", {precompiled(builder), jsonReplaceRegex(" {2,}", " ")});
  else
    builder.normalizer = jsonSequence("normalizers", {jsonReplaceRegex("\\n", " "), jsonReplaceRegex(" {2,}", " ")});
  builder.preTokenizer = builder.decoder = jsonMetaspace("always");
  std::vector<NamedToken> given = additionalTokens(builder), extra;
  if (std::find(given.begin(), given.end(), NamedToken(maskOfSentences)) == given.end())
    extra.emplace_back(maskOfSentences);
  for (uint32_t i = 2; i < offset; ++i)
    extra.emplace_back("<unk_" + std::to_string(i) + ">");
  ATTUNE_RETURN_IF_FAILED(builder.initialize(
      readTokens(builder, {{"pad_token", "<pad>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"mask_token", "<mask_2>"}}), extra));
  const std::string eos = builder.token("eos_token");
  return builder.setTemplate({{"$A"}, {eos}}, {{"$A"}, {"$B"}, {eos}});
}

Status attune::text::buildBarthez(TokenizerBuilder &builder) {
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(3));
  builder.normalizer = jsonSequence(
      "normalizers",
      {jsonReplaceRegex("\\s{2,}|[\\n\\r\\t]", " "), jsonType("NFC"), {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}}});
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme));
  builder.preTokenizer = builder.decoder = jsonMetaspace(scheme);
  NamedTokens tokens = readRobertaTokens(builder);
  stripLeftOfMask(tokens);
  return builder.initialize(tokens);
}

Status attune::text::buildBigBird(TokenizerBuilder &builder) {
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(findPiece(builder, builder.text("unk_token", "<unk>")).value_or(100)));
  builder.normalizer = jsonSequence(
      "normalizers", {{{"type", "Strip"}, {"strip_left", false}, {"strip_right", false}}, jsonReplaceRegex(" {2,}", "\xE2\x96\x81")});
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme));
  builder.preTokenizer = builder.decoder = jsonMetaspace(scheme);
  NamedTokens tokens = readTokens(builder, {{"bos_token", "<s>"},
                                            {"eos_token", "</s>"},
                                            {"unk_token", "<unk>"},
                                            {"pad_token", "<pad>"},
                                            {"mask_token", "[MASK]"},
                                            {"cls_token", "[CLS]"},
                                            {"sep_token", "[SEP]"}});
  stripLeftOfMask(tokens);
  for (auto &[name, token] : tokens)
    if (token)
      token->hasFlags = true;
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens));
  return builder.setBertTemplate(builder.token("cls_token"), builder.token("sep_token"));
}

Status attune::text::buildRemBert(TokenizerBuilder &builder) {
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(2));
  std::vector<Json> parts;
  ATTUNE_RETURN_IF_FAILED(readAlbertNormalizers(builder, /*lower=*/false, /*accents=*/true, /*joinsSpaces=*/true, parts));
  builder.normalizer = jsonSequence("normalizers", parts);
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme));
  builder.preTokenizer = builder.decoder = jsonMetaspace(scheme);
  ATTUNE_RETURN_IF_FAILED(builder.initialize(readTokens(builder, {{"bos_token", "[CLS]"},
                                                                  {"eos_token", "[SEP]"},
                                                                  {"unk_token", "<unk>"},
                                                                  {"sep_token", "[SEP]"},
                                                                  {"pad_token", "<pad>"},
                                                                  {"cls_token", "[CLS]"},
                                                                  {"mask_token", "[MASK]"}})));
  ATTUNE_RETURN_IF_FAILED(builder.setBertTemplate(builder.token("cls_token"), builder.token("sep_token")));
  return builder.addSpecialsAgain();
}

Status attune::text::buildXlNet(TokenizerBuilder &builder) {
  uint32_t unknownId = fromSentencePiece(builder) ? builder.spec.unknownId.value_or(0) : 0;
  if (!fromSentencePiece(builder)) {
    ATTUNE_RETURN_IF_FAILED(builder.arguments.read("unk_id", unknownId, 0, INT32_MAX));
  }
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(unknownId));
  bool lower = false;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("do_lower_case", lower));
  std::vector<Json> parts = {jsonReplace("``", "\""), jsonReplace("''", "\""), jsonType("NFKD"), jsonType("StripAccents")};
  if (lower)
    parts.push_back(jsonType("Lowercase"));
  if (!builder.characterMap.empty())
    parts.push_back(precompiled(builder));
  builder.normalizer = jsonSequence("normalizers", parts);
  builder.preTokenizer = splitWords("always");
  builder.decoder = jsonMetaspace("always");
  builder.padTypeId = 3;
  NamedTokens tokens = readTokens(builder, {{"bos_token", "<s>"},
                                            {"eos_token", "</s>"},
                                            {"unk_token", "<unk>"},
                                            {"sep_token", "<sep>"},
                                            {"pad_token", "<pad>"},
                                            {"cls_token", "<cls>"},
                                            {"mask_token", "<mask>"}});
  stripLeftOfMask(tokens);
  std::vector<NamedToken> extra = {"<eop>", "<eod>"};
  if (builder.arguments.additional)
    extra = *builder.arguments.additional;
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens, extra));
  const std::string sep = builder.token("sep_token"), cls = builder.token("cls_token");
  return builder.setTemplate({{"$A"}, {sep}, {cls, 2}}, {{"$A"}, {sep}, {"$B", 1}, {sep, 1}, {cls, 2}});
}

Status attune::text::buildXglm(TokenizerBuilder &builder) {
  ATTUNE_RETURN_IF_FAILED(builder.useUnigram(3));
  std::vector<Json> parts;
  if (!builder.characterMap.empty())
    parts.push_back(precompiled(builder));
  parts.push_back(jsonReplaceRegex(" {2,}", " "));
  builder.normalizer = jsonSequence("normalizers", parts);
  const char *scheme;
  ATTUNE_RETURN_IF_FAILED(readScheme(builder, scheme));
  builder.preTokenizer = builder.decoder = jsonMetaspace(scheme);
  std::vector<NamedToken> extra = additionalTokens(builder);
  for (int i = 0; i < 7; ++i)
    if (NamedToken word("<madeupword" + std::to_string(i) + ">"); std::find(extra.begin(), extra.end(), word) == extra.end())
      extra.push_back(word);
  ATTUNE_RETURN_IF_FAILED(builder.initialize(readTokens(builder, {{"bos_token", "<s>"},
                                                                  {"eos_token", "</s>"},
                                                                  {"sep_token", "</s>"},
                                                                  {"cls_token", "<s>"},
                                                                  {"unk_token", "<unk>"},
                                                                  {"pad_token", "<pad>"}}),
                                             extra));
  const std::string eos = builder.token("eos_token");
  return builder.setTemplate({{eos}, {"$A"}}, {{eos}, {"$A"}, {eos}, {eos}, {"$B"}});
}
