//===- TokenizerArguments.h - Settings of a folder's tokenizer ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings in the files beside a vocabulary: tokenizer_config.json, and, where it has no `added_tokens_decoder`,
// special_tokens_map.json, added_tokens.json and the added tokens of tokenizer.json. These are the arguments from which
// transformers makes a tokenizer of a class.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TOKENIZERARGUMENTS_H
#define ATTUNE_COMPILER_TEXT_TOKENIZERARGUMENTS_H

#include "compiler/Text/TokenizerSpec.h"

#include <array>

namespace attune::text {

/// A token as a setting has it: a string, or an added token with flags.
struct NamedToken {
  std::string content;
  bool hasFlags = false;
  bool singleWord = false, stripLeft = false, stripRight = false, special = false;
  std::optional<bool> normalized; ///< unless given: true for tokens that are not special

  NamedToken(std::string content = {}) : content(std::move(content)) {}
  NamedToken(const char *content) : content(content) {}
  /// Returns the added token; a string becomes a special one.
  AddedToken toAddedToken() const;
  bool operator==(const NamedToken &other) const;
};

/// The attributes that hold the common special tokens, in the order of transformers.
constexpr std::array<const char *, 7> kNamedTokens = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                      "pad_token", "cls_token", "mask_token"};

/// The arguments of a tokenizer class.
struct TokenizerArguments {
  std::string folder;
  /// The path of tokenizer_config.json, for messages, and its contents, an empty object if there is none.
  std::string configFile;
  Json config = Json::object();
  /// The path of tokenizer.json, "" if there is none, and its contents.
  std::string tokenizerFile;
  Json tokenizer;

  /// The values of those attributes in kNamedTokens that are given; nullopt for the value null.
  std::map<std::string, std::optional<NamedToken>> named;
  /// `additional_special_tokens` and `extra_special_tokens`, where given. If tokenizer_config.json has only the former,
  /// they are |extra|.
  std::optional<std::vector<NamedToken>> additional, extra;
  /// Other named tokens, such as image_token, with their names.
  std::vector<std::pair<std::string, NamedToken>> specific;
  /// Added tokens by id.
  std::map<uint32_t, NamedToken> byId;

  /// Returns the setting |key|, null if it is absent or null.
  const Json *find(const char *key) const;
  /// Reads the setting |key| into |value|; leaves |value| alone if the setting is absent or null. Fails if it has
  /// another type.
  Status read(const char *key, bool &value) const;
  Status read(const char *key, std::string &value) const;
  Status read(const char *key, uint32_t &value, int64_t min, int64_t max) const;
};

/// Returns the name of a folder's tokenizer.json: of the versions tokenizer.VERSION.json that |config| lists, the
/// latest that is not later than the version of transformers whose results Attune has; tokenizer.json if there is none.
std::string findTokenizerJson(const Json &config);

/// Reads the arguments of the tokenizer in |folder|.
Result<TokenizerArguments> readTokenizerArguments(const std::string &folder);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TOKENIZERARGUMENTS_H
