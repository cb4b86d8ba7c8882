//===- TokenizerBuilder.cpp - Tokenizers that a class makes in code -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerBuilder.h"
#include "compiler/Support/Strings.h"
#include "compiler/Text/Precompiled.h"
#include "compiler/Text/SentencePieceMerges.h"
#include "compiler/Text/VocabularyFiles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <tuple>

using namespace attune;
using namespace attune::text;

//===--- Components --------------------------------------------------------===//

Json attune::text::jsonType(const char *type) { return {{"type", type}}; }

Json attune::text::jsonReplace(const std::string &literal, const std::string &content) {
  return {{"type", "Replace"}, {"pattern", {{"String", literal}}}, {"content", content}};
}

Json attune::text::jsonReplaceRegex(const std::string &pattern, const std::string &content) {
  return {{"type", "Replace"}, {"pattern", {{"Regex", pattern}}}, {"content", content}};
}

Json attune::text::jsonMetaspace(const char *scheme, bool split) {
  return {{"type", "Metaspace"}, {"replacement", kMark}, {"prepend_scheme", scheme}, {"split", split}};
}

Json attune::text::jsonByteLevel(bool addPrefixSpace, bool useRegex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", addPrefixSpace}, {"trim_offsets", true}, {"use_regex", useRegex}};
}

Json attune::text::jsonSequence(const char *partsKey, const std::vector<Json> &parts) {
  return {{"type", "Sequence"}, {partsKey, Json(parts)}};
}

//===--- Special tokens ----------------------------------------------------===//

std::optional<NamedToken> TokenizerBuilder::named(const char *name, std::optional<NamedToken> fallback) const {
  auto place = arguments.named.find(name);
  return place == arguments.named.end() ? std::move(fallback) : place->second;
}

std::string TokenizerBuilder::text(const char *name, std::optional<NamedToken> fallback) const {
  std::optional<NamedToken> token = named(name, std::move(fallback));
  return token ? token->content : "None";
}

std::string TokenizerBuilder::token(const std::string &name) const {
  for (const auto &[key, value] : specials)
    if (key == name)
      return value ? value->content : std::string();
  return {};
}

std::optional<uint32_t> TokenizerBuilder::findId(const std::string &content) const {
  std::optional<uint32_t> id = spec.findToken(content);
  return id ? id : spec.findToken(token("unk_token"));
}

NamedTokens attune::text::readTokens(const TokenizerBuilder &builder, const NamedTokens &defaults) {
  NamedTokens tokens;
  for (const auto &[name, fallback] : defaults)
    tokens.emplace_back(name, builder.named(name, fallback));
  return tokens;
}

NamedTokens attune::text::readBracketTokens(const TokenizerBuilder &builder) {
  return readTokens(builder, {{"bos_token", "[CLS]"},
                              {"eos_token", "[SEP]"},
                              {"unk_token", "[UNK]"},
                              {"sep_token", "[SEP]"},
                              {"cls_token", "[CLS]"},
                              {"pad_token", "[PAD]"},
                              {"mask_token", "[MASK]"}});
}

NamedTokens attune::text::readRobertaTokens(const TokenizerBuilder &builder) {
  return readTokens(builder, {{"bos_token", "<s>"},
                              {"eos_token", "</s>"},
                              {"unk_token", "<unk>"},
                              {"sep_token", "</s>"},
                              {"cls_token", "<s>"},
                              {"pad_token", "<pad>"},
                              {"mask_token", "<mask>"}});
}

void TokenizerBuilder::addTokens(const std::vector<NamedToken> &tokens, bool special) {
  std::vector<AddedToken> call;
  for (NamedToken token : tokens) {
    token.special |= special;
    call.push_back(token.toAddedToken());
  }
  spec.addTokens(call);
}

std::vector<NamedToken> TokenizerBuilder::specialTokens() const {
  std::vector<NamedToken> tokens;
  for (const auto &[name, token] : specials)
    if (token)
      tokens.push_back(*token);
  tokens.insert(tokens.end(), extraSpecials.begin(), extraSpecials.end());
  return tokens;
}

Status TokenizerBuilder::addSpecialsAgain() {
  addTokens(specialTokens(), true);
  return shouldUpdatePostProcessor ? updatePostProcessor() : Status();
}

