//===- ByteLevelClasses.cpp - Tokenizers of GPT-2's kind ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerClasses.h"

using namespace attune;
using namespace attune::text;

/// Sets the model to BPE, and pre-tokenizer and decoder to ByteLevel. |addPrefixSpace| is the default of the setting
/// `add_prefix_space`, and is set to the value of the setting, where given.
static Status makeByteLevel(TokenizerBuilder &builder, bool &addPrefixSpace) {
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("add_prefix_space", addPrefixSpace));
  builder.preTokenizer = jsonByteLevel(addPrefixSpace);
  builder.decoder = jsonType("ByteLevel");
  builder.spec.model = ModelKind::Bpe;
  return {};
}

static Json makeRobertaProcessing(const TokenizerBuilder &builder, const std::string &sep, const std::string &cls, bool trim, bool space) {
  return {{"type", "RobertaProcessing"},
          {"sep", Json::array({sep, builder.findId(sep).value_or(0)})},
          {"cls", Json::array({cls, builder.findId(cls).value_or(0)})},
          {"trim_offsets", trim},
          {"add_prefix_space", space}};
}

/// Returns a sequence of pre-tokenizers: a split by |pattern|, then ByteLevel, which maps bytes to characters.
static Json splitBeforeBytes(const char *pattern, bool addPrefixSpace) {
  return jsonSequence("pretokenizers", {{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}},
                                        jsonByteLevel(addPrefixSpace, /*useRegex=*/false)});
}

Status attune::text::buildGpt2(TokenizerBuilder &builder) {
  bool space = false;
  ATTUNE_RETURN_IF_FAILED(makeByteLevel(builder, space));
  const NamedToken end("<|endoftext|>");
  return builder.initialize(readTokens(builder, {{"unk_token", end}, {"bos_token", end}, {"eos_token", end}, {"pad_token", std::nullopt}}));
}

Status attune::text::buildCodeGen(TokenizerBuilder &builder) {
  if (builder.postProcessor.is_null()) {
    builder.postProcessor = jsonByteLevel(true);
    builder.postProcessor["trim_offsets"] = false;
  }
  return buildGpt2(builder);
}

Status attune::text::buildRoberta(TokenizerBuilder &builder) {
  bool space = false, trim = true;
  ATTUNE_RETURN_IF_FAILED(makeByteLevel(builder, space));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("trim_offsets", trim));
  ATTUNE_RETURN_IF_FAILED(builder.initialize(readRobertaTokens(builder)));
  builder.postProcessor = makeRobertaProcessing(builder, builder.token("sep_token"), builder.token("cls_token"), trim, space);
  return {};
}

Status attune::text::buildDeberta(TokenizerBuilder &builder) {
  bool space = false;
  ATTUNE_RETURN_IF_FAILED(makeByteLevel(builder, space));
  ATTUNE_RETURN_IF_FAILED(builder.initialize(readBracketTokens(builder)));
  const std::string cls = builder.token("cls_token"), sep = builder.token("sep_token");
  return builder.setTemplate({{cls}, {"$A"}, {sep}}, {{cls}, {"$A"}, {sep}, {sep}, {"$B"}, {sep}});
}

Status attune::text::buildGptNeoX(TokenizerBuilder &builder) {
  bool space = false;
  ATTUNE_RETURN_IF_FAILED(makeByteLevel(builder, space));
  builder.normalizer = jsonType("NFC");
  const NamedToken end("<|endoftext|>");
  ATTUNE_RETURN_IF_FAILED(
      builder.initialize(readTokens(builder, {{"unk_token", end}, {"bos_token", end}, {"eos_token", end}, {"pad_token", "<|padding|>"}})));
  return builder.updatePostProcessor();
}

static Status buildQwen(TokenizerBuilder &builder, const char *pattern) {
  bool space = false;
  ATTUNE_RETURN_IF_FAILED(makeByteLevel(builder, space));
  builder.normalizer = jsonType("NFC");
  builder.preTokenizer = splitBeforeBytes(pattern, space);
  const NamedToken end("<|endoftext|>");
  return builder.initialize(readTokens(builder, {{"unk_token", end}, {"bos_token", std::nullopt}, {"eos_token", end}, {"pad_token", end}}));
}

