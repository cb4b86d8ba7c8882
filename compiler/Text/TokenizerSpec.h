//===- TokenizerSpec.h - A tokenizer before it is tables ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The description of a tokenizer. The readers of tokenizer.json and of older files make it; writeTokenizer turns it
// into the sections of a .text file.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TOKENIZERSPEC_H
#define ATTUNE_COMPILER_TEXT_TOKENIZERSPEC_H

#include "compiler/Support/Json.h"
#include "compiler/Text/TextFileWriter.h"
#include "runtime/text/TextTables.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace attune::text {

/// The mark U+2581, which SentencePiece writes for a space.
constexpr const char *kMark = "\xE2\x96\x81";

/// The bytes that steps, settings and rules refer to. Equal strings are stored once, unless one needs a larger
/// alignment.
class Pool {
public:
  /// Returns the position of |bytes|, a multiple of |alignment|, and their number. Adds them unless they are there
  /// already.
  PoolString add(const std::string &bytes, size_t alignment = 1);
  const std::string &bytes() const { return content; }

private:
  std::string content;
  std::map<std::string, uint32_t> places;
};

/// A token that is found in texts before the model processes them.
struct AddedToken {
  std::string content;
  bool singleWord = false, stripLeft = false, stripRight = false, normalized = true, special = false;

  bool operator==(const AddedToken &other) const {
    return content == other.content && singleWord == other.singleWord && stripLeft == other.stripLeft && stripRight == other.stripRight &&
           normalized == other.normalized && special == other.special;
  }
};

/// The pieces of a model whose strings are not those of the vocabulary: a SentencePiece model beside a vocabulary, or BPE
/// whose merges mark the ends of words. A piece that stands for a token other than the unknown token has the token's id;
/// the ids of other pieces follow those of the tokens.
struct PieceModel {
  std::unordered_map<std::string, uint32_t> ids;
  /// The number of ids. In BPE of SentencePiece the ids from |firstUnknown| on belong to characters that are parts of
  /// pieces, but no pieces. In other models |firstUnknown| is kNoId.
  uint32_t numIds = 0, firstUnknown = kNoId;
  std::vector<double> scores; ///< Unigram, by id
  double unknownScore = 0;
  std::vector<MergeSlot> merges;    ///< BPE
  std::vector<uint32_t> byteTokens; ///< ids of the tokens for the 256 bytes; empty without byteFallback
};

/// The entry of a token in the tables: its string, the string that stands for it in decoded texts, and its flags
/// (TokenFlag).
struct TokenForm {
  std::string content, decoded;
  uint8_t flags = 0;
};

/// Returns the step |kind| with the first argument |a|; the other arguments are 0.
inline Step makeStep(StepKind kind, uint32_t a = 0) {
  Step step = {};
  step.kind = kind;
  step.a = a;
  return step;
}

/// A tokenizer: model, steps and added tokens.
struct TokenizerSpec {
  ModelKind model = ModelKind::WordPiece;
  /// The strings of the model and their ids. Ids may have gaps. In a Unigram vocabulary that has a string twice, the
  /// last id counts.
  std::unordered_map<std::string, uint32_t> vocab;
  /// |tokens| has the strings of the model by id; |exists| is true for each id that has a string.
  std::vector<std::string> tokens;
  std::vector<bool> exists;
  /// The number of entries of the vocabulary. New added tokens get ids from this number on (addTokens).
  uint32_t modelSize = 0;
  std::vector<std::pair<std::string, std::string>> merges;
  std::vector<double> scores;
  std::optional<std::string> unknownToken;
  std::optional<uint32_t> unknownId;
  std::string continuingPrefix, endSuffix;
  uint32_t maxCharacters = 100;
  bool fuseUnknown = false, byteFallback = false, ignoreMerges = false;

  std::vector<Step> normalizers, preTokenizers, processors, decoders;
  bool hasDecoder = false;
  Pool pool;
  /// The added tokens by id, the ids of the added tokens by string, and the strings that were special in any call of
  /// addTokens.
  std::map<uint32_t, AddedToken> added;
  std::map<std::string, uint32_t> addedIds;
  std::set<std::string> specials;
  uint32_t padId = 0, padTypeId = 0;
  uint32_t defaults = 0; ///< DefaultFlag

  std::optional<PieceModel> pieces;
  uint32_t ruleFlags = 0;         ///< RuleFlag
  std::string codeBegin, codeEnd; ///< codeBegin and codeEnd of Rules
  /// True if U+001C to U+001F are white space, as in Python.
  bool separatorsAreSpaces = false;
  /// Ids of the tokens of the model that are cut out of texts as added tokens are.
  std::vector<uint32_t> cutTokens;
  /// Ids that only decoding knows, and their strings.
  std::map<uint32_t, std::string> decodedOnly;
  /// Changes |form|, the form of token |id|, after writeTokenizer has set its strings and flags. Empty if no form
  /// changes.
  std::function<void(uint32_t id, TokenForm &form)> changeForm;

  /// Adds a token of the model.
  void addToken(const std::string &content, uint32_t id);
  /// Adds |call| as one call of add_tokens of the package `tokenizers`. A known string keeps its id and gets the new
  /// flags. New strings get consecutive ids. The first of these is |modelSize| or the id after the highest one of
  /// |added|, whichever is larger. Empty strings are skipped.
  void addTokens(const std::vector<AddedToken> &call);
  /// Adds a post-processor with the templates |single|, for one text, and |pair|, for two; |flags| are TemplateFlags.
  void addTemplate(const std::vector<TemplatePiece> &single, const std::vector<TemplatePiece> &pair, uint32_t flags = 0);
  /// Returns the number of ids, gaps included: that of tokens of the model, added tokens and those that only decoding
  /// knows.
  uint32_t countIds() const;
  /// Returns the id of the added token |content|, else that of the token of the model; nullopt if there is neither.
  std::optional<uint32_t> findToken(const std::string &content) const;
};

/// Reads model, added tokens and padding of |root|, the contents of tokenizer.json, into |spec|; |file| is the name of
/// tokenizer.json in messages.
Status readTokenizerModel(const Json &root, const std::string &file, TokenizerSpec &spec);
/// Reads normalizer, pre-tokenizer, post-processor and decoder of |root| into |spec|, to which readTokenizerModel or a
/// class has given a model.
Status readTokenizerComponents(const Json &root, const std::string &file, TokenizerSpec &spec);
/// Reads |vocab|, an object from tokens to ids, into the vocabulary of |spec|. |path| is the key of |vocab| in |file|,
/// "" for the whole file. Fails for an id of more than 8 times the number of tokens + 100000.
Status readVocabulary(const Json &vocab, const std::string &file, const std::string &path, TokenizerSpec &spec);

/// Adds to |out| the sections CHAR and UNIC, the tables in which steps of |spec| look up characters.
void writeCharacterSections(const TokenizerSpec &spec, TextFileWriter &out);

/// Adds the sections of the tokenizer |spec| to |writer|. |warn|, unless empty, gets warnings. |file| is the name of
/// the tokenizer's file in messages.
Status writeTokenizer(const TokenizerSpec &spec, const std::string &file, const std::function<void(const std::string &)> &warn,
                      TextFileWriter &writer);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TOKENIZERSPEC_H