/// Returns true if |tokens| holds |token|.
static bool holds(const std::vector<NamedToken> &tokens, const NamedToken &token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

void TokenizerBuilder::setSpecials(const NamedTokens &tokens, std::optional<std::vector<NamedToken>> extra) {
  // The common tokens in the order of kNamedTokens, then the tokens with other names.
  std::map<std::string, std::optional<NamedToken>> values = arguments.named;
  for (const auto &[name, token] : tokens)
    values[name] = token;
  const Json *padding = findJson(arguments.tokenizer, "padding");
  if (const Json *pad = padding ? findJson(*padding, "pad_token") : nullptr; pad && pad->is_string())
    values.try_emplace("pad_token", NamedToken(pad->get<std::string>()));
  specials.clear();
  for (const char *name : kNamedTokens)
    specials.emplace_back(name, values[name]);
  for (const auto &token : tokens)
    if (std::none_of(kNamedTokens.begin(), kNamedTokens.end(), [&](const char *common) { return !std::strcmp(common, token.first); }))
      specials.emplace_back(token.first, token.second);
  for (const auto &given : arguments.specific) {
    auto place = std::find_if(specials.begin(), specials.end(), [&](auto &special) { return special.first == given.first; });
    if (place == specials.end())
      specials.emplace_back(given);
    else
      place->second = given.second;
  }
  if (arguments.extra)
    extraSpecials = *arguments.extra;
  else if (extra)
    extraSpecials = *extra;
  else if (arguments.additional)
    extraSpecials = *arguments.additional;
}

Status TokenizerBuilder::initialize(const NamedTokens &tokens, std::optional<std::vector<NamedToken>> extra) {
  if (addBos || addEos)
    shouldUpdatePostProcessor = true;
  shouldUpdatePostProcessor |= postProcessor.is_null();
  setSpecials(tokens, std::move(extra));

  // Adds the tokens that the settings give by id, then the special tokens that are not among the added ones yet.
  std::set<std::string> known;
  for (const auto &[id, token] : spec.added)
    known.insert(token.content);
  std::vector<NamedToken> toAdd;
  for (const auto &entry : arguments.byId) {
    const AddedToken added = entry.second.toAddedToken();
    if (std::none_of(spec.added.begin(), spec.added.end(), [&](auto &other) { return other.second == added; }))
      toAdd.push_back(entry.second);
  }
  for (const NamedToken &token : toAdd)
    known.insert(token.content);
  std::set<std::string> namedContents;
  for (const auto &[name, token] : specials)
    if (token) {
      namedContents.insert(token->content);
      if (!known.count(token->content) && !holds(toAdd, *token))
        toAdd.push_back(*token);
    }
  for (const NamedToken &token : extraSpecials)
    if (!known.count(token.content) && !holds(toAdd, token))
      toAdd.push_back(token);
  for (NamedToken &token : toAdd)
    if (token.hasFlags && !token.special && namedContents.count(token.content))
      token.special = true;
  addTokens(toAdd, false);

  ATTUNE_RETURN_IF_FAILED(patchMistral());
  shouldUpdatePostProcessor |= postProcessor.is_null();
  return shouldUpdatePostProcessor ? updatePostProcessor() : Status();
}

//===--- Post-processors ---------------------------------------------------===//

Status TokenizerBuilder::setTemplate(const std::vector<TemplatePart> &single, const std::vector<TemplatePart> &pair) {
  Json specialTokens = Json::object();
  auto describe = [&](const std::vector<TemplatePart> &parts, Json &list) -> Status {
    list = Json::array();
    for (const TemplatePart &part : parts) {
      if (part.token == "$A" || part.token == "$B") {
        list.push_back({{"Sequence", {{"id", part.token.substr(1)}, {"type_id", part.typeId}}}});
        continue;
      }
      std::optional<uint32_t> id = findId(part.token);
      if (!id)
        return Status::error(file + ": expected the token " + describeJson(Json(part.token)) + ", which " + type.name +
                             " adds to texts, got none");
      list.push_back({{"SpecialToken", {{"id", part.token}, {"type_id", part.typeId}}}});
      specialTokens[part.token] = {{"id", part.token}, {"ids", Json::array({*id})}, {"tokens", Json::array({part.token})}};
    }
    return {};
  };
  Json singleParts, pairParts;
  ATTUNE_RETURN_IF_FAILED(describe(single, singleParts));
  ATTUNE_RETURN_IF_FAILED(describe(pair, pairParts));
  postProcessor = {{"type", "TemplateProcessing"}, {"single", singleParts}, {"pair", pairParts}, {"special_tokens", specialTokens}};
  return {};
}

Status TokenizerBuilder::setBertTemplate(const std::string &cls, const std::string &sep, uint32_t clsType) {
  return setTemplate({{cls, clsType}, {"$A", 0}, {sep, 0}}, {{cls, clsType}, {"$A", 0}, {sep, 0}, {"$B", 1}, {sep, 1}});
}

Status TokenizerBuilder::updatePostProcessor() {
  const std::string bos = addBos.value_or(false) ? token("bos_token") : "", eos = addEos.value_or(false) ? token("eos_token") : "";
  std::vector<TemplatePart> single, pair;
  for (uint32_t text = 0; text < 2; ++text) {
    if (!bos.empty())
      pair.push_back({bos, text});
    pair.push_back({text == 0 ? "$A" : "$B", text});
    if (!eos.empty())
      pair.push_back({eos, text});
    if (text == 0)
      single = pair;
  }
  return setTemplate(single, pair);
}

//===--- Vocabularies ------------------------------------------------------===//

static const char *nameOf(ModelKind kind) {
  return kind == ModelKind::WordPiece ? "WordPiece" : kind == ModelKind::Bpe ? "BPE" : kind == ModelKind::Unigram ? "Unigram" : "WordLevel";
}

Status TokenizerBuilder::checkModel(const std::string &path, ModelKind found) const {
  if (!type.model || *type.model == found)
    return {};
  return Status::error(path + ": expected a model " + nameOf(*type.model) + " for the tokenizer class " + type.name + ", got " +
                       nameOf(found));
}

Status TokenizerBuilder::useUnigram(uint32_t unknownId) {
  if (unknownId >= pieces.size())
    return Status::error(file + ": expected more than " + std::to_string(unknownId) + " pieces for the tokenizer class " + type.name +
                         ", whose unknown token is number " + std::to_string(unknownId) + ", got " + std::to_string(pieces.size()));
  spec.model = ModelKind::Unigram;
  spec.vocab.clear();
  spec.tokens.clear();
  spec.exists.clear();
  spec.scores.clear();
  for (const auto &[text, score] : pieces) {
    spec.addToken(text, uint32_t(spec.scores.size()));
    spec.scores.push_back(score);
  }
  spec.modelSize = uint32_t(pieces.size());
  spec.unknownId = unknownId;
  spec.unknownToken.reset();
  spec.byteFallback = false;
  return {};
}

/// Returns the number that the package `tokenizers` reads from the shortest decimal form of |value|. Its parser,
/// serde_json, rounds twice: when it converts the integer of all digits to double, and when it multiplies or divides
/// that by a power of ten. The result may differ from |value| by a unit in the last place, which decides between two
/// segmentations of a text whose sums of scores are nearly equal. Returns |value| itself if the power of ten is not a
/// finite double.
static double roundLikeSerde(double value) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof(text), std::abs(value), std::chars_format::scientific);
  uint64_t digits = 0;
  int exponent = 0;
  bool isFraction = false;
  for (const char *at = text; at != end; ++at) {
    if (*at == 'e') {
      exponent += std::atoi(std::string(at + 1, size_t(end - at - 1)).c_str());
      break;
    }
    if (*at == '.') {
      isFraction = true;
      continue;
    }
    digits = digits * 10 + uint64_t(*at - '0');
    exponent -= isFraction;
  }
  if (std::abs(exponent) > 308)
    return value;
  double power = std::strtod(("1e" + std::to_string(std::abs(exponent))).c_str(), nullptr);
  return std::copysign(exponent < 0 ? double(digits) / power : double(digits) * power, value);
}

