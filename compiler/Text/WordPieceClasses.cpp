//===- WordPieceClasses.cpp - Tokenizers of BERT's kind -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerClasses.h"

using namespace attune;
using namespace attune::text;

/// Sets the normalizer, pre-tokenizer and decoder that the classes with a WordPiece model share, and |unknown| as the
/// unknown token. |readsLower| is true if the class uses the setting `do_lower_case`.
static Status makeBertComponents(TokenizerBuilder &builder, const std::string &unknown, bool readsLower = true) {
  bool clean = true, chinese = true, lower = true;
  if (readsLower) {
    ATTUNE_RETURN_IF_FAILED(builder.arguments.read("do_lower_case", lower));
  }
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("tokenize_chinese_chars", chinese));
  builder.normalizer = {{"type", "BertNormalizer"},
                        {"clean_text", clean},
                        {"handle_chinese_chars", chinese},
                        {"strip_accents", nullptr},
                        {"lowercase", lower}};
  if (builder.arguments.find("strip_accents")) {
    bool strip = false;
    ATTUNE_RETURN_IF_FAILED(builder.arguments.read("strip_accents", strip));
    builder.normalizer["strip_accents"] = strip;
  }
  builder.preTokenizer = jsonType("BertPreTokenizer");
  builder.decoder = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  builder.spec.continuingPrefix = "##";
  builder.spec.unknownToken = unknown;
  return {};
}

static Status buildBertWith(TokenizerBuilder &builder, bool readsLower) {
  NamedTokens tokens;
  for (auto [name, fallback] : {std::pair("unk_token", "[UNK]"), std::pair("sep_token", "[SEP]"), std::pair("pad_token", "[PAD]"),
                                std::pair("cls_token", "[CLS]"), std::pair("mask_token", "[MASK]")})
    tokens.emplace_back(name, builder.named(name, NamedToken(fallback)));
  ATTUNE_RETURN_IF_FAILED(makeBertComponents(builder, builder.text("unk_token", "[UNK]"), readsLower));
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens));
  return builder.setBertTemplate(builder.token("cls_token"), builder.token("sep_token"));
}

Status attune::text::buildBert(TokenizerBuilder &builder) { return buildBertWith(builder, /*readsLower=*/true); }

// DPR's classes accept `do_lower_case` but do not use it.
Status attune::text::buildDpr(TokenizerBuilder &builder) { return buildBertWith(builder, /*readsLower=*/false); }

Status attune::text::buildMPNet(TokenizerBuilder &builder) {
  NamedTokens tokens;
  for (auto [name, fallback] :
       {std::pair("bos_token", "<s>"), std::pair("eos_token", "</s>"), std::pair("sep_token", "</s>"), std::pair("cls_token", "<s>"),
        std::pair("unk_token", "[UNK]"), std::pair("pad_token", "<pad>"), std::pair("mask_token", "<mask>")}) {
    std::optional<NamedToken> token = builder.named(name, NamedToken(fallback));
    if (token && !token->hasFlags) {
      token->hasFlags = true;
      token->stripLeft = name == std::string("mask_token");
    }
    tokens.emplace_back(name, token);
  }
  ATTUNE_RETURN_IF_FAILED(makeBertComponents(builder, builder.text("unk_token", "[UNK]")));
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens));
  const std::string cls = builder.token("cls_token"), sep = builder.token("sep_token");
  std::optional<uint32_t> clsId = builder.findId(cls), sepId = builder.findId(sep);
  builder.postProcessor = {{"type", "RobertaProcessing"},
                           {"sep", Json::array({sep, sepId.value_or(2)})},
                           {"cls", Json::array({cls, clsId.value_or(0)})},
                           {"trim_offsets", true},
                           {"add_prefix_space", false}};
  return {};
}

Status attune::text::buildFunnel(TokenizerBuilder &builder) {
  NamedTokens tokens;
  for (auto [name, fallback] :
       {std::pair("unk_token", "<unk>"), std::pair("sep_token", "<sep>"), std::pair("pad_token", "<pad>"), std::pair("cls_token", "<cls>"),
        std::pair("mask_token", "<mask>"), std::pair("bos_token", "<s>"), std::pair("eos_token", "</s>")})
    tokens.emplace_back(name, builder.named(name, NamedToken(fallback)));
  ATTUNE_RETURN_IF_FAILED(makeBertComponents(builder, builder.text("unk_token", "<unk>")));
  bool clean = true;
  std::string prefix = "##";
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("clean_text", clean));
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("wordpieces_prefix", prefix));
  builder.normalizer["clean_text"] = clean;
  builder.decoder["prefix"] = prefix;
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens));
  return builder.setBertTemplate(builder.token("cls_token"), builder.token("sep_token"), /*clsType=*/2);
}

Status attune::text::buildSplinter(TokenizerBuilder &builder) {
  NamedTokens tokens;
  for (auto [name, fallback] : {std::pair("unk_token", "[UNK]"), std::pair("sep_token", "[SEP]"), std::pair("pad_token", "[PAD]"),
                                std::pair("cls_token", "[CLS]"), std::pair("mask_token", "[MASK]")})
    tokens.emplace_back(name, builder.named(name, NamedToken(fallback)));
  NamedToken question("[QUESTION]");
  for (const auto &[name, token] : builder.arguments.specific)
    if (name == "question_token")
      question = token;
  tokens.emplace_back("question_token", question);
  ATTUNE_RETURN_IF_FAILED(makeBertComponents(builder, builder.text("unk_token", "[UNK]")));
  ATTUNE_RETURN_IF_FAILED(builder.initialize(tokens));
  const std::string cls = builder.token("cls_token"), sep = builder.token("sep_token");
  std::string side = "right";
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("padding_side", side));
  std::vector<TemplatePart> pair = {{cls, 0}, {"$A", 0}, {question.content, 0}, {".", 0}, {sep, 0}, {"$B", 1}, {sep, 1}};
  if (side != "right")
    pair = {{cls, 0}, {"$A", 0}, {sep, 0}, {"$B", 1}, {question.content, 0}, {".", 0}, {sep, 1}};
  return builder.setTemplate({{cls, 0}, {"$A", 0}, {sep, 0}}, pair);
}
