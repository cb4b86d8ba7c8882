//===- GgufTokenizer.cpp - The tokenizer of a GGUF file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GGUF file has the vocabulary of a tokenizer, the type of each token and, for byte-level BPE, the merges. Of the
// other parts it has only names: `tokenizer.ggml.model` names the kind of tokenizer, `tokenizer.ggml.pre` the
// expression by which texts are split. The functions below make from these the tokenizer.json for which the names
// stand:
//
//   model   vocabulary                       steps
//   llama   BPE by scores, "▁" for spaces    "▁" for spaces and, unless add_space_prefix is false, before texts; the
//                                            decoder undoes both and joins byte tokens
//   gpt2    BPE of bytes with merges         those that the name stands for (kPreTokenizers), then bytes
//   bert    WordPiece, "▁" before words      those of transformers' class for BERT
//===----------------------------------------------------------------------===//

#include "compiler/Text/GgufTokenizer.h"
#include "compiler/Support/Strings.h"
#include "compiler/Text/SentencePieceMerges.h"
#include "compiler/Text/TokenizerBuilder.h"
#include "compiler/Text/Unicode.h"

#include <algorithm>
#include <cmath>

using namespace attune;
using namespace attune::text;

namespace {

constexpr const char *kSpace = "\xE2\x96\x81"; // U+2581, which stands for a space

/// Expressions of pre-tokenizers. CONTRACTIONS are those of English.
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define BLANKS "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
constexpr const char *kLlama3 = CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS;
constexpr const char *kQwen2 = CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS;
constexpr const char *kO200k = "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" CONTRACTIONS "?|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER
                               "*" CONTRACTIONS "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS;
constexpr const char *kTekken =
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS;
#undef CONTRACTIONS
#undef UPPER
#undef LOWER
#undef BLANKS

/// A value of `tokenizer.ggml.pre`, and the steps that it stands for.
struct PreTokenizerName {
  const char *name;
  /// The expression; null for the one that ByteLevel has of its own.
  const char *expression;
  bool splitsDigits = false, normalizesNfc = false;
  /// True if a word of the vocabulary is a token even if no merges make it.
  bool ignoresMerges = false;
  /// True if texts begin with the bos token, unless the metadata say otherwise.
  bool addsBos = false;
};

constexpr PreTokenizerName kPreTokenizers[] = {
    {"gpt-2", nullptr},
    {"phi-2", nullptr},
    {"olmo", nullptr, false, /*normalizesNfc=*/true},
    {"smollm", nullptr, /*splitsDigits=*/true},
    {"starcoder", nullptr, /*splitsDigits=*/true},
    {"llama-bpe", kLlama3, false, false, /*ignoresMerges=*/true, /*addsBos=*/true},
    {"llama3", kLlama3, false, false, /*ignoresMerges=*/true, /*addsBos=*/true},
    {"llama-v3", kLlama3, false, false, /*ignoresMerges=*/true, /*addsBos=*/true},
    {"dbrx", kLlama3},
    {"smaug-bpe", kLlama3},
    {"qwen2", kQwen2, false, /*normalizesNfc=*/true},
    {"deepseek-r1-qwen", kQwen2, false, /*normalizesNfc=*/true},
    {"megrez", kQwen2, false, /*normalizesNfc=*/true},
    {"gpt-4o", kO200k},
    {"tekken", kTekken, false, false, /*ignoresMerges=*/true, /*addsBos=*/true},
};

/// Returns |value| as a string. Fails if it is no string, or not UTF-8, which the format does not require.
Result<std::string> readText(const Json &value, const std::string &file, const std::string &key) {
  Result<std::string> text = jsonString(value, file, key);
  if (text && !isUtf8(*text))
    return Status::error(file + ": '" + key + "': expected UTF-8, got other bytes");
  return text;
}

/// A reader that makes the arguments of a tokenizer from the metadata of one file.
class GgufTokenizer {
public:
  explicit GgufTokenizer(const GgufFile &file) : file(file) {}

  Status run(const std::function<void(const std::string &)> &warn);

