//===- TokenizerBuilder.h - Tokenizers that a class makes in code ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokenizer classes of transformers read a vocabulary, make normalizer, pre-tokenizer and decoder in code, add the
// special tokens of the folder's settings and make the post-processor. A class here is a function on a TokenizerBuilder
// with the same steps; components are JSON values in the form of tokenizer.json.
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
  /// The kind of model that the class makes; nullopt if the file of the vocabulary or, for a class in Python, |build|
  /// decides.
  std::optional<ModelKind> model;
  /// The names of the files with vocabulary and merges for folders without tokenizer.json; null if the class has none
  /// or, in Python, if |build| knows the files.
  const char *vocabFile, *mergesFile;
  /// Makes the tokenizer. A class in Python reads its vocabulary itself; for others it is read before. Null for the
  /// class that takes tokenizer.json or a SentencePiece model as it is.
  Status (*build)(TokenizerBuilder &);
  bool padsLeft = false;
  /// True if encodings of the class have `token_type_ids` by default; then tasks pass these to the model.
  bool givesTypes = false;
  /// True if transformers implements the class in Python, without the package `tokenizers`.
  bool inPython = false;
  bool needsNoFile = false; ///< the class has no vocabulary file
};

/// The special tokens of a class: for each its attribute, such as "bos_token", and its value, nullopt for none.
using NamedTokens = std::vector<std::pair<const char *, std::optional<NamedToken>>>;

/// A part of a post-processor's template: the string of a token, or "$A" or "$B" for the first or second text, and the
/// type id of its tokens.
struct TemplatePart {
  std::string token;
  uint32_t typeId = 0;
};

/// Returns the special tokens of a class: for each name in |defaults| the token of the settings, or the default if the
/// settings do not have the name.
NamedTokens readTokens(const TokenizerBuilder &builder, const NamedTokens &defaults);
/// Returns the special tokens of a class with the defaults [CLS], [SEP], [UNK], [PAD] and [MASK]. The default of
/// bos_token is [CLS], that of eos_token [SEP].
NamedTokens readBracketTokens(const TokenizerBuilder &builder);

/// Returns the special tokens of a class with the defaults <s>, </s>, <unk>, <pad> and <mask>. The default of cls_token
/// is <s>, that of sep_token </s>.
NamedTokens readRobertaTokens(const TokenizerBuilder &builder);

/// A Unigram vocabulary: strings and scores, by id.
using Pieces = std::vector<std::pair<std::string, double>>;

class TokenizerBuilder {
public:
  TokenizerBuilder(TokenizerArguments arguments, const TokenizerClass &type) : arguments(std::move(arguments)), type(type) {}

  /// Makes the tokenizer of the folder that |arguments| describes, in |spec|.
  Status run();
  /// Makes a tokenizer from |model|, without files of a folder; |path| is the name of the model in messages.
  Status run(const SentencePieceModel &model, const std::string &path);

  //===--- For classes -----------------------------------------------------===//

  TokenizerArguments arguments;
  TokenizerSpec spec;
  /// The components in the form of tokenizer.json; null for none. When the function of the class begins,
  /// |postProcessor| is that of tokenizer.json.
  Json normalizer, preTokenizer, decoder, postProcessor;
  /// The vocabulary of a Unigram model, and the character map (`precompiled_charsmap`) in base64, "" if there is none.
  Pieces pieces;
  std::string characterMap;
  /// The file of the vocabulary, for messages.
  std::string file;
  /// The settings `add_bos_token` and `add_eos_token`; nullopt if not given. With a tokenizer.json these settings are
  /// not read. A class may set defaults.
  std::optional<bool> addBos, addEos;
  bool padsLeft = false;
  uint32_t padTypeId = 0;
  /// The languages, such as "en_XX", and the ids of their tokens, for models that translate.
  std::vector<std::pair<std::string, uint32_t>> languages;

