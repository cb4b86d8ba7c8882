//===- TokenizerJson.cpp - Reading tokenizer.json -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads tokenizer.json. Absent keys have the defaults of the package `tokenizers`. Unknown components and values are
// errors, which list the known ones.
//===----------------------------------------------------------------------===//

#include "compiler/Support/Strings.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/Precompiled.h"
#include "compiler/Text/Regex.h"
#include "compiler/Text/TokenizerSpec.h"
#include "compiler/Text/Unicode.h"

using namespace attune;
using namespace attune::text;

namespace {

/// The regular expression whose matches are the pieces of ByteLevel.
constexpr const char *kByteLevelPattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
/// The largest id that is accepted.
constexpr int64_t kMostId = (1 << 28) - 1;

/// An object of the file and its path for messages. In most cases the object is a component: its key "type" has the
/// name of an operation.
struct Component {
  const Json &json;
  const std::string &file;
  std::string path;

  std::string at(const char *key) const { return path.empty() ? key : path + "." + key; }
  const Json *find(const char *key) const {
    const Json *value = findJson(json, key);
    return value && !value->is_null() ? value : nullptr;
  }
  Status read(const char *key, bool &value) const { return readAs<bool>(key, value, jsonBool); }
  Status read(const char *key, std::string &value) const { return readAs<std::string>(key, value, jsonString); }
  Status read(const char *key, uint32_t &value, int64_t min, int64_t max) const {
    const Json *member = find(key);
    if (!member)
      return {};
    Result<int64_t> number = jsonInteger(*member, file, at(key), min, max);
    if (!number)
      return number.status();
    value = uint32_t(*number);
    return {};
  }
  Status expected(const char *key, const std::string &what) const {
    const Json *member = findJson(json, key);
    return jsonTypeError(file, at(key), what, member ? *member : Json());
  }

private:
  template <typename T>
  Status readAs(const char *key, T &value, Result<T> (*parse)(const Json &, const std::string &, const std::string &)) const {
    const Json *member = find(key);
    if (!member)
      return {};
    Result<T> parsed = parse(*member, file, at(key));
    if (!parsed)
      return parsed.status();
    value = *parsed;
    return {};
  }
};

class Reader {
public:
  Reader(const Json &root, const std::string &file, TokenizerSpec &spec) : root(root), file(file), spec(spec) {}
  Status runModel();
  Status runComponents();

private:
  Status readModel();
  Status readVocab(const Component &model);
  Status readMerges(const Component &model);
  Status readPieces(const Component &model);
  Status readNormalizer(const Component &component);
  Status readPreTokenizer(const Component &component);
  Status readProcessor(const Component &component);
  Status readTemplate(const Component &component);
  Status readDecoder(const Component &component);
  Status readAddedTokens();
  Status readPadding();

  /// Calls |read| with the component |value| and its type. If |value| is a Sequence, reads each component of its list
  /// |partsKey| in this way instead; |depth| is the number of Sequences around |value|. |path| is the path of |value|
  /// in messages. Does nothing if |value| is a null pointer or the value null.
  template <typename Fn>
  Status readParts(const Json *value, const std::string &path, const char *partsKey, Fn read, int depth = 0);
  Result<std::string> typeOf(const Component &component) const;
  /// Reads "pattern" into the arguments of |step|: the automaton of a regular expression into c, or a literal string
  /// into d and e, with kNoId in c.
  Status readPattern(const Component &component, Step &step);
  Status readAutomaton(const std::string &pattern, const std::string &path, uint32_t &offset);
  Status readSpecial(const Component &component, const char *key, TemplatePiece &piece);
  Result<std::vector<TemplatePiece>> readPieceList(const Component &component, const char *key);
  void setText(Step &step, const std::string &text) {
    PoolString place = spec.pool.add(text);
    step.a = place.offset;
    step.b = place.bytes;
  }
  uint32_t readScheme(const Component &component, Status &status);
  Status readCharacter(const Component &component, const char *key, uint32_t &character);

  const Json &root;
  const std::string &file;
  TokenizerSpec &spec;
};

} // namespace

