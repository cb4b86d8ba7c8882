//===- CharacterBpeClasses.cpp - Tokenizers with BPE of characters --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokenizer classes with a BPE model of characters: those for models of SentencePiece (Llama, Code Llama, Gemma, NLLB,
// Reformer), and the older ones of OpenAI GPT and HerBERT, where the last token of a word ends with "</w>".
//===----------------------------------------------------------------------===//

#include "compiler/Text/LanguageCodes.h"
#include "compiler/Text/TokenizerClasses.h"

using namespace attune;
using namespace attune::text;

static Json stripOneSpace() { return {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}; }

/// Returns decoders that replace U+2581 by a space, turn byte tokens such as <0x0A> into bytes and join all tokens.
static std::vector<Json> byteFallbackDecoders() { return {jsonReplace(kMark, " "), jsonType("ByteFallback"), jsonType("Fuse")}; }

Status attune::text::buildLlama(TokenizerBuilder &builder) {
  bool space = true, legacy = false;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("add_prefix_space", space));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("legacy", legacy));
  builder.spec.fuseUnknown = builder.spec.byteFallback = true;
  builder.preTokenizer = jsonMetaspace(!space ? "never" : legacy ? "always" : "first", /*split=*/false);
  std::vector<Json> decoders = byteFallbackDecoders();
  if (space)
    decoders.push_back(stripOneSpace());
  builder.decoder = jsonSequence("decoders", decoders);
  return builder.initialize({{"unk_token", builder.named("unk_token", "<unk>")},
                             {"bos_token", builder.named("bos_token", "<s>")},
                             {"eos_token", builder.named("eos_token", "</s>")}});
}

Status attune::text::buildCodeLlama(TokenizerBuilder &builder) {
  bool space = true;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("add_prefix_space", space));
  builder.spec.fuseUnknown = builder.spec.byteFallback = true;
  builder.spec.unknownToken = builder.text("unk_token", "<unk>");
  builder.preTokenizer = jsonMetaspace(space ? "first" : "never", /*split=*/false);
  std::vector<Json> decoders = byteFallbackDecoders();
  decoders.push_back(stripOneSpace());
  builder.decoder = jsonSequence("decoders", decoders);
  builder.addBos = builder.addBos.value_or(true);
  NamedTokens tokens = {{"unk_token", builder.named("unk_token", "<unk>")},
                        {"bos_token", builder.named("bos_token", "<s>")},
                        {"eos_token", builder.named("eos_token", "</s>")}};
  std::vector<NamedToken> extra;
  if (builder.arguments.additional)
    extra = *builder.arguments.additional;
  for (auto [name, fallback] : {std::pair("prefix_token", "\xE2\x96\x81<PRE>"), std::pair("middle_token", "\xE2\x96\x81<MID>"),
                                std::pair("suffix_token", "\xE2\x96\x81<SUF>"), std::pair("eot_token", "\xE2\x96\x81<EOT>"),
                                std::pair("fill_token", "<FILL_ME>")}) {
    tokens.emplace_back(name, NamedToken(fallback));
    extra.emplace_back(fallback);
  }
  return builder.initialize(tokens, extra);
}