  TokenizerArguments arguments;
  bool isPresent = false;

private:
  const Json *find(const std::string &name) const { return findJson(file.metadata(), "tokenizer.ggml." + name); }
  Status expected(const std::string &name, const std::string &what) const {
    const Json *value = find(name);
    return value ? jsonTypeError(file.path(), "tokenizer.ggml." + name, what, *value)
                 : Status::error(file.path() + ": 'tokenizer.ggml." + name + "': expected " + what + ", but the key is missing");
  }
  Status read(const std::string &name, bool &value) const;

  Status readTokens();
  Status readNamedTokens();
  Status makeLlama();
  Status makeGpt2();
  Status makeBert(const std::function<void(const std::string &)> &warn);
  /// Makes the post-processor that puts the token |first| before a text if `addsBos`, and the token |last| after it if
  /// `addsEos`; both are names such as "bos_token". First sets `addsBos` and `addsEos` to the metadata add_bos_token
  /// and add_eos_token, where given. The second text of a pair and its tokens have the type |secondType|.
  Status addTemplate(const char *first, const char *last, uint32_t secondType);
  void addToVocabulary(const std::string &token, size_t id) { vocabulary[token] = id; }

  const GgufFile &file;
  std::vector<std::string> tokens;
  /// SentencePieceModel::Type of each token.
  std::vector<uint32_t> types;
  Json vocabulary = Json::object(), model = Json::object(), addedTokens = Json::array();
  Json normalizer, preTokenizer, postProcessor, decoder;
  /// Ids of special tokens by their names in transformers.
  std::map<std::string, size_t> named;
  bool addsBos = false, addsEos = false;
};

} // namespace

Status GgufTokenizer::read(const std::string &name, bool &value) const {
  const Json *member = find(name);
  if (!member)
    return {};
  Result<bool> read = jsonBool(*member, file.path(), "tokenizer.ggml." + name);
  if (!read)
    return read.status();
  value = *read;
  return {};
}

Status GgufTokenizer::readTokens() {
  const Json *list = find("tokens"), *kinds = find("token_type");
  if (!list || !list->is_array() || list->empty())
    return expected("tokens", "a list of strings");
  if (kinds && (!kinds->is_array() || kinds->size() != list->size()))
    return Status::error(file.path() + ": 'tokenizer.ggml.token_type': expected " + std::to_string(list->size()) +
                         " types, one for each token" + (kinds->is_array() ? ", got " + std::to_string(kinds->size()) : ""));
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string key = "[" + std::to_string(i) + "]";
    Result<std::string> token = readText((*list)[i], file.path(), "tokenizer.ggml.tokens" + key);
    if (!token)
      return token.status();
    Result<int64_t> type = SentencePieceModel::Normal;
    if (kinds)
      type = jsonInteger((*kinds)[i], file.path(), "tokenizer.ggml.token_type" + key, SentencePieceModel::Normal, SentencePieceModel::Byte);
    if (!type)
      return type.status();
    tokens.push_back(*token);
    types.push_back(uint32_t(*type));
  }
  return {};
}

/// Keys of metadata after "tokenizer.ggml.", and the names of their special tokens in transformers. The misspelling
/// "seperator" is that of the format.
static constexpr std::pair<const char *, const char *> kTokenKeys[] = {
    {"bos_token_id", "bos_token"},       {"eos_token_id", "eos_token"},     {"unknown_token_id", "unk_token"},
    {"seperator_token_id", "sep_token"}, {"padding_token_id", "pad_token"}, {"cls_token_id", "cls_token"},
    {"mask_token_id", "mask_token"}};

Status GgufTokenizer::readNamedTokens() {
  for (const auto &[key, name] : kTokenKeys) {
    const Json *value = find(key);
    if (!value)
      continue;
    // Some files give the largest 32-bit number as the id of a token that the vocabulary does not have.
    Result<int64_t> id = jsonInteger(*value, file.path(), std::string("tokenizer.ggml.") + key, 0, UINT32_MAX);
    if (!id)
      return id.status();
    if (*id == UINT32_MAX)
      continue;
    if (size_t(*id) >= tokens.size())
      return expected(key, "the id of one of the " + std::to_string(tokens.size()) + " tokens");
    named[name] = size_t(*id);
  }
  return {};
}

