//===- ContinuedBpeClasses.cpp - BPE whose tokens say that words go on ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokenizer classes in Python (PythonTokenizer.h) in the form of subword-nmt: PhoBERT, BERTweet and Blenderbot-small. A
// word is merged as characters, the last of which ends with "</w>". In the vocabulary it is the other way round: a token
// that is not the last one of its word ends with "@@", and the last one has no mark.
//
//   word            l o w e r</w>
//   merges          low er</w>
//   tokens          low@@ er
//
// So the strings of merges are not those of the vocabulary, and the result of a merge need not be a token. The strings
// of merges are pieces (PieceModel): "low" has the id of "low@@" and "er</w>" that of "er". Pieces without a token have
// ids beyond the vocabulary, which become the unknown token.
//===----------------------------------------------------------------------===//

#include "compiler/Support/Strings.h"
#include "compiler/Text/PythonTokenizer.h"
#include "compiler/Text/TokenizerClasses.h"
#include "compiler/Text/Unicode.h"
#include "compiler/Text/VocabularyFiles.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace attune;
using namespace attune::text;

namespace {

constexpr const char *kEndOfWord = "</w>", *kContinuation = "@@";

/// A merge: its two pieces, and its rank, the index of its line.
struct RankedMerge {
  std::string left, right;
  uint32_t rank;
};

} // namespace

/// Reads the file of merges |path|. Each line has two pieces and then, if |hasCounts|, a number, with white space between
/// them. As in transformers, empty lines are no merges, a last line without an end is ignored, and so is the first line if
/// |skipsFirst|; of equal merges the last one counts.
static Result<std::vector<RankedMerge>> readMerges(const std::string &path, bool skipsFirst, bool hasCounts) {
  Result<PythonLines> file = readPythonLines(path);
  if (!file)
    return file.status();
  const size_t end = file->lines.size() - (file->hasLastEnd ? 0 : 1);
  std::vector<RankedMerge> merges;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (size_t i = skipsFirst ? 1 : 0; i < end; ++i) {
    std::vector<std::string> words = splitAtPythonSpace(file->lines[i]);
    const std::string place = path + ": line " + std::to_string(i + 1);
    if (words.empty())
      continue;
    if (words.size() != (hasCounts ? 3u : 2u))
      return Status::error(place + ": expected two tokens" + (hasCounts ? " and a number" : "") + ", got " +
                           describeJson(Json(file->lines[i])));
    // A "</w>" inside would be part of a text.
    const std::string joined = words[0] + words[1];
    const bool endsWord = endsWith(words[1], kEndOfWord) && words[1] != kEndOfWord;
    const size_t mark = joined.find(kEndOfWord);
    if (mark != std::string::npos && (!endsWord || mark + std::strlen(kEndOfWord) != joined.size()))
      return Status::error(place + ": expected \"</w>\" at the end of the second token alone, got " + describeJson(Json(file->lines[i])));
    auto [known, isNew] = places.try_emplace({words[0], words[1]}, merges.size());
    if (isNew)
      merges.push_back({words[0], words[1], uint32_t(i)});
    else
      merges[known->second].rank = uint32_t(i);
  }
  return merges;
}

/// Fails if a token of |builder|'s vocabulary has "@@ " inside, which decoding would remove, or the id of another.
static Status checkTokens(const TokenizerBuilder &builder) {
  const TokenizerSpec &spec = builder.spec;
  std::map<uint32_t, std::string> tokenOf;
  auto check = [&](const std::string &token, uint32_t id) -> Status {
    if (token.find(std::string(kContinuation) + " ") != std::string::npos)
      return Status::error(builder.file + ": expected tokens without \"@@ \", got " + describeJson(Json(token)));
    auto [place, isNew] = tokenOf.try_emplace(id, token);
    if (isNew || place->second == token)
      return {};
    const auto [first, second] = std::minmax(token, place->second);
    return Status::error(builder.file + ": expected tokens with different ids, got the id " + std::to_string(id) + " for " +
                         describeJson(Json(first)) + " and " + describeJson(Json(second)));
  };
  for (const auto &[id, token] : spec.added)
    ATTUNE_RETURN_IF_FAILED(check(token.content, id));
  // An added token takes the place of a token of the model with its id or string.
  for (const auto &[token, id] : spec.vocab)
    if (!spec.added.count(id) && !spec.addedIds.count(token))
      ATTUNE_RETURN_IF_FAILED(check(token, id));
  return {};
}