Status attune::text::buildGemma(TokenizerBuilder &builder) {
  builder.spec.fuseUnknown = builder.spec.byteFallback = true;
  builder.spec.unknownToken = builder.text("unk_token", "<unk>");
  builder.preTokenizer = {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
  builder.decoder = jsonSequence("decoders", byteFallbackDecoders());
  builder.normalizer = jsonReplace(" ", kMark);
  return builder.initialize({{"unk_token", builder.named("unk_token", "<unk>")},
                             {"bos_token", builder.named("bos_token", "<bos>")},
                             {"eos_token", builder.named("eos_token", "<eos>")},
                             {"pad_token", builder.named("pad_token", "<pad>")},
                             {"mask_token", builder.named("mask_token", "<mask>")}});
}

Status attune::text::buildNllb(TokenizerBuilder &builder) {
  const std::string bos = builder.text("bos_token", "<s>"), pad = builder.text("pad_token", "<pad>"),
                    eos = builder.text("eos_token", "</s>"), unknown = builder.text("unk_token", "<unk>");
  if (builder.arguments.tokenizerFile.empty()) {
    // Without tokenizer.json, the special tokens of the class get the ids 0 to 3. The other pieces of the SentencePiece
    // model follow in the order of the model.
    std::vector<std::string> tokens = {bos, pad, eos, unknown};
    for (const std::string &token : builder.spec.tokens)
      if (std::find(tokens.begin(), tokens.begin() + 4, token) == tokens.begin() + 4)
        tokens.push_back(token);
    TokenizerSpec &spec = builder.spec;
    spec.vocab.clear();
    spec.tokens.clear();
    spec.exists.clear();
    for (const std::string &token : tokens)
      if (!spec.vocab.count(token))
        spec.addToken(token, uint32_t(spec.tokens.size()));
    spec.modelSize = uint32_t(spec.vocab.size());
  }
  builder.spec.unknownToken = unknown;
  builder.spec.fuseUnknown = true;
  if (!builder.characterMap.empty())
    builder.normalizer = jsonSequence(
        "normalizers", {{{"type", "Precompiled"}, {"precompiled_charsmap", builder.characterMap}}, jsonReplaceRegex(" {2,}", " ")});
  builder.preTokenizer = builder.decoder = jsonMetaspace("always");
  bool legacy = false;
  std::string language = "eng_Latn";
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("legacy_behaviour", legacy));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("src_lang", language));
  NamedToken mask("<mask>");
  std::optional<NamedToken> given = builder.named("mask_token", mask);
  if (given && !given->hasFlags) {
    given->hasFlags = given->special = given->stripLeft = true;
    given->normalized = true;
  }
  std::vector<NamedToken> extra;
  if (builder.arguments.extra)
    extra = *builder.arguments.extra;
  else if (builder.arguments.additional)
    extra = *builder.arguments.additional;
  else
    extra.assign(nllbLanguages().begin(), nllbLanguages().end());
  ATTUNE_RETURN_IF_FAILED(builder.initialize({{"bos_token", builder.named("bos_token", "<s>")},
                                              {"eos_token", builder.named("eos_token", "</s>")},
                                              {"sep_token", builder.named("sep_token", "</s>")},
                                              {"cls_token", builder.named("cls_token", "<s>")},
                                              {"unk_token", builder.named("unk_token", "<unk>")},
                                              {"pad_token", builder.named("pad_token", "<pad>")},
                                              {"mask_token", given}},
                                             extra));
  for (const char *code : nllbLanguages())
    if (std::optional<uint32_t> id = builder.spec.findToken(code))
      builder.languages.emplace_back(code, *id);
  const std::string end = builder.token("eos_token");
  if (legacy)
    return builder.setTemplate({{"$A"}, {end}, {language}}, {{"$A"}, {"$B"}, {end}, {language}});
  return builder.setTemplate({{language}, {"$A"}, {end}}, {{language}, {"$A"}, {"$B"}, {end}});
}

Status attune::text::buildReformer(TokenizerBuilder &builder) {
  builder.spec.unknownToken = builder.text("unk_token", "<unk>");
  builder.spec.fuseUnknown = true;
  if (!builder.characterMap.empty())
    builder.normalizer = jsonSequence(
        "normalizers", {{{"type", "Precompiled"}, {"precompiled_charsmap", builder.characterMap}}, jsonReplaceRegex(" {2,}", " ")});
  builder.preTokenizer = builder.decoder = jsonMetaspace("always");
  std::vector<NamedToken> extra;
  if (builder.arguments.additional)
    extra = *builder.arguments.additional;
  ATTUNE_RETURN_IF_FAILED(
      builder.initialize({{"eos_token", builder.named("eos_token", "</s>")}, {"unk_token", builder.named("unk_token", "<unk>")}}, extra));
  return builder.addSpecialsAgain();
}

Status attune::text::buildOpenAiGpt(TokenizerBuilder &builder) {
  builder.spec.endSuffix = "</w>";
  builder.spec.unknownToken = builder.text("unk_token", "<unk>");
  builder.normalizer = {
      {"type", "BertNormalizer"}, {"clean_text", true}, {"handle_chinese_chars", true}, {"strip_accents", nullptr}, {"lowercase", true}};
  builder.preTokenizer = jsonType("BertPreTokenizer");
  builder.decoder = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  return builder.initialize({{"unk_token", builder.named("unk_token", "<unk>")}});
}

Status attune::text::buildHerbert(TokenizerBuilder &builder) {
  builder.spec.endSuffix = "</w>";
  builder.spec.unknownToken = builder.text("unk_token", "<unk>");
  builder.normalizer = {
      {"type", "BertNormalizer"}, {"clean_text", true}, {"handle_chinese_chars", true}, {"strip_accents", false}, {"lowercase", false}};
  builder.preTokenizer = jsonType("BertPreTokenizer");
  builder.decoder = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  ATTUNE_RETURN_IF_FAILED(builder.initialize({{"cls_token", builder.named("cls_token", "<s>")},
                                              {"unk_token", builder.named("unk_token", "<unk>")},
                                              {"pad_token", builder.named("pad_token", "<pad>")},
                                              {"mask_token", builder.named("mask_token", "<mask>")},
                                              {"sep_token", builder.named("sep_token", "</s>")}}));
  builder.postProcessor = {{"type", "BertProcessing"},
                           {"sep", Json::array({builder.token("sep_token"), 2})},
                           {"cls", Json::array({builder.token("cls_token"), 0})}};
  return {};
}