/// Makes the added tokens, which are found in texts: tokens of the types Control and Unknown, which are special, and
/// tokens of the type UserDefined, which are not. If |stripsRight|, special tokens from id 3 on, except <|endoftext|>,
/// take the white space after them.
static Json makeAddedTokens(const std::vector<std::string> &tokens, const std::vector<uint32_t> &types, bool stripsRight) {
  Json list = Json::array();
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool special = types[i] == SentencePieceModel::Control || types[i] == SentencePieceModel::Unknown;
    if (!special && types[i] != SentencePieceModel::UserDefined)
      continue;
    list.push_back({{"id", i},
                    {"content", tokens[i]},
                    {"single_word", false},
                    {"lstrip", false},
                    {"rstrip", stripsRight && special && i > 2 && tokens[i] != "<|endoftext|>"},
                    {"normalized", false},
                    {"special", special}});
  }
  return list;
}

Status GgufTokenizer::makeLlama() {
  SentencePieceModel pieces;
  TokenizerSpec spec;
  const Json *scores = find("scores");
  if (!scores || !scores->is_array() || scores->size() != tokens.size())
    return Status::error(file.path() + ": 'tokenizer.ggml.scores': expected a list of " + std::to_string(tokens.size()) +
                         " scores, one for each token");
  bool hasBytes = false;
  double last = HUGE_VAL;
  for (size_t i = 0; i < tokens.size(); ++i) {
    hasBytes |= types[i] == SentencePieceModel::Byte;
    pieces.pieces.push_back({tokens[i], 0, types[i]});
    if (types[i] == SentencePieceModel::Unused)
      continue;
    spec.addToken(tokens[i], uint32_t(i));
    addToVocabulary(tokens[i], i);
    if (types[i] != SentencePieceModel::Normal)
      continue;
    // deriveMerges orders merges by the ids of their results, SentencePiece by falling scores. The orders agree only if
    // scores do not rise with ids, which holds in SentencePiece's own files.
    Result<double> score = jsonNumber((*scores)[i], file.path(), "tokenizer.ggml.scores[" + std::to_string(i) + "]");
    if (!score)
      return score.status();
    if (*score > last)
      return Status::error(file.path() + ": 'tokenizer.ggml.scores[" + std::to_string(i) +
                           "]': expected scores that do not rise from token to token, got " + std::to_string(*score) + " after " +
                           std::to_string(last));
    last = *score;
  }
  spec.modelSize = uint32_t(spec.vocab.size());
  if (Status status = deriveMerges(pieces, file.path(), spec); status.failed())
    return status;
  Json merges = Json::array();
  for (const auto &[left, right] : spec.merges)
    merges.push_back(Json::array({left, right}));

  bool addsSpace = true;
  if (Status status = read("add_space_prefix", addsSpace); status.failed())
    return status;
  addsBos = true;
  named.try_emplace("unk_token", 0);
  model = {{"type", "BPE"},    {"vocab", vocabulary},      {"merges", std::move(merges)}, {"unk_token", tokens[named["unk_token"]]},
           {"fuse_unk", true}, {"byte_fallback", hasBytes}};
  std::vector<Json> normalizers, decoders = {jsonReplace(kSpace, " "), jsonType("ByteFallback"), jsonType("Fuse")};
  if (addsSpace) {
    normalizers.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
    decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  normalizers.push_back(jsonReplace(" ", kSpace));
  normalizer = jsonSequence("normalizers", normalizers);
  decoder = jsonSequence("decoders", decoders);
  const Json *architecture = findJson(file.metadata(), "general.architecture");
  // Special tokens of Phi-3 include the blanks after them, which a GGUF file does not say.
  addedTokens = makeAddedTokens(tokens, types, architecture && *architecture == "phi3");
  return {};
}

Status GgufTokenizer::makeGpt2() {
  const Json *name = find("pre"), *architecture = findJson(file.metadata(), "general.architecture"), *merges = find("merges");
  const PreTokenizerName *pre = nullptr;
  std::string names;
  for (const PreTokenizerName &entry : kPreTokenizers) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
    // Files of GPT-2 lack `tokenizer.ggml.pre`, because they are older than this key.
    if (name ? *name == entry.name : architecture && *architecture == "gpt2" && entry.name == std::string_view("gpt-2"))
      pre = &entry;
  }
  if (!pre)
    return expected("pre", "one of " + names);
  if (!merges || !merges->is_array())
    return expected("merges", "a list of strings");
  for (size_t i = 0; i < tokens.size(); ++i)
    if (types[i] != SentencePieceModel::Unused)
      addToVocabulary(tokens[i], i);
  for (size_t i = 0; i < merges->size(); ++i)
    if (Result<std::string> merge = readText((*merges)[i], file.path(), "tokenizer.ggml.merges[" + std::to_string(i) + "]"); !merge)
      return merge.status();
  addsBos = pre->addsBos;
  model = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", *merges}, {"ignore_merges", pre->ignoresMerges}};
  std::vector<Json> steps;
  if (pre->splitsDigits)
    steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  if (pre->expression)
    steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", pre->expression}}}, {"behavior", "Isolated"}, {"invert", false}});
  steps.push_back(jsonByteLevel(false, /*useRegex=*/pre->expression == nullptr));
  preTokenizer = jsonSequence("pretokenizers", steps);
  if (pre->normalizesNfc)
    normalizer = jsonType("NFC");
  decoder = jsonByteLevel(true);
  addedTokens = makeAddedTokens(tokens, types, /*stripsRight=*/false);
  return {};
}