/// Returns |bit| if |set| is true, else 0.
static uint32_t flag(bool set, uint32_t bit) { return set ? bit : 0; }

Result<std::string> Reader::typeOf(const Component &component) const {
  const Json *type = component.find("type");
  if (!component.json.is_object() || !type)
    return component.expected("type", "the name of a component");
  return jsonString(*type, file, component.at("type"));
}

template <typename Fn>
Status Reader::readParts(const Json *value, const std::string &path, const char *partsKey, Fn read, int depth) {
  if (!value || value->is_null())
    return {};
  Component component{*value, file, path};
  Result<std::string> type = typeOf(component);
  if (!type)
    return type.status();
  if (*type != "Sequence")
    return read(component, *type);
  const Json *parts = component.find(partsKey);
  if (!parts || !parts->is_array() || depth > 8)
    return component.expected(partsKey, depth > 8 ? "sequences nested at most 8 deep" : "a list");
  for (size_t i = 0; i < parts->size(); ++i)
    ATTUNE_RETURN_IF_FAILED(readParts(&(*parts)[i], component.at(partsKey) + "[" + std::to_string(i) + "]", partsKey, read, depth + 1));
  return {};
}

Status Reader::readAutomaton(const std::string &pattern, const std::string &path, uint32_t &offset) {
  Result<std::string> automaton = compileRegex(pattern);
  if (!automaton)
    return Status::error(file + ": '" + path + "': " + automaton.message() + " of " + describeJson(Json(pattern)));
  offset = spec.pool.add(*automaton, 4).offset;
  return {};
}

Status Reader::readPattern(const Component &component, Step &step) {
  const Json *pattern = component.find("pattern");
  step.c = kNoId;
  if (pattern && pattern->is_string()) {
    PoolString place = spec.pool.add(pattern->get_ref<const std::string &>());
    step.d = place.offset;
    step.e = place.bytes;
    return {};
  }
  const Json *literal = pattern ? findJson(*pattern, "String") : nullptr, *regex = pattern ? findJson(*pattern, "Regex") : nullptr;
  const Json *given = literal ? literal : regex;
  if (!given || !given->is_string())
    return component.expected("pattern", "{\"String\": …} or {\"Regex\": …}");
  const std::string &text = given->get_ref<const std::string &>();
  if (regex)
    return readAutomaton(text, component.at("pattern"), step.c);
  PoolString place = spec.pool.add(text);
  step.d = place.offset;
  step.e = place.bytes;
  return {};
}

Status Reader::readCharacter(const Component &component, const char *key, uint32_t &character) {
  std::string text;
  if (!component.find(key))
    return component.expected(key, "a character");
  ATTUNE_RETURN_IF_FAILED(component.read(key, text));
  std::vector<uint32_t> characters = toCodePoints(text);
  if (characters.size() != 1)
    return component.expected(key, "one character");
  character = characters[0];
  return {};
}

//===--- Normalizers -------------------------------------------------------===//