Status TokenizerBuilder::loadTokenizerJson() {
  file = arguments.tokenizerFile;
  ATTUNE_RETURN_IF_FAILED(readTokenizerModel(arguments.tokenizer, file, spec));
  if (const Json *processor = findJson(arguments.tokenizer, "post_processor"))
    postProcessor = *processor;
  auto component = [&](const char *key) {
    const Json *value = findJson(arguments.tokenizer, key);
    return value ? *value : Json();
  };
  if (!type.build) {
    normalizer = component("normalizer");
    preTokenizer = component("pre_tokenizer");
    decoder = component("decoder");
    for (double &score : spec.scores)
      score = roundLikeSerde(score);
    return {};
  }
  // A class with a build function takes only vocabulary, merges, character map, padding and post-processor from the
  // file and makes the rest itself.
  ATTUNE_RETURN_IF_FAILED(checkModel(file, spec.model));
  spec.added.clear();
  spec.addedIds.clear();
  spec.specials.clear();
  if (spec.model == ModelKind::Unigram)
    for (size_t i = 0; i < spec.scores.size(); ++i)
      pieces.emplace_back(spec.tokens[i], spec.scores[i]);
  spec.unknownToken.reset();
  spec.unknownId.reset();
  spec.continuingPrefix = spec.endSuffix = "";
  spec.maxCharacters = 100;
  spec.fuseUnknown = spec.byteFallback = spec.ignoreMerges = false;
  Json given = component("normalizer");
  const Json *parts = findJson(given, "normalizers");
  const Json list = parts ? *parts : Json::array({given});
  if (list.is_array())
    for (const Json &part : list) {
      const Json *kind = findJson(part, "type"), *map = findJson(part, "precompiled_charsmap");
      if (kind && *kind == "Precompiled" && map && map->is_string()) {
        characterMap = map->get<std::string>();
        break;
      }
    }
  return {};
}