/// Sets the pieces of |spec|: those of |merges|, from the file |path|, and the tokens of one character. |unknown| is the
/// id of the unknown token. Fails if two pieces stand for one token.
static Status makePieces(TokenizerSpec &spec, const std::vector<RankedMerge> &merges, const std::string &path, uint32_t unknown) {
  PieceModel &pieces = spec.pieces.emplace();
  pieces.numIds = spec.countIds();
  // Returns the id of the piece |text|.
  auto idOf = [&](const std::string &text) {
    auto [place, isNew] = pieces.ids.try_emplace(text, 0);
    if (!isNew)
      return place->second;
    const bool isLast = endsWith(text, kEndOfWord);
    const std::string token = isLast ? text.substr(0, text.size() - std::strlen(kEndOfWord)) : text + kContinuation;
    std::optional<uint32_t> id = spec.findToken(token);
    return place->second = id && *id != unknown ? *id : pieces.numIds++;
  };
  auto addCharacter = [&](const std::string &token) {
    const bool goesOn = endsWith(token, kContinuation);
    const std::string start = token.substr(0, token.size() - (goesOn ? std::strlen(kContinuation) : 0));
    if (goesOn && toCodePoints(start).size() == 1)
      idOf(start);
    if (toCodePoints(token).size() == 1)
      idOf(token + kEndOfWord);
  };
  for (const auto &[id, token] : spec.added)
    addCharacter(token.content);
  for (const auto &[token, id] : spec.vocab)
    addCharacter(token);
  for (const RankedMerge &merge : merges) {
    const uint32_t left = idOf(merge.left), right = idOf(merge.right);
    pieces.merges.push_back({left, right, merge.rank, idOf(merge.left + merge.right)});
  }
  // Merges find pieces by their ids, so no two pieces may have one id, such as "x" and "x@@</w>", both for the token "x@@".
  std::map<uint32_t, std::string> pieceOf;
  for (const auto &[text, id] : std::map<std::string, uint32_t>(pieces.ids.begin(), pieces.ids.end()))
    if (auto [place, isNew] = pieceOf.try_emplace(id, text); !isNew)
      return Status::error(path + ": expected merges that make each token in one way, got " + describeJson(Json(place->second)) + " and " +
                           describeJson(Json(text)) + " for the same token");
  return {};
}

/// Makes the model of |builder|, BPE with |merges| from the file |path|, and the decoder. The vocabulary and the added
/// tokens must be in the spec.
static Status useMerges(TokenizerBuilder &builder, const std::vector<RankedMerge> &merges, const std::string &path) {
  TokenizerSpec &spec = builder.spec;
  uint32_t unknown = 0;
  ATTUNE_RETURN_IF_FAILED(requireToken(builder, "unk_token", unknown));
  fillGaps(spec, spec.tokens.size(), [&](size_t) { return builder.token("unk_token"); });
  spec.model = ModelKind::Bpe;
  spec.ruleFlags |= kRuleMergesTogether;
  spec.unknownToken = builder.token("unk_token");
  spec.unknownId = unknown;
  spec.endSuffix = kEndOfWord;
  ATTUNE_RETURN_IF_FAILED(checkTokens(builder));
  ATTUNE_RETURN_IF_FAILED(makePieces(spec, merges, path, unknown));
  const PoolString suffix = spec.pool.add(kContinuation);
  Step decoder = makeStep(StepKind::DecodeContinued, suffix.offset);
  decoder.b = suffix.bytes;
  spec.decoders = {decoder, makeStep(StepKind::DecodeTrim)};
  return {};
}

/// Returns a pre-tokenizer whose pieces are the matches of |pattern|.
static Json jsonMatches(const std::string &pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Removed"}, {"invert", true}};
}

