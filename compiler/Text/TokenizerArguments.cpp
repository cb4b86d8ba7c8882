//===- TokenizerArguments.cpp - Settings of a folder's tokenizer ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/TokenizerArguments.h"
#include "compiler/Support/MappedFile.h"
#include "compiler/Support/Strings.h"

#include <algorithm>
#include <filesystem>

using namespace attune;
using namespace attune::text;

AddedToken NamedToken::toAddedToken() const {
  AddedToken token;
  token.content = content;
  token.singleWord = singleWord;
  token.stripLeft = stripLeft;
  token.stripRight = stripRight;
  token.special = special || !hasFlags;
  token.normalized = normalized.value_or(!token.special);
  return token;
}

bool NamedToken::operator==(const NamedToken &other) const {
  return hasFlags == other.hasFlags && (hasFlags ? toAddedToken() == other.toAddedToken() : content == other.content);
}

//===--- Access ------------------------------------------------------------===//

const Json *TokenizerArguments::find(const char *key) const {
  const Json *value = findJson(config, key);
  return value && !value->is_null() ? value : nullptr;
}

Status TokenizerArguments::read(const char *key, bool &value) const {
  if (const Json *given = find(key)) {
    Result<bool> parsed = jsonBool(*given, configFile, key);
    if (!parsed)
      return parsed.status();
    value = *parsed;
  }
  return {};
}

Status TokenizerArguments::read(const char *key, std::string &value) const {
  if (const Json *given = find(key)) {
    Result<std::string> parsed = jsonString(*given, configFile, key);
    if (!parsed)
      return parsed.status();
    value = *parsed;
  }
  return {};
}

Status TokenizerArguments::read(const char *key, uint32_t &value, int64_t min, int64_t max) const {
  if (const Json *given = find(key)) {
    Result<int64_t> parsed = jsonInteger(*given, configFile, key, min, max);
    if (!parsed)
      return parsed.status();
    value = uint32_t(*parsed);
  }
  return {};
}

//===--- Reading -----------------------------------------------------------===//

static bool isCommonToken(const std::string &key) { return std::find(kNamedTokens.begin(), kNamedTokens.end(), key) != kNamedTokens.end(); }

/// Reads |value|, a string or an object with `content` and flags, into |token|. |file| and |key| name it in messages.
static Status readNamedToken(const Json &value, const std::string &file, const std::string &key, NamedToken &token) {
  if (value.is_string()) {
    token = NamedToken(value.get<std::string>());
    return {};
  }
  const Json *content = findJson(value, "content");
  if (!content || !content->is_string())
    return jsonTypeError(file, key, "a string or an object with 'content'", value);
  token = NamedToken(content->get<std::string>());
  token.hasFlags = true;
  struct {
    const char *name;
    bool *place;
  } flags[] = {
      {"single_word", &token.singleWord}, {"lstrip", &token.stripLeft}, {"rstrip", &token.stripRight}, {"special", &token.special}};
  for (auto [name, place] : flags)
    if (const Json *given = findJson(value, name); given && !given->is_null()) {
      Result<bool> parsed = jsonBool(*given, file, key + "." + name);
      if (!parsed)
        return parsed.status();
      *place = *parsed;
    }
  if (const Json *given = findJson(value, "normalized"); given && !given->is_null()) {
    Result<bool> parsed = jsonBool(*given, file, key + ".normalized");
    if (!parsed)
      return parsed.status();
    token.normalized = *parsed;
  }
  return {};
}

static Status readTokenList(const Json &value, const std::string &file, const std::string &key, std::vector<NamedToken> &tokens) {
  if (!value.is_array())
    return jsonTypeError(file, key, "a list of tokens", value);
  for (size_t i = 0; i < value.size(); ++i) {
    NamedToken token;
    ATTUNE_RETURN_IF_FAILED(readNamedToken(value[i], file, key + "[" + std::to_string(i) + "]", token));
    tokens.push_back(std::move(token));
  }
  return {};
}

/// Adds the tokens of |value|, an object whose keys are ids and whose values are tokens, to |byId|.
static Status readTokensById(const Json &value, const std::string &file, const std::string &key, std::map<uint32_t, NamedToken> &byId) {
  if (!value.is_object())
    return jsonTypeError(file, key, "an object of ids and tokens", value);
  for (const auto &[id, token] : value.items()) {
    if (id.empty() || id.size() > 9 || id.find_first_not_of("0123456789") != std::string::npos)
      return Status::error(file + ": '" + key + "': expected ids, got " + describeJson(Json(id)));
    ATTUNE_RETURN_IF_FAILED(readNamedToken(token, file, key + "." + id, byId[uint32_t(std::stoul(id))]));
    byId[uint32_t(std::stoul(id))].hasFlags = true;
  }
  return {};
}