/// Adds the pieces of |model| to the vocabulary of |spec| as transformers' classes for BPE do: the id of a piece is its
/// index, and of equal pieces only the last one is added.
static void addPieces(const SentencePieceModel &model, TokenizerSpec &spec) {
  std::unordered_map<std::string, uint32_t> ids;
  for (size_t i = 0; i < model.pieces.size(); ++i)
    ids[model.pieces[i].text] = uint32_t(i);
  for (size_t i = 0; i < model.pieces.size(); ++i)
    if (ids[model.pieces[i].text] == i)
      spec.addToken(model.pieces[i].text, uint32_t(i));
  spec.modelSize = uint32_t(ids.size());
}

Status TokenizerBuilder::useSentencePiece(const SentencePieceModel &model, const std::string &path) {
  file = path;
  const ModelKind kind = type.model ? *type.model : model.kind == SentencePieceModel::Unigram ? ModelKind::Unigram : ModelKind::Bpe;
  spec.model = kind;
  if (kind == ModelKind::Unigram) {
    for (const SentencePieceModel::Piece &piece : model.pieces)
      pieces.emplace_back(piece.text, double(piece.score));
  } else if (kind == ModelKind::Bpe) {
    addPieces(model, spec);
    ATTUNE_RETURN_IF_FAILED(deriveMerges(model, file, spec));
  } else {
    return Status::error(path + ": expected vocab.txt for the tokenizer class " + std::string(type.name) + ", got a SentencePiece model");
  }
  arguments.additional.emplace();
  for (const SentencePieceModel::Piece &piece : model.pieces)
    if (piece.type == SentencePieceModel::Control || piece.type == SentencePieceModel::UserDefined) {
      NamedToken token(piece.text);
      token.hasFlags = true;
      token.normalized = false;
      token.special = piece.type == SentencePieceModel::Control;
      arguments.additional->push_back(token);
    }
  if (!model.characterMap.empty())
    characterMap = encodeBase64(model.characterMap);
  if (model.unknownId >= 0)
    spec.unknownId = uint32_t(model.unknownId);
  return type.build ? Status() : makeGenericSentencePiece(model);
}

Status TokenizerBuilder::makeGenericSentencePiece(const SentencePieceModel &model) {
  std::vector<Json> normalizers, decoders = {jsonReplace(kMark, " ")};
  if (!characterMap.empty())
    normalizers.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", characterMap}});
  normalizers.push_back(jsonReplace(" ", kMark));
  if (model.byteFallback) {
    decoders.push_back(jsonType("ByteFallback"));
    decoders.push_back(jsonType("Fuse"));
  }
  normalizer = jsonSequence("normalizers", normalizers);
  decoder = jsonSequence("decoders", decoders);
  if (spec.model == ModelKind::Unigram) {
    ATTUNE_RETURN_IF_FAILED(useUnigram(uint32_t(model.unknownId)));
  } else {
    spec.unknownToken = model.unknownPiece;
    spec.fuseUnknown = true;
    // Settings may rename a piece, such as a placeholder: the string of an added token replaces that of the piece with
    // the same id.
    for (const auto &[id, token] : arguments.byId)
      if (id < spec.tokens.size() && spec.exists[id] && spec.tokens[id] != token.content && !spec.vocab.count(token.content)) {
        spec.vocab.erase(spec.tokens[id]);
        spec.addToken(token.content, id);
      }
  }
  spec.byteFallback = model.byteFallback;
  auto give = [&](const char *name, int32_t id, const std::string &piece) {
    if (id >= 0)
      arguments.named.try_emplace(name, NamedToken(piece));
  };
  give("bos_token", model.bosId, model.bosPiece);
  give("eos_token", model.eosId, model.eosPiece);
  give("unk_token", model.unknownId, model.unknownPiece);
  return {};
}

