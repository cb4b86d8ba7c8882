//===- TokenizerArguments.h - Settings of a folder's tokenizer ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings in the files beside a vocabulary: tokenizer_config.json and, if that has no `added_tokens_decoder`,
// special_tokens_map.json, added_tokens.json and the added tokens of tokenizer.json. These settings are the arguments
// from which transformers makes a tokenizer of a class.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TOKENIZERARGUMENTS_H
#define ATTUNE_COMPILER_TEXT_TOKENIZERARGUMENTS_H

#include "compiler/Text/TokenizerSpec.h"

#include <array>

namespace attune::text {

/// A token as a setting gives it: a string, or, if |hasFlags|, an added token with flags.
struct NamedToken {
  std::string content;
  bool hasFlags = false;
  bool singleWord = false, stripLeft = false, stripRight = false, special = false;
  std::optional<bool> normalized; ///< nullopt: true unless the token is special

  NamedToken(std::string content = {}) : content(std::move(content)) {}
  NamedToken(const char *content) : content(content) {}
  /// Returns the token as an added token; a string becomes a special token.
  AddedToken toAddedToken() const;
  bool operator==(const NamedToken &other) const;
};

/// The attributes of a tokenizer class that hold the common special tokens, in the order of SPECIAL_TOKENS_ATTRIBUTES
/// of transformers.
constexpr std::array<const char *, 7> kNamedTokens = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                      "pad_token", "cls_token", "mask_token"};

/// The arguments of a tokenizer class.
struct TokenizerArguments {
  std::string folder;
  /// The path of tokenizer_config.json, for messages, and its contents, an empty object if the file does not exist.
  std::string configFile;
  Json config = Json::object();
  /// The path of tokenizer.json (or of the file that findTokenizerJson chooses) and its contents; "" and null if the
  /// file does not exist.
  std::string tokenizerFile;
  Json tokenizer;

  /// The attributes of kNamedTokens that are given, and their values; nullopt for the value null.
  std::map<std::string, std::optional<NamedToken>> named;
  /// The lists `additional_special_tokens` and `extra_special_tokens`, nullopt if not given. If tokenizer_config.json
  /// gives the first but no list, or an empty one, for the second, its tokens are in |extra| instead of |additional|.
  std::optional<std::vector<NamedToken>> additional, extra;
  /// Other special tokens and their names, such as "image_token": the settings whose name ends with "_token" and the
  /// members of an object `extra_special_tokens`. If a name is there twice, the last token counts.
  std::vector<std::pair<std::string, NamedToken>> specific;
  /// Added tokens by id.
  std::map<uint32_t, NamedToken> byId;

  /// Returns the value of |key| in tokenizer_config.json; a null pointer if the key is absent or its value is null.
  const Json *find(const char *key) const;
  /// Reads the setting |key| into |value|; leaves |value| alone if the setting is absent or null. Fails if the setting
  /// has another type than |value| or is not in [|min|, |max|].
  Status read(const char *key, bool &value) const;
  Status read(const char *key, std::string &value) const;
  Status read(const char *key, uint32_t &value, int64_t min, int64_t max) const;
};

/// Returns the name of the file that serves as a folder's tokenizer.json. |config| holds the contents of
/// tokenizer_config.json, which may list files tokenizer.VERSION.json. The result is the listed file with the latest
/// VERSION up to the version of transformers whose results Attune reproduces; tokenizer.json if there is none.
std::string findTokenizerJson(const Json &config);

/// Reads the arguments of the tokenizer in |folder|. Files may be missing; a malformed one is an error.
Result<TokenizerArguments> readTokenizerArguments(const std::string &folder);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TOKENIZERARGUMENTS_H