Status attune::text::buildQwen2(TokenizerBuilder &builder) {
  ATTUNE_RETURN_IF_FAILED(
      buildQwen(builder, "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
                         "\\s+(?!\\S)|\\s+"));
  // Qwen2Tokenizer adds its special tokens once more, as plain strings, so they lose the flags that the settings give
  // them.
  std::vector<NamedToken> tokens;
  std::set<std::string> seen;
  for (const char *name : kNamedTokens)
    if (std::string content = builder.token(name); !content.empty() && seen.insert(content).second)
      tokens.emplace_back(content);
  for (const auto &[name, token] : builder.arguments.specific)
    if (seen.insert(token.content).second)
      tokens.emplace_back(token.content);
  for (const NamedToken &token : builder.extraTokens())
    if (seen.insert(token.content).second)
      tokens.emplace_back(token.content);
  builder.addTokens(tokens, /*special=*/true);
  return {};
}

Status attune::text::buildQwen35(TokenizerBuilder &builder) {
  return buildQwen(builder, "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
                            " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");
}

Status attune::text::buildCohere(TokenizerBuilder &builder) {
  bool space = false;
  ATTUNE_RETURN_IF_FAILED(makeByteLevel(builder, space));
  builder.normalizer = jsonType("NFC");
  builder.preTokenizer = jsonSequence("pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, jsonByteLevel(space)});
  ATTUNE_RETURN_IF_FAILED(builder.initialize(readTokens(builder, {{"unk_token", "<UNK>"},
                                                                  {"bos_token", "<BOS_TOKEN>"},
                                                                  {"eos_token", "<|END_OF_TURN_TOKEN|>"},
                                                                  {"pad_token", "<PAD>"},
                                                                  {"cls_token", "<CLS>"},
                                                                  {"sep_token", "<SEP>"},
                                                                  {"mask_token", "<MASK_TOKEN>"}})));
  return builder.addSpecialsAgain();
}

Status attune::text::buildBlenderbot(TokenizerBuilder &builder) {
  bool space = true;
  ATTUNE_RETURN_IF_FAILED(makeByteLevel(builder, space));
  NamedToken mask("<mask>");
  NamedTokens tokens = readTokens(builder, {{"bos_token", "<s>"},
                                            {"eos_token", "</s>"},
                                            {"sep_token", "</s>"},
                                            {"cls_token", "<s>"},
                                            {"unk_token", "<unk>"},
                                            {"pad_token", "<pad>"},
                                            {"mask_token", mask}});
  if (std::optional<NamedToken> &token = tokens.back().second; token && !token->hasFlags) {
    token->hasFlags = token->stripLeft = true;
    token->normalized = false;
  }
  return builder.initialize(tokens);
}

Status attune::text::buildClip(TokenizerBuilder &builder) {
  builder.spec.model = ModelKind::Bpe;
  builder.spec.endSuffix = "</w>";
  builder.spec.unknownToken = builder.text("unk_token", "<|endoftext|>");
  builder.normalizer = jsonSequence("normalizers", {jsonType("NFC"), jsonReplaceRegex("\\s+", " "), jsonType("Lowercase")});
  builder.preTokenizer = jsonSequence(
      "pretokenizers",
      {{{"type", "Split"},
        {"pattern", {{"Regex", "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"}}},
        {"behavior", "Removed"},
        {"invert", true}},
       jsonByteLevel(false)});
  // In decoded texts the suffix "</w>" becomes a space, and white space at both ends of a text is removed.
  builder.decoder = jsonSequence("decoders", {jsonType("ByteLevel"), jsonReplace("</w>", " "), jsonReplaceRegex("\\A\\s+|\\s+\\z", "")});
  const NamedToken end("<|endoftext|>");
  ATTUNE_RETURN_IF_FAILED(builder.initialize(
      readTokens(builder, {{"unk_token", end}, {"bos_token", "<|startoftext|>"}, {"eos_token", end}, {"pad_token", end}})));
  builder.postProcessor = makeRobertaProcessing(builder, builder.token("eos_token"), builder.token("bos_token"), false, false);
  return {};
}