namespace {

class ArgumentReader {
public:
  explicit ArgumentReader(const std::string &folder) { result.folder = folder; }
  Result<TokenizerArguments> run();

private:
  /// Returns true if the folder has the file |name|, readable or not; the function that reads the file reports errors.
  bool exists(const std::string &name) const {
    std::error_code error;
    return std::filesystem::symlink_status(result.folder + "/" + name, error).type() != std::filesystem::file_type::not_found;
  }
  Status readConfig();
  Status readSpecific(const std::string &key, const Json &value, const nlohmann::ordered_json &ordered);
  Status readSpecialTokensMap();
  Status readAddedTokensFile();
  void readAddedTokensOfTokenizer();

  TokenizerArguments result;
};

} // namespace

Status ArgumentReader::readSpecific(const std::string &key, const Json &value, const nlohmann::ordered_json &ordered) {
  for (const auto &entry : ordered.items()) {
    NamedToken token;
    ATTUNE_RETURN_IF_FAILED(readNamedToken(value[entry.key()], result.configFile, key + "." + entry.key(), token));
    result.specific.emplace_back(entry.key(), token);
  }
  return {};
}

Status ArgumentReader::readConfig() {
  result.configFile = result.folder + "/tokenizer_config.json";
  if (!exists("tokenizer_config.json"))
    return {};
  Result<Json> root = readJsonFile(result.configFile);
  if (!root)
    return root.status();
  if (!root->is_object())
    return jsonTypeError(result.configFile, "", "an object", *root);
  result.config = std::move(*root);
  // Tokens without an id get one in the order of the file, which only an ordered_json keeps.
  Result<MappedFile> file = MappedFile::open(result.configFile);
  if (!file)
    return file.status();
  const auto *text = reinterpret_cast<const char *>(file->data());
  nlohmann::ordered_json ordered = nlohmann::ordered_json::parse(text, text + file->size(), nullptr, false);
  if (!ordered.is_object())
    return jsonTypeError(result.configFile, "", "an object", result.config);
  for (const auto &entry : ordered.items()) {
    const std::string &key = entry.key();
    const Json &value = result.config[key];
    if (isCommonToken(key)) {
      result.named[key].reset();
      if (!value.is_null()) {
        ATTUNE_RETURN_IF_FAILED(readNamedToken(value, result.configFile, key, result.named[key].emplace()));
      }
    } else if (endsWith(key, "_token") && value.is_string()) {
      result.specific.emplace_back(key, NamedToken(value.get<std::string>()));
    }
  }
  for (auto [key, list] : {std::pair("additional_special_tokens", &result.additional), std::pair("extra_special_tokens", &result.extra)}) {
    const Json *value = result.find(key);
    if (!value)
      continue;
    const bool byName = value->is_object() && list == &result.extra;
    ATTUNE_RETURN_IF_FAILED(byName ? readSpecific(key, *value, ordered[key])
                                   : readTokenList(*value, result.configFile, key, list->emplace()));
  }
  if (result.additional && (!result.extra || result.extra->empty())) {
    result.extra = std::move(result.additional);
    result.additional.reset();
  }
  return {};
}

Status ArgumentReader::readSpecialTokensMap() {
  if (!exists("special_tokens_map.json"))
    return {};
  const std::string path = result.folder + "/special_tokens_map.json";
  Result<Json> root = readJsonFile(path);
  if (!root)
    return root.status();
  if (!root->is_object())
    return jsonTypeError(path, "", "an object", *root);
  for (const auto &[key, value] : root->items()) {
    if (isCommonToken(key)) {
      std::optional<NamedToken> &token = result.named[key];
      token.reset();
      if (value.is_null())
        continue;
      ATTUNE_RETURN_IF_FAILED(readNamedToken(value, path, key, token.emplace()));
      token->special |= token->hasFlags;
    } else if (key == "additional_special_tokens") {
      std::vector<NamedToken> tokens;
      ATTUNE_RETURN_IF_FAILED(readTokenList(value, path, key, tokens));
      result.additional = std::move(tokens);
    } else if (key == "extra_special_tokens" && value.is_array()) {
      std::vector<NamedToken> tokens;
      ATTUNE_RETURN_IF_FAILED(readTokenList(value, path, key, tokens));
      if (!result.extra)
        result.extra.emplace();
      for (NamedToken &token : tokens) {
        token.special |= token.hasFlags;
        if (std::find(result.extra->begin(), result.extra->end(), token) == result.extra->end())
          result.extra->push_back(token);
      }
    } else if (key == "extra_special_tokens" && value.is_object()) {
      for (const auto &[name, token] : value.items()) {
        NamedToken read;
        ATTUNE_RETURN_IF_FAILED(readNamedToken(token, path, key + "." + name, read));
        result.specific.emplace_back(name, read);
      }
    } else if (endsWith(key, "_token") && !value.is_null()) {
      NamedToken token;
      ATTUNE_RETURN_IF_FAILED(readNamedToken(value, path, key, token));
      token.special |= token.hasFlags;
      result.specific.emplace(result.specific.begin(), key, token);
    }
  }
  return {};
}