Status GgufTokenizer::makeBert(const std::function<void(const std::string &)> &warn) {
  // In the format the first piece of a word begins with "▁" and other pieces have no mark. In a vocabulary of BERT
  // other pieces begin with "##" and the first one has no mark.
  bool isCased = false;
  const std::string space = kSpace;
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string &token = tokens[i];
    const bool isSpecial = types[i] == SentencePieceModel::Control || types[i] == SentencePieceModel::Unknown;
    const bool isBracketed = token.size() > 1 && token.front() == '[' && token.back() == ']';
    if (types[i] == SentencePieceModel::Unused && !isBracketed)
      continue;
    if (startsWith(token, space))
      token.erase(0, space.size());
    else if (!isSpecial && !isBracketed)
      token = "##" + token;
    isCased |= !isSpecial && !isBracketed && std::any_of(token.begin(), token.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    addToVocabulary(token, i);
  }
  if (warn && isCased)
    warn(file.path() + ": the tokenizer keeps case and accents, since its vocabulary has capital letters; the file does not say");
  for (auto [key, content] : {std::pair("cls_token", "[CLS]"), std::pair("sep_token", "[SEP]"), std::pair("unk_token", "[UNK]"),
                              std::pair("pad_token", "[PAD]"), std::pair("mask_token", "[MASK]")})
    if (const Json *id = findJson(vocabulary, content))
      named.try_emplace(key, id->get<size_t>());
  for (const char *key : {"cls_token", "sep_token", "unk_token"})
    if (!named.count(key))
      return Status::error(file.path() + ": 'tokenizer.ggml.tokens': expected [CLS], [SEP] and [UNK], of which one is missing");
  // A file may give these tokens the type of ordinary ones.
  for (const auto &[name, id] : named)
    types[id] = SentencePieceModel::Control;
  addsBos = addsEos = true;
  model = {{"type", "WordPiece"}, {"vocab", vocabulary}, {"unk_token", tokens[named["unk_token"]]}, {"continuing_subword_prefix", "##"}};
  normalizer = {{"type", "BertNormalizer"},
                {"clean_text", true},
                {"handle_chinese_chars", true},
                {"strip_accents", nullptr},
                {"lowercase", !isCased}};
  preTokenizer = jsonType("BertPreTokenizer");
  decoder = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  addedTokens = makeAddedTokens(tokens, types, /*stripsRight=*/false);
  return {};
}