  /// Returns the special token |name| of the settings; nullopt if its value is null, |fallback| if the settings do not
  /// have the name.
  std::optional<NamedToken> named(const char *name, std::optional<NamedToken> fallback) const;
  /// Returns the string of the token that `named` returns; "None" for nullopt, as Python prints it.
  std::string text(const char *name, std::optional<NamedToken> fallback) const;
  /// Adds the added tokens of the settings and the special tokens of class and settings to |spec|, as the base class in
  /// transformers does. Makes the post-processor (updatePostProcessor) if there is none or if |addBos| or |addEos| is
  /// given. |tokens| are the special tokens of the class. |extra| are the additional special tokens that the class
  /// passes to the base class; nullopt for `additional_special_tokens` of the settings. If the settings give
  /// `extra_special_tokens`, these take the place of |extra|.
  Status initialize(const NamedTokens &tokens, std::optional<std::vector<NamedToken>> extra = std::nullopt);
  /// Sets the special tokens that `token` and `specialTokens` return, without adding them to |spec|; the first part of
  /// initialize, with the same arguments.
  void setSpecials(const NamedTokens &tokens, std::optional<std::vector<NamedToken>> extra);
  /// Returns the special tokens after setSpecials: those with names, the common names first, then the extra ones.
  std::vector<NamedToken> specialTokens() const;
  /// Returns the string of the special token |name| after setSpecials, "" if there is none.
  std::string token(const std::string &name) const;
  /// Sets the post-processor to the templates |single|, for one text, and |pair|, for two. A token that has no id gets
  /// that of the unknown token. Fails if that has none either.
  Status setTemplate(const std::vector<TemplatePart> &single, const std::vector<TemplatePart> &pair);
  /// Sets the post-processor to the templates "cls A sep" for one text and "cls A sep B sep" for two. B and the sep
  /// after it have type 1, cls has |clsType|, the rest type 0.
  Status setBertTemplate(const std::string &cls, const std::string &sep, uint32_t clsType = 0);
  /// Sets the post-processor to one that puts the bos token before each text if |addBos| is true, and the eos token
  /// after each text if |addEos| is true.
  Status updatePostProcessor();
  /// Adds the special tokens again, now all with the flag `special`, as transformers does after from_pretrained. Makes
  /// the post-processor again if initialize made it.
  Status addSpecialsAgain();
  /// Adds |tokens| in one call of TokenizerSpec::addTokens; if |special|, all of them as special tokens.
  void addTokens(const std::vector<NamedToken> &tokens, bool special);
  /// Returns the id of the token |content|; that of the unknown token if |content| has none; nullopt if neither has
  /// one.
  std::optional<uint32_t> findId(const std::string &content) const;
  /// Makes a Unigram model of |pieces|; |unknownId| is the index of the unknown piece. Fails if there is no such piece.
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
  /// If `clean_up_tokenization_spaces` is true, appends its replacements (" ." becomes ".", and so on) to |decoder|.
  /// Does so only where transformers does: for a class in Python, or if there is a decoder and the model is not BPE or
  /// the setting for BPE is true, too.
  Status finishDecoder();
  /// Sets the DefaultFlags of |spec|: sides of padding and truncation, types of tokens, splitting of special tokens.
  Status readDefaults();
  Status checkModel(const std::string &path, ModelKind found) const;
  Status makeGenericSentencePiece(const SentencePieceModel &model);
  /// Corrects the split of Mistral's tokenizers if the setting `fix_mistral_regex` is true. In a sequence of
  /// pre-tokenizers the correct split replaces the first part. A single pre-tokenizer stays after the correct split,
  /// or, if it is a Metaspace, becomes a ByteLevel. Does nothing without a pre-tokenizer, for at most 100000 tokens of
  /// the model and added tokens, or without config.json. Does nothing either if config.json names a type of model other
  /// than Mistral's or a version of transformers from 5.0.0 on.
  Status patchMistral();

  const TokenizerClass &type;
  /// Special tokens by name, the common ones first; nullopt for none.
  std::vector<std::pair<std::string, std::optional<NamedToken>>> specials;
  std::vector<NamedToken> extraSpecials;
  bool shouldUpdatePostProcessor = false;
};

//===--- Components --------------------------------------------------------===//

Json jsonReplace(const std::string &literal, const std::string &content);
Json jsonReplaceRegex(const std::string &pattern, const std::string &content);
Json jsonMetaspace(const char *scheme, bool split = true);
Json jsonByteLevel(bool addPrefixSpace, bool useRegex = true);
/// Returns a Sequence of the components |parts|; |partsKey| is "normalizers", "pretokenizers" or "decoders".
Json jsonSequence(const char *partsKey, const std::vector<Json> &parts);
Json jsonType(const char *type);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TOKENIZERBUILDER_H