Status ArgumentReader::readAddedTokensFile() {
  if (!exists("added_tokens.json"))
    return {};
  const std::string path = result.folder + "/added_tokens.json";
  Result<Json> root = readJsonFile(path);
  if (!root)
    return root.status();
  if (!root->is_object())
    return jsonTypeError(path, "", "an object of tokens and ids", *root);
  std::set<std::string> specials;
  for (const auto &[key, token] : result.named)
    if (token)
      specials.insert(token->content);
  for (const NamedToken &token : result.extra ? *result.extra : std::vector<NamedToken>())
    specials.insert(token.content);
  for (const auto &[content, value] : root->items()) {
    Result<int64_t> id = jsonInteger(value, path, content, 0, INT32_MAX);
    if (!id)
      return id.status();
    NamedToken token(content);
    token.hasFlags = true;
    token.special = specials.count(content);
    token.normalized = !token.special;
    result.byId[uint32_t(*id)] = token;
  }
  return {};
}

/// Adds the added tokens of tokenizer.json to |byId|. Skips malformed ones without an error: readTokenizerModel reports
/// them if the class reads tokenizer.json.
void ArgumentReader::readAddedTokensOfTokenizer() {
  const Json *list = findJson(result.tokenizer, "added_tokens");
  if (!list || !list->is_array())
    return;
  for (const Json &entry : *list) {
    const Json *value = findJson(entry, "id");
    Result<int64_t> id = jsonInteger(value ? *value : Json(), result.tokenizerFile, "added_tokens", 0, INT32_MAX);
    NamedToken token;
    if (id && !readNamedToken(entry, result.tokenizerFile, "added_tokens", token).failed())
      result.byId[uint32_t(*id)] = token;
  }
}

Result<TokenizerArguments> ArgumentReader::run() {
  ATTUNE_RETURN_IF_FAILED(readConfig());
  if (std::string name = findTokenizerJson(result.config); exists(name)) {
    result.tokenizerFile = result.folder + "/" + name;
    Result<Json> root = readJsonFile(result.tokenizerFile);
    if (!root)
      return root.status();
    if (!root->is_object())
      return jsonTypeError(result.tokenizerFile, "", "an object", *root);
    result.tokenizer = std::move(*root);
  }
  if (const Json *decoder = findJson(result.config, "added_tokens_decoder")) {
    ATTUNE_RETURN_IF_FAILED(readTokensById(*decoder, result.configFile, "added_tokens_decoder", result.byId));
  } else {
    ATTUNE_RETURN_IF_FAILED(readSpecialTokensMap());
    ATTUNE_RETURN_IF_FAILED(readAddedTokensFile());
    readAddedTokensOfTokenizer();
  }
  // A named token takes the flags of the added token with the same string, if there is one.
  std::map<std::string, const NamedToken *> flags;
  for (const auto &[id, token] : result.byId)
    flags[token.content] = &token;
  for (auto &[key, token] : result.named)
    if (token)
      if (auto place = flags.find(token->content); place != flags.end())
        token = *place->second;
  return std::move(result);
}

Result<TokenizerArguments> attune::text::readTokenizerArguments(const std::string &folder) { return ArgumentReader(folder).run(); }

/// Returns the numbers of the version |text|, such as {4, 0, 1} of "4.0.1"; an empty list if |text| is no version.
static std::vector<int> parseVersion(const std::string &text) {
  std::vector<int> numbers;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('.', at), text.size());
    std::string part = text.substr(at, end - at);
    if (part.empty() || part.size() > 6 || part.find_first_not_of("0123456789") != std::string::npos)
      return {};
    numbers.push_back(std::stoi(part));
    at = end + 1;
  }
  return numbers;
}

std::string attune::text::findTokenizerJson(const Json &config) {
  static const std::vector<int> reference = {5, 23, 0};
  std::string best = "tokenizer.json";
  std::vector<int> bestVersion;
  const Json *list = findJson(config, "fast_tokenizer_files");
  if (!list || !list->is_array())
    return best;
  for (const Json &entry : *list) {
    const std::string name = entry.is_string() ? entry.get<std::string>() : "";
    const std::string prefix = "tokenizer.", suffix = ".json";
    if (name.size() <= prefix.size() + suffix.size() || !startsWith(name, prefix) || !endsWith(name, suffix))
      continue;
    std::vector<int> version = parseVersion(name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
    if (!version.empty() && version <= reference && version > bestVersion) {
      bestVersion = version;
      best = name;
    }
  }
  return best;
}
