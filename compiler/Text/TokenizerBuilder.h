//===- TokenizerBuilder.h - Tokenizers that a class makes in code ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokenizer classes of transformers read a vocabulary, make normalizer, pre-tokenizer and decoder in code, add the
// special tokens of the folder's settings and make the post-processor. A class here is a function on a TokenizerBuilder
// with the same steps; components are values as tokenizer.json holds them.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TOKENIZERBUILDER_H
#define ATTUNE_COMPILER_TEXT_TOKENIZERBUILDER_H

#include "compiler/Text/SentencePieceModel.h"
#include "compiler/Text/TokenizerArguments.h"

namespace attune::text {

class TokenizerBuilder;

/// A tokenizer class of transformers.
struct TokenizerClass {
  const char *name;
  /// The model that the class makes; nullopt: the one of the file.
  std::optional<ModelKind> model;
  /// The files of its vocabulary and merges, null if it has none.
  const char *vocabFile, *mergesFile;
  /// Makes the tokenizer; null for the class that takes tokenizer.json whole.
  Status (*build)(TokenizerBuilder &);
  bool padsLeft = false;
  /// True if encodings of the class have `token_type_ids` by default, which models then get.
  bool givesTypes = false;
  /// True if transformers implements the class in Python, without the package `tokenizers`.
  bool inPython = false;
  bool needsNoFile = false; ///< the class has no vocabulary
};

/// The special tokens of a class: for each its attribute, such as "bos_token", and its value, nullopt for none.
using NamedTokens = std::vector<std::pair<const char *, std::optional<NamedToken>>>;

/// A part of a template: a token, or "$A" or "$B", with its type.
struct TemplatePart {
  std::string token;
  uint32_t typeId = 0;
};

/// Returns the special tokens of a class: for each name in |defaults| the token of the settings, or the default if the
/// settings do not have the name.
NamedTokens readTokens(const TokenizerBuilder &builder, const NamedTokens &defaults);
/// Returns the special tokens of a class whose defaults are [CLS], [SEP], [UNK], [PAD] and [MASK], [CLS] and [SEP] also for
/// the beginning and the end of a text.
NamedTokens readBracketTokens(const TokenizerBuilder &builder);

/// A Unigram vocabulary.
using Pieces = std::vector<std::pair<std::string, double>>;

class TokenizerBuilder {
public:
  TokenizerBuilder(TokenizerArguments arguments, const TokenizerClass &type) : arguments(std::move(arguments)), type(type) {}

  /// Makes the tokenizer of the folder, in |spec|.
  Status run();
  /// Makes a tokenizer of a SentencePiece model alone; |path| is its name in messages.
  Status run(const SentencePieceModel &model, const std::string &path);

  //===--- For classes -----------------------------------------------------===//

  TokenizerArguments arguments;
  TokenizerSpec spec;
  /// The components; null for none. `postProcessor` begins as that of tokenizer.json.
  Json normalizer, preTokenizer, decoder, postProcessor;
  /// The vocabulary of a Unigram model, and the character map of a SentencePiece model in base64.
  Pieces pieces;
  std::string characterMap;
  /// The file of the vocabulary, for messages.
  std::string file;
  /// Arguments `add_bos_token` and `add_eos_token`, where given.
  std::optional<bool> addBos, addEos;
  bool padsLeft = false;
  uint32_t padTypeId = 0;
  /// Names of languages and the ids of their tokens, for models that translate.
  std::vector<std::pair<std::string, uint32_t>> languages;