Status TokenizerBuilder::loadVocabulary() {
  auto exists = [&](const char *name) {
    std::error_code error;
    return name && std::filesystem::is_regular_file(arguments.folder + "/" + name, error);
  };
  if (!arguments.tokenizerFile.empty())
    return loadTokenizerJson();
  for (const char *name : {"tekken.json", "tiktoken.model"})
    if (exists(name))
      return Status::error(arguments.folder + "/" + name + ": this form of a vocabulary is not supported; expected tokenizer.json");
  // tokenizer.model, which many classes share, takes precedence over the vocabulary file of the class.
  const char *vocabFile = exists("tokenizer.model") ? "tokenizer.model" : type.vocabFile;
  if (!exists(vocabFile))
    return Status::error(arguments.folder + ": expected tokenizer.json" + (vocabFile ? std::string(" or ") + vocabFile : "") +
                         " for the tokenizer class " + type.name);
  const std::string name = vocabFile, path = arguments.folder + "/" + name;
  if (endsWith(name, ".model")) {
    Result<SentencePieceModel> model = readSentencePiece(path);
    return model ? useSentencePiece(*model, path) : model.status();
  }
  file = path;
  spec.model = *type.model;
  if (spec.model == ModelKind::WordPiece)
    return readVocabTxt(path, spec);
  ATTUNE_RETURN_IF_FAILED(readVocabJson(path, spec));
  if (!exists(type.mergesFile))
    return Status::error(arguments.folder + ": expected " + type.mergesFile + " beside " + name + ", got none");
  return readMergesTxt(arguments.folder + "/" + type.mergesFile, spec);
}

//===--- Making the tokenizer ----------------------------------------------===//

Status TokenizerBuilder::run() {
  padsLeft = type.padsLeft;
  if (type.inPython) {
    // Such a class uses nothing of tokenizer.json but the added tokens, which |arguments| already has.
    arguments.tokenizer = Json();
    arguments.tokenizerFile.clear();
    file = arguments.folder;
    return make();
  }
  if (arguments.tokenizerFile.empty()) {
    for (auto [key, place] : {std::pair("add_bos_token", &addBos), std::pair("add_eos_token", &addEos)})
      if (findJson(arguments.config, key)) {
        bool value = false;
        ATTUNE_RETURN_IF_FAILED(arguments.read(key, value));
        *place = value;
      }
  }
  ATTUNE_RETURN_IF_FAILED(loadVocabulary());
  return make();
}

Status TokenizerBuilder::run(const SentencePieceModel &model, const std::string &path) {
  ATTUNE_RETURN_IF_FAILED(useSentencePiece(model, path));
  return make();
}

Status TokenizerBuilder::make() {
  if (type.build) {
    ATTUNE_RETURN_IF_FAILED(type.build(*this));
  } else {
    if (arguments.tokenizerFile.empty()) {
      arguments.named.try_emplace("bos_token", NamedToken("<s>"));
      arguments.named.try_emplace("eos_token", NamedToken("</s>"));
    }
    ATTUNE_RETURN_IF_FAILED(initialize({}));
  }
  if (spec.unknownToken)
    if (auto place = spec.vocab.find(*spec.unknownToken); place != spec.vocab.end())
      spec.unknownId = place->second;
  if (spec.model == ModelKind::Bpe && !spec.unknownToken)
    spec.unknownId.reset();
  if (std::optional<uint32_t> pad = spec.findToken(token("pad_token")))
    spec.padId = *pad;
  spec.padTypeId = padTypeId ? padTypeId : spec.padTypeId;
  ATTUNE_RETURN_IF_FAILED(finishDecoder());
  ATTUNE_RETURN_IF_FAILED(readDefaults());
  Json components = {{"normalizer", normalizer}, {"pre_tokenizer", preTokenizer}, {"post_processor", postProcessor}, {"decoder", decoder}};
  return readTokenizerComponents(components, file, spec);
}