Status GgufTokenizer::addTemplate(const char *first, const char *last, uint32_t secondType) {
  if (Status status = read("add_bos_token", addsBos); status.failed())
    return status;
  if (Status status = read("add_eos_token", addsEos); status.failed())
    return status;
  Json single = Json::array(), pair = Json::array(), special = Json::object();
  auto add = [&](const char *name, uint32_t type) -> Status {
    auto token = named.find(name);
    if (token == named.end())
      return Status::error(file.path() + ": expected the id of '" + name + "', which the tokenizer adds to texts, got none");
    const std::string &content = tokens[token->second];
    pair.push_back({{"SpecialToken", {{"id", content}, {"type_id", type}}}});
    special[content] = {{"id", content}, {"ids", Json::array({token->second})}, {"tokens", Json::array({content})}};
    return {};
  };
  for (uint32_t text = 0; text < 2; ++text) {
    const uint32_t type = text ? secondType : 0;
    // The class token (cls) comes once, before the first text, also in a template for pairs.
    if (addsBos && (text == 0 || named.count("cls_token") == 0 || first != std::string_view("cls_token")))
      if (Status status = add(first, type); status.failed())
        return status;
    pair.push_back({{"Sequence", {{"id", text ? "B" : "A"}, {"type_id", type}}}});
    if (addsEos)
      if (Status status = add(last, type); status.failed())
        return status;
    if (text == 0)
      single = pair;
  }
  postProcessor = {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", special}};
  return {};
}

Status GgufTokenizer::run(const std::function<void(const std::string &)> &warn) {
  const Json *kind = find("model");
  if (!kind)
    return {};
  isPresent = true;
  if (Status status = readTokens(); status.failed())
    return status;
  if (Status status = readNamedTokens(); status.failed())
    return status;
  Status status = *kind == "llama"  ? makeLlama()
                  : *kind == "gpt2" ? makeGpt2()
                  : *kind == "bert" ? makeBert(warn)
                                    : expected("model", "one of bert, gpt2, llama");
  if (status.failed())
    return status;
  const bool isBert = *kind == "bert";
  status = addTemplate(isBert ? "cls_token" : "bos_token", isBert ? "sep_token" : "eos_token", 1);
  if (status.failed())
    return status;

  arguments.folder = arguments.configFile = arguments.tokenizerFile = file.path();
  arguments.config = {{"tokenizer_class", "TokenizersBackend"}};
  arguments.tokenizer = {{"model", std::move(model)},     {"added_tokens", std::move(addedTokens)}, {"normalizer", normalizer},
                         {"pre_tokenizer", preTokenizer}, {"post_processor", postProcessor},        {"decoder", decoder}};
  for (const auto &[name, id] : named) {
    NamedToken token(tokens[id]);
    token.hasFlags = token.special = true;
    token.normalized = false;
    arguments.named[name] = token;
  }
  return {};
}

Result<std::optional<TokenizerArguments>> attune::text::readGgufTokenizer(const GgufFile &file,
                                                                          const std::function<void(const std::string &)> &warn) {
  GgufTokenizer tokenizer(file);
  if (Status status = tokenizer.run(warn); status.failed())
    return status;
  return tokenizer.isPresent ? std::optional(std::move(tokenizer.arguments)) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> attune::text::readGgufSpecialTokens(const GgufFile &file) {
  std::vector<std::pair<std::string, std::string>> result;
  const Json *tokens = findJson(file.metadata(), "tokenizer.ggml.tokens");
  for (const auto &[key, name] : kTokenKeys) {
    const Json *value = findJson(file.metadata(), std::string("tokenizer.ggml.") + key);
    // Wrong ids are skipped here; the reader of the tokenizer reports them.
    if (!value || !value->is_number_unsigned() || !tokens || !tokens->is_array() || value->get<uint64_t>() >= tokens->size())
      continue;
    const Json &token = (*tokens)[value->get<size_t>()];
    if (token.is_string() && isUtf8(token.get<std::string>()))
      result.emplace_back(name, token.get<std::string>());
  }
  return result;
}