Status Reader::readNormalizer(const Component &component) {
  std::string type = component.json["type"];
  Step step = {};
  if (type == "BertNormalizer") {
    bool clean = true, chinese = true, lower = true;
    ATTUNE_RETURN_IF_FAILED(component.read("clean_text", clean));
    ATTUNE_RETURN_IF_FAILED(component.read("handle_chinese_chars", chinese));
    ATTUNE_RETURN_IF_FAILED(component.read("lowercase", lower));
    bool accents = lower;
    ATTUNE_RETURN_IF_FAILED(component.read("strip_accents", accents));
    step = makeStep(StepKind::NormalizeBert);
    step.a = flag(clean, kBertClean) | flag(chinese, kBertChinese) | flag(accents, kBertAccents) | flag(lower, kBertLower);
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    step = makeStep(StepKind::NormalizeForm);
    step.a = flag(type.size() == 4, kFormCompatible) | flag(type.back() == 'C', kFormCompose);
  } else if (type == "Lowercase") {
    step = makeStep(StepKind::NormalizeLowercase);
  } else if (type == "StripAccents") {
    step = makeStep(StepKind::NormalizeStripAccents);
  } else if (type == "Nmt") {
    step = makeStep(StepKind::NormalizeNmt);
  } else if (type == "ByteLevel") {
    step = makeStep(StepKind::NormalizeByteLevel);
  } else if (type == "Strip") {
    bool left = true, right = true;
    ATTUNE_RETURN_IF_FAILED(component.read("strip_left", left));
    ATTUNE_RETURN_IF_FAILED(component.read("strip_right", right));
    step = makeStep(StepKind::NormalizeStrip);
    step.a = (left ? 1 : 0) | (right ? 2 : 0);
  } else if (type == "Prepend") {
    std::string text;
    ATTUNE_RETURN_IF_FAILED(component.read("prepend", text));
    step = makeStep(StepKind::NormalizePrepend);
    setText(step, text);
  } else if (type == "Replace") {
    std::string content;
    ATTUNE_RETURN_IF_FAILED(component.read("content", content));
    step = makeStep(StepKind::NormalizeReplace);
    setText(step, content);
    ATTUNE_RETURN_IF_FAILED(readPattern(component, step));
  } else if (type == "Precompiled") {
    std::string map;
    ATTUNE_RETURN_IF_FAILED(component.read("precompiled_charsmap", map));
    Result<PrecompiledMap> parsed = parsePrecompiled(map);
    if (!parsed)
      return Status::error(file + ": '" + component.at("precompiled_charsmap") + "': " + parsed.message());
    if (parsed->units.empty())
      return {};
    step = makeStep(StepKind::NormalizePrecompiled);
    step.a =
        spec.pool.add(std::string(reinterpret_cast<const char *>(parsed->units.data()), parsed->units.size() * sizeof(TrieUnit)), 4).offset;
    step.b = uint32_t(parsed->units.size());
    PoolString texts = spec.pool.add(parsed->replacements, 4);
    step.c = texts.offset;
    step.d = texts.bytes;
  } else {
    return component.expected("type",
                              "a normalizer (BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, "
                              "Replace, Sequence, Strip, StripAccents)");
  }
  spec.normalizers.push_back(step);
  return {};
}

//===--- Pre-tokenizers ----------------------------------------------------===//