  /// Returns the special token |name| of the settings, nullopt if they have null, or |fallback| if they do not have it.
  std::optional<NamedToken> named(const char *name, std::optional<NamedToken> fallback) const;
  /// Returns the string of the token that `named` returns; "None" for nullopt, as Python prints it.
  std::string text(const char *name, std::optional<NamedToken> fallback) const;
  /// Adds the special tokens of class and settings, as the base class in transformers does. |extra| are the additional
  /// special tokens that the class passes on, nullopt for those of the settings; `extra_special_tokens` replace either.
  Status initialize(const NamedTokens &tokens, std::optional<std::vector<NamedToken>> extra = std::nullopt);
  /// The same for a class in Python, after its vocabulary is in |spec|: added tokens keep the ids of the settings, and
  /// special tokens that are not among them are added without flags.
  Status initializeInPython(const NamedTokens &tokens, std::optional<std::vector<NamedToken>> extra = std::nullopt);
  /// Returns the string of the special token |name| after initialize, "" if there is none.
  std::string token(const std::string &name) const;
  /// Sets the post-processor to the templates |single|, for one text, and |pair|, for two. Fails if a token has no id.
  Status setTemplate(const std::vector<TemplatePart> &single, const std::vector<TemplatePart> &pair);
  /// Sets the post-processor to the templates "cls A sep" for one text and "cls A sep B sep" for two; B and its sep have
  /// type 1, cls has |clsType|.
  Status setBertTemplate(const std::string &cls, const std::string &sep, uint32_t clsType = 0);
  /// Sets the post-processor to one that puts the bos token before each text if `addBos` is true, and the eos token
  /// after it if `addEos` is.
  Status updatePostProcessor();
  /// Adds special tokens again, as transformers does after from_pretrained, and makes the post-processor again if
  /// initialize made it.
  Status addSpecialsAgain();
  /// Adds |tokens| in one call of TokenizerSpec::addTokens, all of them as special ones if |special|.
  void addTokens(const std::vector<NamedToken> &tokens, bool special);
  /// Returns the id of |content|, that of the unknown token if there is none, or nullopt if there is neither.
  std::optional<uint32_t> findId(const std::string &content) const;
  /// Makes a Unigram model of `pieces`; |unknownId| is the index of the unknown piece.
  Status useUnigram(uint32_t unknownId);
  const TokenizerClass &description() const { return type; }
  const std::vector<NamedToken> &extraTokens() const { return extraSpecials; }

private:
  Status loadTokenizerJson();
  Status loadVocabulary();
  Status useSentencePiece(const SentencePieceModel &model, const std::string &path);
  /// Runs the function of the class, after the vocabulary is read, and completes |spec|: unknown and padding tokens,
  /// defaults and steps.
  Status make();
  void setSpecials(const NamedTokens &tokens, std::optional<std::vector<NamedToken>> extra);
  /// Adds the replacements of `clean_up_tokenization_spaces` to |decoder|, where transformers makes them.
  Status finishDecoder();
  /// Reads the defaults of encodings: sides of padding and of truncation, types of tokens, splitting of special tokens.
  Status readDefaults();
  Status checkModel(const std::string &path, ModelKind found) const;
  /// Returns the file that gives the added token |content| its id.
  std::string fileOfAddedToken(const std::string &content) const;
  Status makeGenericSentencePiece(const SentencePieceModel &model);
  /// Corrects the first split of Mistral's tokenizers, if the setting `fix_mistral_regex` asks for it: replaces the
  /// first part of a sequence of pre-tokenizers, or puts the split before a single pre-tokenizer (ByteLevel takes the
  /// place of Metaspace). Only for vocabularies of more than 100000 tokens, in folders with a config.json that names
  /// neither a type of model other than Mistral's nor a version of transformers from 5 on.
  Status patchMistral();

  const TokenizerClass &type;
  /// Special tokens by name, the common ones first.
  std::vector<std::pair<std::string, std::optional<NamedToken>>> specials;
  std::vector<NamedToken> extraSpecials;
  bool shouldUpdatePostProcessor = false;
};

//===--- Components --------------------------------------------------------===//

Json jsonReplace(const std::string &literal, const std::string &content);
Json jsonReplaceRegex(const std::string &pattern, const std::string &content);
Json jsonMetaspace(const char *scheme, bool split = true);
Json jsonByteLevel(bool addPrefixSpace, bool useRegex = true);
/// A sequence of normalizers, pre-tokenizers or decoders; |partsKey| is "normalizers", "pretokenizers" or "decoders".
Json jsonSequence(const char *partsKey, const std::vector<Json> &parts);
Json jsonType(const char *type);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TOKENIZERBUILDER_H