Status TokenizerBuilder::finishDecoder() {
  bool cleans = false, cleansBpe = false;
  ATTUNE_RETURN_IF_FAILED(arguments.read("clean_up_tokenization_spaces", cleans));
  ATTUNE_RETURN_IF_FAILED(arguments.read("clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", cleansBpe));
  if (!cleans || (!type.inPython && ((spec.model == ModelKind::Bpe && !cleansBpe) || decoder.is_null())))
    return {};
  std::vector<Json> parts;
  if (!type.inPython)
    parts = {decoder, jsonType("Fuse")};
  for (auto [from, to] :
       {std::pair(" .", "."), std::pair(" ?", "?"), std::pair(" !", "!"), std::pair(" ,", ","), std::pair(" ' ", "'"),
        std::pair(" n't", "n't"), std::pair(" 'm", "'m"), std::pair(" 's", "'s"), std::pair(" 've", "'ve"), std::pair(" 're", "'re")})
    parts.push_back(jsonReplace(from, to));
  decoder = jsonSequence("decoders", parts);
  return {};
}

Status TokenizerBuilder::readDefaults() {
  for (auto [key, left, flag] :
       {std::tuple("padding_side", padsLeft, kDefaultPadLeft), std::tuple("truncation_side", false, kDefaultTruncateLeft)}) {
    // A side that tokenizer_config.json does not set is that of tokenizer.json or else the default of the class.
    const Json *given = findJson(arguments.tokenizer, flag == kDefaultPadLeft ? "padding" : "truncation");
    const Json *direction = given ? findJson(*given, "direction") : nullptr;
    std::string side = direction && direction->is_string() ? direction->get<std::string>() : left ? "left" : "right";
    if (side == "Left" || side == "Right")
      side[0] = char(side[0] + 32);
    ATTUNE_RETURN_IF_FAILED(arguments.read(key, side));
    if (side != "left" && side != "right")
      return jsonTypeError(arguments.configFile, key, "left or right", Json(side));
    spec.defaults |= side == "left" ? flag : 0u;
  }
  bool givesTypes = type.givesTypes;
  if (const Json *names = arguments.find("model_input_names"); names && names->is_array())
    givesTypes = std::find(names->begin(), names->end(), "token_type_ids") != names->end();
  spec.defaults |= givesTypes ? uint32_t(kDefaultGiveTypes) : 0u;
  bool splits = false;
  ATTUNE_RETURN_IF_FAILED(arguments.read("split_special_tokens", splits));
  spec.defaults |= splits ? uint32_t(kDefaultSplitSpecial) : 0u;
  return {};
}

/// Returns true if the version |text| is before 5.0.0; false for "".
static bool isBeforeFive(const std::string &text) { return !text.empty() && std::atoi(text.c_str()) < 5; }

Status TokenizerBuilder::patchMistral() {
  bool asked = false;
  ATTUNE_RETURN_IF_FAILED(arguments.read("fix_mistral_regex", asked));
  std::error_code error;
  const std::string path = arguments.folder + "/config.json";
  if (!asked || preTokenizer.is_null() || spec.modelSize + spec.added.size() <= 100000 || !std::filesystem::is_regular_file(path, error))
    return {};
  Result<Json> config = readJsonFile(path);
  if (!config)
    return config.status();
  const Json *version = findJson(*config, "transformers_version"), *model = findJson(*config, "model_type");
  static const std::set<std::string> models = {"mistral", "mistral3", "voxtral", "ministral", "pixtral"};
  if ((version && version->is_string() && !isBeforeFive(version->get<std::string>())) ||
      (model && model->is_string() && !models.count(model->get<std::string>())))
    return {};
  Json split = {
      {"type", "Split"},
      {"pattern",
       {{"Regex", "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
                  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}|"
                  " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}}},
      {"behavior", "Isolated"},
      {"invert", false},
  };
  const Json *kind = findJson(preTokenizer, "type"), *parts = findJson(preTokenizer, "pretokenizers");
  if (kind && *kind == "Sequence" && parts && parts->is_array() && !parts->empty())
    preTokenizer["pretokenizers"][0] = split;
  else
    preTokenizer =
        jsonSequence("pretokenizers", {split, kind && *kind == "Metaspace" ? jsonByteLevel(false, /*useRegex=*/false) : preTokenizer});
  return {};
}