/// Makes the tokenizer of PhobertTokenizer. The vocabulary has the four special tokens and then those of vocab.txt, each
/// with a space and a number after it. A word is a run of characters without white space, and the newline behind it.
Status attune::text::buildPhobert(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  const std::string mergesFile = builder.arguments.folder + "/bpe.codes";
  builder.file = builder.arguments.folder + "/vocab.txt";
  Result<PythonLines> lines = readPythonLines(builder.file);
  if (!lines)
    return lines.status();
  Result<std::vector<RankedMerge>> merges = readMerges(mergesFile, /*skipsFirst=*/false, /*hasCounts=*/true);
  if (!merges)
    return merges.status();
  auto add = [&](const std::string &token, const std::string &place) -> Status {
    if (spec.vocab.count(token))
      return Status::error(place + ": expected different tokens, got a second " + describeJson(Json(token)));
    spec.addToken(token, spec.modelSize++);
    return {};
  };
  for (auto [name, fallback] :
       {std::pair("bos_token", "<s>"), std::pair("pad_token", "<pad>"), std::pair("eos_token", "</s>"), std::pair("unk_token", "<unk>")})
    ATTUNE_RETURN_IF_FAILED(add(builder.text(name, NamedToken(fallback)), builder.arguments.configFile));
  for (size_t i = 0; i < lines->lines.size(); ++i) {
    const std::string text = stripPythonSpace(lines->lines[i]), place = builder.file + ": line " + std::to_string(i + 1);
    const size_t space = text.rfind(' ');
    if (space == std::string::npos)
      return Status::error(place + ": expected a token, a space and a number, got " + describeJson(Json(text)));
    ATTUNE_RETURN_IF_FAILED(add(text.substr(0, space), place));
  }
  setPythonRules(builder);
  ATTUNE_RETURN_IF_FAILED(initializeInPython(builder, readRobertaTokens(builder)));
  ATTUNE_RETURN_IF_FAILED(useMerges(builder, *merges, mergesFile));
  builder.preTokenizer = jsonMatches("[^\\s\\x1c-\\x1f]+\\n?");
  return addClsSepTemplate(builder);
}

/// Makes the tokenizer of BertweetTokenizer: that of PhobertTokenizer, without its own normalization of tweets.
Status attune::text::buildBertweet(TokenizerBuilder &builder) {
  bool normalizes = false;
  ATTUNE_RETURN_IF_FAILED(builder.arguments.read("normalization", normalizes));
  if (normalizes)
    return jsonTypeError(builder.arguments.configFile, "normalization", "false (the normalization of tweets is not supported)",
                         Json(normalizes));
  return buildPhobert(builder);
}

/// Makes the tokenizer of BlenderbotSmallTokenizer. Texts are in lower case. A newline behind a word becomes the word
/// "__newln__"; one behind an apostrophe is dropped, as in transformers. Words end before each of . , ! ? ( ), and an
/// apostrophe is a word.
Status attune::text::buildBlenderbotSmall(TokenizerBuilder &builder) {
  TokenizerSpec &spec = builder.spec;
  const std::string mergesFile = builder.arguments.folder + "/merges.txt";
  builder.file = builder.arguments.folder + "/vocab.json";
  ATTUNE_RETURN_IF_FAILED(readVocabJson(builder.file, spec));
  Result<std::vector<RankedMerge>> merges = readMerges(mergesFile, /*skipsFirst=*/true, /*hasCounts=*/false);
  if (!merges)
    return merges.status();
  const std::string unknown = builder.text("unk_token", NamedToken("__unk__"));
  if (!spec.vocab.count(unknown))
    return Status::error(builder.file + ": expected the token " + describeJson(Json(unknown)) + " ('unk_token'), got none");
  setPythonRules(builder);
  ATTUNE_RETURN_IF_FAILED(initializeInPython(
      builder,
      readTokens(builder, {{"bos_token", "__start__"}, {"eos_token", "__end__"}, {"unk_token", "__unk__"}, {"pad_token", "__null__"}})));
  ATTUNE_RETURN_IF_FAILED(useMerges(builder, *merges, mergesFile));
  // White space is that of the package `regex`, without U+001C to U+001F. The capital sigma at the end of a word has a
  // small letter of its own. Whether it is at the end depends on its two neighbors here; Python ignores accents and
  // some other characters between letters.
  const std::string cased = "[\\p{Cased}&&[^\\p{Case_Ignorable}]]";
  builder.normalizer =
      jsonSequence("normalizers", {jsonReplaceRegex("(?<=[^\\s'])\\n", " __newln__ "),
                                   jsonReplaceRegex("(?<=" + cased + ")\u03A3(?!" + cased + ")", "\u03C2"), jsonType("Lowercase")});
  builder.preTokenizer = jsonSequence(
      "pretokenizers", {jsonMatches("\\S+"),
                        {{"type", "Split"}, {"pattern", {{"Regex", "[.,!?()]"}}}, {"behavior", "MergedWithNext"}, {"invert", false}},
                        {{"type", "Split"}, {"pattern", {{"String", "'"}}}, {"behavior", "Isolated"}, {"invert", false}}});
  spec.addTemplate({{0, 0, 0}}, {{0, 0, 0}, {1, 1, 0}});
  return {};
}