static Status readBehavior(const Component &component, uint32_t &behavior) {
  static constexpr const char *names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
  std::string name;
  ATTUNE_RETURN_IF_FAILED(component.read("behavior", name));
  for (uint32_t i = 0; i < 5 && !name.empty(); ++i)
    if (name == names[i]) {
      behavior = i;
      return {};
    }
  return name.empty() ? Status() : component.expected("behavior", "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

uint32_t Reader::readScheme(const Component &component, Status &status) {
  std::string scheme = "always";
  bool addPrefix = true;
  status = component.read("prepend_scheme", scheme);
  if (!status.failed())
    status = component.read("add_prefix_space", addPrefix);
  if (!addPrefix)
    scheme = "never";
  if (!status.failed() && scheme != "always" && scheme != "first" && scheme != "never")
    status = component.expected("prepend_scheme", "always, first or never");
  return uint32_t(scheme == "always" ? MetaspaceScheme::Always : scheme == "first" ? MetaspaceScheme::First : MetaspaceScheme::Never);
}

Status Reader::readPreTokenizer(const Component &component) {
  std::string type = component.json["type"];
  Step step = {};
  if (type == "BertPreTokenizer") {
    step = makeStep(StepKind::SplitBert);
  } else if (type == "ByteLevel") {
    bool prefix = true, regex = true;
    ATTUNE_RETURN_IF_FAILED(component.read("add_prefix_space", prefix));
    ATTUNE_RETURN_IF_FAILED(component.read("use_regex", regex));
    step = makeStep(StepKind::SplitByteLevel);
    step.a = (prefix ? 1 : 0) | 2;
    step.b = kNoId;
    if (regex)
      ATTUNE_RETURN_IF_FAILED(readAutomaton(kByteLevelPattern, component.path, step.b));
  } else if (type == "Metaspace") {
    uint32_t replacement = 0x2581;
    if (component.find("replacement"))
      ATTUNE_RETURN_IF_FAILED(readCharacter(component, "replacement", replacement));
    bool split = true;
    ATTUNE_RETURN_IF_FAILED(component.read("split", split));
    step = makeStep(StepKind::SplitMetaspace);
    setText(step, toUtf8({replacement}));
    Status status;
    step.c = readScheme(component, status);
    ATTUNE_RETURN_IF_FAILED(std::move(status));
    step.d = split;
  } else if (type == "Split") {
    bool invert = false;
    ATTUNE_RETURN_IF_FAILED(component.read("invert", invert));
    step = makeStep(StepKind::SplitPattern);
    if (!component.find("behavior"))
      return component.expected("behavior", "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
    ATTUNE_RETURN_IF_FAILED(readBehavior(component, step.a));
    step.b = invert;
    ATTUNE_RETURN_IF_FAILED(readPattern(component, step));
  } else if (type == "Whitespace") {
    step = makeStep(StepKind::SplitWhitespace);
  } else if (type == "WhitespaceSplit") {
    step = makeStep(StepKind::SplitWhiteSpaces);
  } else if (type == "Punctuation") {
    step = makeStep(StepKind::SplitPunctuation);
    step.a = uint32_t(SplitBehavior::Isolated);
    ATTUNE_RETURN_IF_FAILED(readBehavior(component, step.a));
  } else if (type == "Digits") {
    bool individual = false;
    ATTUNE_RETURN_IF_FAILED(component.read("individual_digits", individual));
    step = makeStep(StepKind::SplitDigits);
    step.a = individual;
  } else if (type == "CharDelimiterSplit") {
    step = makeStep(StepKind::SplitDelimiter);
    ATTUNE_RETURN_IF_FAILED(readCharacter(component, "delimiter", step.a));
  } else if (type == "UnicodeScripts") {
    step = makeStep(StepKind::SplitScripts);
  } else if (type == "FixedLength") {
    step = makeStep(StepKind::SplitLength);
    step.a = 5;
    ATTUNE_RETURN_IF_FAILED(component.read("length", step.a, 1, INT32_MAX));
  } else {
    return component.expected("type", "a pre-tokenizer (BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, "
                                      "Punctuation, Sequence, Split, UnicodeScripts, Whitespace, WhitespaceSplit)");
  }
  spec.preTokenizers.push_back(step);
  return {};
}

//===--- Post-processors ---------------------------------------------------===//

/// Reads the pair [token, id] at |key| into |piece|, a token with type id 0; only the id is used.
Status Reader::readSpecial(const Component &component, const char *key, TemplatePiece &piece) {
  const Json *pair = component.find(key);
  if (!pair || !pair->is_array() || pair->size() != 2)
    return component.expected(key, "[token, id]");
  Result<int64_t> id = jsonInteger((*pair)[1], file, component.at(key), 0, kMostId);
  if (!id)
    return id.status();
  piece = {2, 0, uint32_t(*id)};
  return {};
}

Result<std::vector<TemplatePiece>> Reader::readPieceList(const Component &component, const char *key) {
  const Json *list = component.find(key);
  if (!list || !list->is_array() || list->size() > 64)
    return component.expected(key, "a list of at most 64 parts");
  const Json *specials = component.find("special_tokens");
  std::vector<TemplatePiece> pieces;
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = component.at(key) + "[" + std::to_string(i) + "]";
    const Json *sequence = findJson((*list)[i], "Sequence"), *special = findJson((*list)[i], "SpecialToken");
    const Json *part = sequence ? sequence : special;
    const Json *name = part ? findJson(*part, "id") : nullptr;
    if (!name || !name->is_string())
      return jsonTypeError(file, path, "{\"Sequence\": {\"id\": …}} or {\"SpecialToken\": {\"id\": …}}", (*list)[i]);
    uint32_t typeId = 0;
    ATTUNE_RETURN_IF_FAILED((Component{*part, file, path}.read("type_id", typeId, 0, INT32_MAX)));
    const std::string &id = name->get_ref<const std::string &>();
    if (sequence) {
      if (id != "A" && id != "B")
        return jsonTypeError(file, path, "the text A or B", *name);
      pieces.push_back({id == "A" ? 0u : 1u, typeId, 0});
      continue;
    }
    const Json *token = specials ? findJson(*specials, id) : nullptr;
    const Json *ids = token ? findJson(*token, "ids") : nullptr;
    if (!ids)
      return jsonTypeError(file, path, "a token of 'special_tokens'", *name);
    Result<std::vector<int64_t>> numbers = jsonIntegers(*ids, file, component.at("special_tokens") + "." + id, 0, kMostId);
    if (!numbers)
      return numbers.status();
    for (int64_t number : *numbers)
      pieces.push_back({2, typeId, uint32_t(number)});
  }
  if (pieces.size() > 64)
    return component.expected(key, "a list of at most 64 parts");
  return pieces;
}

Status Reader::readTemplate(const Component &component) {
  Result<std::vector<TemplatePiece>> single = readPieceList(component, "single");
  if (!single)
    return single.status();
  Result<std::vector<TemplatePiece>> pair = readPieceList(component, "pair");
  if (!pair)
    return pair.status();
  for (uint32_t text = 0; text < 2; ++text) {
    auto count = [&](const std::vector<TemplatePiece> &pieces) {
      return std::count_if(pieces.begin(), pieces.end(), [&](const TemplatePiece &piece) { return piece.kind == text; });
    };
    if (count(*single) > (text == 0) || count(*pair) > 1)
      return component.expected(count(*single) > (text == 0) ? "single" : "pair", "each text at most once");
  }
  spec.addTemplate(*single, *pair);
  return {};
}

Status Reader::readProcessor(const Component &component) {
  std::string type = component.json["type"];
  bool trim = true, prefix = true;
  auto addTrim = [&] {
    Step step = makeStep(StepKind::ProcessTrim);
    step.a = prefix;
    if (trim)
      spec.processors.push_back(step);
  };
  bool isTemplate = type == "TemplateProcessing" || type == "BertProcessing" || type == "RobertaProcessing";
  if (isTemplate)
    for (const Step &step : spec.processors)
      if (step.kind == StepKind::ProcessTemplate)
        return component.expected("type", "one post-processor that adds tokens");
  if (type == "TemplateProcessing")
    return readTemplate(component);
  if (type == "ByteLevel") {
    ATTUNE_RETURN_IF_FAILED(component.read("trim_offsets", trim));
    ATTUNE_RETURN_IF_FAILED(component.read("add_prefix_space", prefix));
    addTrim();
    return {};
  }
  if (!isTemplate)
    return component.expected("type", "a post-processor (BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing)");
  bool roberta = type == "RobertaProcessing";
  if (roberta) {
    ATTUNE_RETURN_IF_FAILED(component.read("trim_offsets", trim));
    ATTUNE_RETURN_IF_FAILED(component.read("add_prefix_space", prefix));
    addTrim();
  }
  TemplatePiece cls, sep;
  ATTUNE_RETURN_IF_FAILED(readSpecial(component, "cls", cls));
  ATTUNE_RETURN_IF_FAILED(readSpecial(component, "sep", sep));
  uint32_t second = roberta ? 0 : 1;
  TemplatePiece sepOfSecond = {2, second, sep.id}, textA = {0, 0, 0}, textB = {1, second, 0};
  std::vector<TemplatePiece> pair = {cls, textA, sep};
  if (roberta)
    pair.push_back(sep);
  pair.push_back(textB);
  pair.push_back(sepOfSecond);
  spec.addTemplate({cls, textA, sep}, pair, kTemplateTypesOfWindows | flag(!roberta, kTemplateTypesWithSpecial));
  return {};
}

//===--- Decoders ----------------------------------------------------------===//

Status Reader::readDecoder(const Component &component) {
  std::string type = component.json["type"];
  Step step = {};
  if (type == "WordPiece") {
    std::string prefix = "##";
    bool cleanup = true;
    ATTUNE_RETURN_IF_FAILED(component.read("prefix", prefix));
    ATTUNE_RETURN_IF_FAILED(component.read("cleanup", cleanup));
    step = makeStep(StepKind::DecodeWordPiece);
    setText(step, prefix);
    step.c = cleanup;
  } else if (type == "ByteLevel") {
    step = makeStep(StepKind::DecodeByteLevel);
  } else if (type == "Metaspace") {
    step = makeStep(StepKind::DecodeMetaspace);
    step.a = 0x2581;
    if (component.find("replacement"))
      ATTUNE_RETURN_IF_FAILED(readCharacter(component, "replacement", step.a));
    Status status;
    step.b = readScheme(component, status) != uint32_t(MetaspaceScheme::Never);
    ATTUNE_RETURN_IF_FAILED(std::move(status));
  } else if (type == "BPEDecoder") {
    std::string suffix = "</w>";
    ATTUNE_RETURN_IF_FAILED(component.read("suffix", suffix));
    step = makeStep(StepKind::DecodeBpe);
    setText(step, suffix);
  } else if (type == "ByteFallback") {
    step = makeStep(StepKind::DecodeByteFallback);
  } else if (type == "Fuse") {
    step = makeStep(StepKind::DecodeFuse);
  } else if (type == "Strip") {
    step = makeStep(StepKind::DecodeStrip);
    ATTUNE_RETURN_IF_FAILED(readCharacter(component, "content", step.a));
    ATTUNE_RETURN_IF_FAILED(component.read("start", step.b, 0, INT32_MAX));
    ATTUNE_RETURN_IF_FAILED(component.read("stop", step.c, 0, INT32_MAX));
  } else if (type == "Replace") {
    std::string content;
    ATTUNE_RETURN_IF_FAILED(component.read("content", content));
    step = makeStep(StepKind::DecodeReplace);
    setText(step, content);
    ATTUNE_RETURN_IF_FAILED(readPattern(component, step));
  } else if (type == "CTC") {
    std::string pad = "<pad>", delimiter = "|";
    bool cleanup = true;
    ATTUNE_RETURN_IF_FAILED(component.read("pad_token", pad));
    ATTUNE_RETURN_IF_FAILED(component.read("word_delimiter_token", delimiter));
    ATTUNE_RETURN_IF_FAILED(component.read("cleanup", cleanup));
    step = makeStep(StepKind::DecodeCtc);
    setText(step, pad);
    PoolString place = spec.pool.add(delimiter);
    step.c = place.offset;
    step.d = place.bytes;
    step.e = cleanup;
  } else {
    return component.expected("type", "a decoder (BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Sequence, Strip, "
                                      "WordPiece)");
  }
  spec.decoders.push_back(step);
  return {};
}

//===--- Models ------------------------------------------------------------===//

Status attune::text::readVocabulary(const Json &vocab, const std::string &file, const std::string &path, TokenizerSpec &spec) {
  if (!vocab.is_object())
    return jsonTypeError(file, path, "an object of tokens and ids", vocab);
  for (const auto &entry : vocab.items()) {
    const std::string key = path.empty() ? entry.key() : path + "." + entry.key();
    Result<int64_t> id = jsonInteger(entry.value(), file, key, 0, kMostId);
    if (!id)
      return id.status();
    const size_t most = vocab.size() * 8 + 100000;
    if (size_t(*id) > most)
      return Status::error(file + ": '" + key + "': expected an id of at most " + std::to_string(most) + " for " +
                           std::to_string(vocab.size()) + " tokens, got " + std::to_string(*id));
    spec.addToken(entry.key(), uint32_t(*id));
  }
  spec.modelSize = uint32_t(vocab.size());
  return {};
}

Status Reader::readVocab(const Component &model) {
  const Json *vocab = model.find("vocab");
  return readVocabulary(vocab ? *vocab : Json(), file, model.at("vocab"), spec);
}

Status Reader::readMerges(const Component &model) {
  const Json *merges = model.find("merges");
  if (!merges || !merges->is_array())
    return model.expected("merges", "a list");
  for (size_t i = 0; i < merges->size(); ++i) {
    const Json &merge = (*merges)[i];
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      spec.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    size_t space = merge.is_string() ? merge.get_ref<const std::string &>().find(' ') : std::string::npos;
    if (space == std::string::npos)
      return jsonTypeError(file, model.at("merges") + "[" + std::to_string(i) + "]", "\"left right\" or [left, right]", merge);
    const std::string &text = merge.get_ref<const std::string &>();
    if (startsWith(text, "#version:") && i == 0)
      continue;
    spec.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return {};
}

Status Reader::readPieces(const Component &model) {
  const Json *vocab = model.find("vocab");
  if (!vocab || !vocab->is_array())
    return model.expected("vocab", "a list of [piece, score]");
  for (size_t i = 0; i < vocab->size(); ++i) {
    const Json &entry = (*vocab)[i];
    const std::string path = model.at("vocab") + "[" + std::to_string(i) + "]";
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return jsonTypeError(file, path, "[piece, score]", entry);
    spec.addToken(entry[0].get<std::string>(), uint32_t(i));
    spec.scores.push_back(entry[1].get<double>());
  }
  spec.modelSize = uint32_t(vocab->size());
  uint32_t unknown = kNoId;
  ATTUNE_RETURN_IF_FAILED(model.read("unk_id", unknown, 0, kMostId));
  if (unknown != kNoId && unknown >= vocab->size())
    return model.expected("unk_id", "an id below " + std::to_string(vocab->size()));
  if (unknown != kNoId)
    spec.unknownId = unknown;
  return model.read("byte_fallback", spec.byteFallback);
}

Status Reader::readModel() {
  const Json *value = findJson(root, "model");
  if (!value || !value->is_object())
    return jsonTypeError(file, "model", "an object", value ? *value : Json());
  Component model{*value, file, "model"};
  std::string type;
  ATTUNE_RETURN_IF_FAILED(model.read("type", type));
  if (type.empty()) {
    // Old files have no type. The package `tokenizers` uses the first type whose keys fit.
    const Json *vocab = model.find("vocab");
    type = model.find("merges")                      ? "BPE"
           : vocab && vocab->is_array()              ? "Unigram"
           : model.find("continuing_subword_prefix") ? "WordPiece"
                                                     : "WordLevel";
  }
  std::string unknown;
  if (const Json *token = model.find("unk_token")) {
    // Some files have the whole added token as the value.
    const Json *content = findJson(*token, "content");
    if (content && content->is_string())
      unknown = content->get<std::string>();
    else
      ATTUNE_RETURN_IF_FAILED(model.read("unk_token", unknown));
    spec.unknownToken = unknown;
  }
  if (type == "Unigram") {
    spec.model = ModelKind::Unigram;
    return readPieces(model);
  }
  ATTUNE_RETURN_IF_FAILED(readVocab(model));
  if (type == "WordPiece") {
    spec.model = ModelKind::WordPiece;
    spec.continuingPrefix = "##";
    ATTUNE_RETURN_IF_FAILED(model.read("continuing_subword_prefix", spec.continuingPrefix));
    ATTUNE_RETURN_IF_FAILED(model.read("max_input_chars_per_word", spec.maxCharacters, 0, INT32_MAX));
    if (!spec.unknownToken)
      spec.unknownToken = "[UNK]";
  } else if (type == "WordLevel") {
    spec.model = ModelKind::WordLevel;
    if (!spec.unknownToken)
      spec.unknownToken = "<unk>";
  } else if (type == "BPE") {
    spec.model = ModelKind::Bpe;
    ATTUNE_RETURN_IF_FAILED(readMerges(model));
    if (const Json *dropout = model.find("dropout"); dropout && !(dropout->is_number() && dropout->get<double>() == 0))
      return model.expected("dropout", "null or 0: an encoding is not random");
    ATTUNE_RETURN_IF_FAILED(model.read("continuing_subword_prefix", spec.continuingPrefix));
    ATTUNE_RETURN_IF_FAILED(model.read("end_of_word_suffix", spec.endSuffix));
    ATTUNE_RETURN_IF_FAILED(model.read("fuse_unk", spec.fuseUnknown));
    ATTUNE_RETURN_IF_FAILED(model.read("byte_fallback", spec.byteFallback));
    ATTUNE_RETURN_IF_FAILED(model.read("ignore_merges", spec.ignoreMerges));
  } else {
    return model.expected("type", "BPE, Unigram, WordLevel or WordPiece");
  }
  if (spec.continuingPrefix.size() > 64 || spec.endSuffix.size() > 64)
    return model.expected(spec.endSuffix.size() > 64 ? "end_of_word_suffix" : "continuing_subword_prefix", "at most 64 bytes");
  if (spec.unknownToken)
    if (auto place = spec.vocab.find(*spec.unknownToken); place != spec.vocab.end())
      spec.unknownId = place->second;
  return {};
}

Status Reader::readAddedTokens() {
  const Json *list = findJson(root, "added_tokens");
  if (!list || list->is_null())
    return {};
  if (!list->is_array())
    return jsonTypeError(file, "added_tokens", "a list", *list);
  std::vector<AddedToken> tokens;
  for (size_t i = 0; i < list->size(); ++i) {
    Component token{(*list)[i], file, "added_tokens[" + std::to_string(i) + "]"};
    AddedToken added;
    if (!token.json.is_object() || !token.find("content"))
      return token.expected("content", "a string");
    ATTUNE_RETURN_IF_FAILED(token.read("content", added.content));
    ATTUNE_RETURN_IF_FAILED(token.read("single_word", added.singleWord));
    ATTUNE_RETURN_IF_FAILED(token.read("lstrip", added.stripLeft));
    ATTUNE_RETURN_IF_FAILED(token.read("rstrip", added.stripRight));
    ATTUNE_RETURN_IF_FAILED(token.read("special", added.special));
    added.normalized = !added.special;
    ATTUNE_RETURN_IF_FAILED(token.read("normalized", added.normalized));
    tokens.push_back(added);
  }
  spec.addTokens(tokens);
  return {};
}

Status Reader::readPadding() {
  const Json *padding = findJson(root, "padding");
  if (!padding || !padding->is_object())
    return {};
  Component component{*padding, file, "padding"};
  ATTUNE_RETURN_IF_FAILED(component.read("pad_id", spec.padId, 0, kMostId));
  return component.read("pad_type_id", spec.padTypeId, 0, INT32_MAX);
}

Status Reader::runModel() {
  if (!root.is_object())
    return jsonTypeError(file, "", "an object", root);
  ATTUNE_RETURN_IF_FAILED(readModel());
  ATTUNE_RETURN_IF_FAILED(readAddedTokens());
  return readPadding();
}

Status Reader::runComponents() {
  ATTUNE_RETURN_IF_FAILED(readParts(findJson(root, "normalizer"), "normalizer", "normalizers",
                                    [&](const Component &c, const std::string &) { return readNormalizer(c); }));
  ATTUNE_RETURN_IF_FAILED(readParts(findJson(root, "pre_tokenizer"), "pre_tokenizer", "pretokenizers",
                                    [&](const Component &c, const std::string &) { return readPreTokenizer(c); }));
  ATTUNE_RETURN_IF_FAILED(readParts(findJson(root, "post_processor"), "post_processor", "processors",
                                    [&](const Component &c, const std::string &) { return readProcessor(c); }));
  const Json *decoder = findJson(root, "decoder");
  spec.hasDecoder = (decoder && !decoder->is_null()) || !spec.decoders.empty();
  return readParts(decoder, "decoder", "decoders", [&](const Component &c, const std::string &) { return readDecoder(c); });
}

Status attune::text::readTokenizerModel(const Json &root, const std::string &file, TokenizerSpec &spec) {
  return Reader(root, file, spec).runModel();
}

Status attune::text::readTokenizerComponents(const Json &root, const std::string &file, TokenizerSpec &spec) {
  return Reader(root, file, spec).runComponents();
}
