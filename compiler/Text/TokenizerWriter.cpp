//===- TokenizerWriter.cpp - The tables of a tokenizer --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Added tokens that match normalized text must be normalized themselves, by the normalizer of the runtime, which needs
// the tables. So if there are such tokens and normalizer steps, the tables are made twice: first in memory and without
// added tokens, for this normalization, then for the file.
//===----------------------------------------------------------------------===//

#include "compiler/Text/AddedTokenNormalizer.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/MergeSimulator.h"
#include "compiler/Text/TokenizerSpec.h"
#include "compiler/Text/TrieBuilder.h"
#include "compiler/Text/Unicode.h"
#include "runtime/text/ByteCharacters.h"
#include "runtime/text/PreTokenizer.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace attune;
using namespace attune::text;

namespace {

class Writer {
public:
  Writer(const TokenizerSpec &spec, const std::string &file, const std::function<void(const std::string &)> &warn)
      : spec(spec), file(file), warn(warn) {}

  /// Gives the tokens of the model their forms, so that |write| makes the tables without added tokens.
  void prepare();
  /// Adds the added tokens and those that only decoding knows, and gives all tokens their final form. |normalize|
  /// returns a string after the normalizer steps. Fails if these steps make an added token empty that matches
  /// normalized text.
  Status addTokens(const std::function<Result<std::string>(const std::string &)> &normalize);
  /// Fails if a template of a post-processor has an id that is not below the number of ids.
  Status checkTemplates() const;
  /// Adds all sections to |out|.
  Status write(TextFileWriter &out);

private:
  void decideBytes();
  bool cutsAtMark() const;
  /// Returns true if the runtime may look up a piece as a whole token before it merges; the section MASH then has only
  /// tokens that merging makes of their own string (keepWholeTokens).
  bool findsWholeTokens() const {
    return spec.model == ModelKind::Bpe && !spec.ignoreMerges && !spec.pieces && spec.continuingPrefix.empty() && spec.endSuffix.empty();
  }
  /// Returns the strings of the model and their ids.
  const std::unordered_map<std::string, uint32_t> &pieceIds() const { return spec.pieces ? spec.pieces->ids : spec.vocab; }
  std::vector<std::pair<std::string, uint32_t>> listTokens() const;
  std::string toModelString(const std::string &token, bool &reachable) const;
  Status writeModel(TextFileWriter &out);
  Result<Merges> listMerges() const;
  void writeMerges(const Merges &merges, TextFileWriter &out) const;
  void writeStrings(TextFileWriter &out, uint32_t bytesKind, uint32_t startsKind, const std::vector<std::string> &strings);
  void writeLookup(TextFileWriter &out, uint32_t kind, const std::vector<std::pair<std::string, uint32_t>> &entries);
  void writeSteps(TextFileWriter &out, Pool &pool);

  const TokenizerSpec &spec;
  const std::string &file;
  const std::function<void(const std::string &)> &warn;
  /// True if the strings of the model are stored as bytes: then ByteLevel is the last pre-tokenizer, and its mapping of
  /// bytes to characters is omitted.
  bool bytes = false;
  std::vector<TokenForm> tokens; ///< by id; from addTokens on with the added tokens
  std::map<std::string, uint32_t> addedTrie, addedNormalTrie;
};

} // namespace

void Writer::decideBytes() {
  bytes = spec.model == ModelKind::Bpe && spec.continuingPrefix.empty() && spec.endSuffix.empty() && !spec.byteFallback &&
          !spec.preTokenizers.empty() && spec.preTokenizers.back().kind == StepKind::SplitByteLevel;
}

/// Returns true if |piece| has a U+2581 after a character other than U+2581.
static bool joinsMark(const std::string &piece) {
  static const std::string mark = kMark;
  size_t leading = 0;
  while (piece.compare(leading, mark.size(), mark) == 0)
    leading += mark.size();
  return piece.find(mark, leading) != std::string::npos;
}

/// Returns true if the runtime may cut a text before each U+2581 that follows a character other than U+2581. This is so
/// for a BPE model of characters if U+2581 is a token, so that no unknown token extends over a U+2581, and if no merge
/// makes a token in which a U+2581 follows a character other than U+2581.
bool Writer::cutsAtMark() const {
  if (spec.model != ModelKind::Bpe || bytes || spec.ignoreMerges || !spec.continuingPrefix.empty() || !spec.endSuffix.empty() ||
      !pieceIds().count(kMark))
    return false;
  if (spec.pieces)
    return std::none_of(spec.pieces->ids.begin(), spec.pieces->ids.end(), [](const auto &piece) { return joinsMark(piece.first); });
  for (const auto &[left, right] : spec.merges) {
    if (joinsMark(left + right))
      return false;
  }
  return true;
}

void Writer::prepare() {
  decideBytes();
  tokens.clear();
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    TokenForm token;
    token.content = token.decoded = spec.tokens[id];
    token.flags = spec.exists[id] ? kTokenExists : 0;
    tokens.push_back(token);
  }
}

Status Writer::addTokens(const std::function<Result<std::string>(const std::string &)> &normalize) {
  std::map<uint32_t, std::string> normalizedForms;
  for (const auto &[id, token] : spec.added) {
    if (!token.normalized)
      continue;
    Result<std::string> form = normalize(token.content);
    if (!form)
      return form.status();
    if (form->empty())
      return Status::error(file + ": 'added_tokens': expected a token that its normalizer does not make empty, got " +
                           describeJson(Json(token.content)));
    if (*form != token.content)
      normalizedForms[id] = *form;
  }
  for (const auto &[id, token] : spec.added) {
    if (id >= tokens.size())
      tokens.resize(id + 1);
    TokenForm &target = tokens[id];
    auto form = normalizedForms.find(id);
    target.content = token.content;
    target.decoded = form != normalizedForms.end() && token.normalized ? form->second : token.content;
    target.flags |= kTokenExists | (token.singleWord ? kTokenSingleWord : 0) | (token.stripLeft ? kTokenStripLeft : 0) |
                    (token.stripRight ? kTokenStripRight : 0) | (spec.specials.count(token.content) ? kTokenSpecial : 0);
    auto &trie = token.normalized ? addedNormalTrie : addedTrie;
    const std::string &pattern = token.normalized ? target.decoded : token.content;
    if (auto [place, isNew] = trie.insert({pattern, id}); !isNew) {
      place->second = std::min(place->second, id);
      if (warn)
        warn(file + ": added tokens " + describeJson(Json(tokens[place->second].content)) + " and " + describeJson(Json(token.content)) +
             " are equal after normalization; the one with the lower id is found");
    }
  }
  for (uint32_t id : spec.cutTokens)
    addedTrie.insert({tokens[id].content, id});
  for (TokenForm &token : tokens)
    if ((token.flags & kTokenExists) && spec.specials.count(token.decoded))
      token.flags |= kTokenSkipped;
  for (const auto &[id, string] : spec.decodedOnly) {
    if (id >= tokens.size())
      tokens.resize(id + 1);
    if (!(tokens[id].flags & kTokenExists))
      tokens[id] = {string, string, kTokenExists};
  }
  for (size_t id = 0; id < tokens.size() && spec.changeForm; ++id)
    if (tokens[id].flags & kTokenExists)
      spec.changeForm(uint32_t(id), tokens[id]);
  return {};
}

/// Returns the string by which the model looks up |token|: |token| itself, or, if the model takes bytes, the bytes that
/// its characters stand for. If one of them stands for no byte, returns "" and sets |reachable| to false; else sets it
/// to true.
std::string Writer::toModelString(const std::string &token, bool &reachable) const {
  reachable = true;
  if (!bytes)
    return token;
  std::string result;
  for (uint32_t c : toCodePoints(token)) {
    int byte = characterToByte(c);
    reachable &= byte >= 0;
    result += char(byte);
  }
  return reachable ? result : std::string();
}

void Writer::writeStrings(TextFileWriter &out, uint32_t bytesKind, uint32_t startsKind, const std::vector<std::string> &strings) {
  std::string all;
  std::vector<uint32_t> starts = {0};
  for (const std::string &string : strings) {
    all += string;
    starts.push_back(uint32_t(all.size()));
  }
  out.add(bytesKind, std::move(all));
  out.add(startsKind, starts);
}

void Writer::writeLookup(TextFileWriter &out, uint32_t kind, const std::vector<std::pair<std::string, uint32_t>> &entries) {
  size_t size = 16;
  while (size < entries.size() * 2)
    size *= 2;
  std::vector<uint32_t> slots(size);
  for (const auto &[text, id] : entries) {
    const uint32_t hash = hashBytes(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    size_t at = hash & (size - 1);
    while (slots[at])
      at = (at + 1) & (size - 1);
    slots[at] = (hash & ~kLookupNumber) | (id + 1);
  }
  out.add(kind, slots);
}

/// Returns the string and id of each token, but not of those that only decoding knows. Of tokens with equal strings,
/// such as an added one and one of the model, returns the one with the largest id.
std::vector<std::pair<std::string, uint32_t>> Writer::listTokens() const {
  std::map<std::string, uint32_t> ids;
  for (size_t id = 0; id < tokens.size(); ++id)
    if ((tokens[id].flags & kTokenExists) && !spec.decodedOnly.count(uint32_t(id)))
      ids[tokens[id].content] = uint32_t(id);
  return {ids.begin(), ids.end()};
}

/// Returns rank and merged id of each pair of ids that has a merge; the rank of a merge is its index in the list. Fails
/// if the vocabulary lacks a token of a merge or the token that the merge makes.
Result<Merges> Writer::listMerges() const {
  Merges merges;
  size_t prefix = spec.continuingPrefix.size();
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto &[left, right] = spec.merges[rank];
    auto find = [&](const std::string &token) {
      auto place = spec.vocab.find(token);
      return place == spec.vocab.end() ? kNoId : place->second;
    };
    std::string merged = left + (right.size() >= prefix ? right.substr(prefix) : std::string());
    for (const std::string *token : {&left, &right, static_cast<const std::string *>(&merged)})
      if (find(*token) == kNoId || right.size() < prefix)
        return Status::error(file + ": 'model.merges[" + std::to_string(rank) + "]': expected tokens of the vocabulary, got " +
                             describeJson(Json(*token)));
    merges[{find(left), find(right)}] = {uint32_t(rank), find(merged)};
  }
  if (spec.pieces)
    for (const MergeSlot &merge : spec.pieces->merges)
      merges[{merge.left, merge.right}] = {merge.rank, merge.id};
  return merges;
}

void Writer::writeMerges(const Merges &merges, TextFileWriter &out) const {
  size_t size = 16;
  while (size < merges.size() * 2)
    size *= 2;
  std::vector<MergeSlot> slots(size, {kNoId, kNoId, kNoId, kNoId});
  std::vector<uint8_t> tags(size + kMergeTagGroup);
  for (const auto &[pair, merge] : merges) {
    const uint32_t hash = hashPair(pair.first, pair.second);
    size_t at = hash & (size - 1);
    while (slots[at].left != kNoId)
      at = (at + 1) & (size - 1);
    slots[at] = {pair.first, pair.second, merge.first, merge.second};
    tags[at] = mergeTag(hash);
  }
  std::copy_n(tags.begin(), kMergeTagGroup, tags.begin() + size);
  out.add(kSectionMerges, slots);
  out.add(kSectionMergeTags, tags);
}

Status Writer::writeModel(TextFileWriter &out) {
  // |lookup| has the entries of the section MASH: strings in the form of the model, and their ids.
  std::vector<std::pair<std::string, uint32_t>> lookup;
  std::vector<std::string> modelStrings(tokens.size());
  bool differs = bytes;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    bool reachable;
    modelStrings[id] = spec.exists[id] ? toModelString(spec.tokens[id], reachable) : std::string();
    differs |= modelStrings[id] != tokens[id].content;
  }
  for (const auto &[text, id] : pieceIds()) {
    bool reachable;
    std::string model = toModelString(text, reachable);
    if (reachable)
      lookup.emplace_back(model, id);
  }
  if (spec.pieces && spec.model == ModelKind::Unigram) {
    // Runs of unknown characters are looked up among all tokens, unless they become bytes.
    differs = false;
    lookup = spec.byteFallback ? decltype(lookup)() : listTokens();
  } else if (spec.pieces) {
    differs = true;
    modelStrings.assign(spec.pieces->numIds, std::string());
    for (const auto &[text, id] : spec.pieces->ids)
      modelStrings[id] = text;
  }
  if (differs)
    writeStrings(out, kSectionModelStrings, kSectionModelStarts, modelStrings);
  if (spec.model == ModelKind::WordPiece || spec.model == ModelKind::Unigram)
    out.add(kSectionTrie, buildTrie(std::map<std::string, uint32_t>(pieceIds().begin(), pieceIds().end())));
  if (spec.model == ModelKind::Unigram) {
    std::vector<double> scores = spec.pieces ? spec.pieces->scores : spec.scores;
    scores.resize(std::max(tokens.size(), scores.size()));
    out.add(kSectionScores, scores);
  }
  if (spec.model == ModelKind::Bpe || spec.model == ModelKind::Unigram) {
    std::vector<uint32_t> symbols(512, kNoId);
    for (uint32_t byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof(name), "<0x%02X>", byte);
      std::string text = name;
      if (bytes)
        text = toUtf8({byteToCharacter(uint8_t(byte))});
      if (spec.pieces)
        symbols[byte] = spec.byteFallback ? spec.pieces->byteTokens[byte] : kNoId;
      else if (auto place = spec.vocab.find(text); place != spec.vocab.end())
        symbols[byte] = place->second;
      if (auto place = pieceIds().find(std::string(1, char(byte))); byte < 128 && place != pieceIds().end())
        symbols[256 + byte] = place->second;
    }
    out.add(kSectionSymbols, symbols);
    if (spec.model == ModelKind::Bpe) {
      Result<Merges> merges = listMerges();
      if (!merges)
        return merges.status();
      writeMerges(*merges, out);
      if (findsWholeTokens())
        keepWholeTokens(MergeSimulator(*merges), bytes, symbols, lookup);
    }
  }
  writeLookup(out, kSectionModelLookup, lookup);
  return {};
}

void Writer::writeSteps(TextFileWriter &out, Pool &pool) {
  StepCounts counts = {};
  counts.normalizers = uint32_t(spec.normalizers.size());
  counts.preTokenizers = uint32_t(spec.preTokenizers.size());
  counts.processors = uint32_t(spec.processors.size());
  counts.decoders = uint32_t(spec.decoders.size());
  counts.hasDecoder = spec.hasDecoder;
  std::string section(reinterpret_cast<const char *>(&counts), sizeof(counts));
  auto append = [&](const std::vector<Step> &steps) {
    for (size_t i = 0; i < steps.size(); ++i) {
      Step step = steps[i];
      if (bytes && &steps == &spec.preTokenizers && i + 1 == steps.size())
        step.a &= ~2u; // ByteLevel does not map bytes to characters: the model takes bytes
      section.append(reinterpret_cast<const char *>(&step), sizeof(step));
    }
  };
  append(spec.normalizers);
  append(spec.preTokenizers);
  append(spec.processors);
  append(spec.decoders);
  out.add(kSectionSteps, std::move(section));
  out.add(kSectionPool, pool.bytes());
}

Status Writer::write(TextFileWriter &out) {
  Pool pool = spec.pool;
  Settings settings = {};
  settings.model = spec.model;
  settings.modelFlags = (bytes ? kModelBytes : 0u) | (spec.byteFallback ? kModelByteFallback : 0u) |
                        (spec.fuseUnknown ? kModelFuseUnknown : 0u) | (spec.ignoreMerges ? kModelIgnoreMerges : 0u) |
                        (spec.unknownToken ? kModelHasUnknown : 0u) | (cutsAtMark() ? kModelCutsAtMark : 0u) |
                        (findsWholeTokens() ? kModelWholeTokens : 0u);
  settings.vocabSize = uint32_t(tokens.size());
  settings.unknownId = spec.unknownId.value_or(kNoId);
  settings.maxCharacters = spec.maxCharacters;
  settings.padId = spec.padId;
  settings.padTypeId = spec.padTypeId;
  settings.defaults = spec.defaults;
  settings.continuingPrefix = pool.add(spec.continuingPrefix);
  settings.endSuffix = pool.add(spec.endSuffix);
  if (spec.model == ModelKind::Unigram && !spec.scores.empty())
    settings.unknownScore = *std::min_element(spec.scores.begin(), spec.scores.end()) - 10.0;
  if (spec.pieces)
    settings.unknownScore = spec.pieces->unknownScore;
  out.add(kSectionSettings, std::string(reinterpret_cast<const char *>(&settings), sizeof(settings)));

  if (spec.pieces || spec.ruleFlags || !spec.codeEnd.empty()) {
    Rules rules = {};
    rules.flags = spec.ruleFlags;
    rules.numPieces = spec.pieces ? std::max(spec.pieces->numIds, settings.vocabSize) : settings.vocabSize;
    rules.firstUnknown = spec.pieces ? spec.pieces->firstUnknown : kNoId;
    rules.codeBegin = pool.add(spec.codeBegin);
    rules.codeEnd = pool.add(spec.codeEnd);
    out.add(kSectionRules, std::string(reinterpret_cast<const char *>(&rules), sizeof(rules)));
  }

  std::vector<std::string> contents, decoded;
  std::vector<uint8_t> flags;
  for (size_t id = 0; id < tokens.size(); ++id) {
    contents.push_back(tokens[id].content);
    decoded.push_back(tokens[id].decoded);
    flags.push_back(tokens[id].flags);
  }
  writeStrings(out, kSectionStrings, kSectionStringStarts, contents);
  if (decoded != contents)
    writeStrings(out, kSectionDecodeStrings, kSectionDecodeStarts, decoded);
  out.add(kSectionTokenFlags, flags);
  writeLookup(out, kSectionLookup, listTokens());
  ATTUNE_RETURN_IF_FAILED(writeModel(out));
  writeSteps(out, pool);
  writeCharacterSections(spec, out);
  if (!addedTrie.empty())
    out.add(kSectionAddedTrie, buildTrie(addedTrie));
  if (!addedNormalTrie.empty())
    out.add(kSectionAddedNormalTrie, buildTrie(addedNormalTrie));
  return {};
}

Status Writer::checkTemplates() const {
  for (const Step &step : spec.processors) {
    if (step.kind != StepKind::ProcessTemplate)
      continue;
    for (auto [offset, count] : {std::pair(step.a, step.b), std::pair(step.c, step.d)})
      for (uint32_t i = 0; i < count; ++i) {
        TemplatePiece piece;
        std::memcpy(&piece, spec.pool.bytes().data() + offset + i * sizeof(piece), sizeof(piece));
        if (piece.kind >= 2 && piece.id >= tokens.size())
          return Status::error(file + ": 'post_processor': expected the id of a token, got " + std::to_string(piece.id));
      }
  }
  return {};
}

Status attune::text::writeTokenizer(const TokenizerSpec &spec, const std::string &file,
                                    const std::function<void(const std::string &)> &warn, TextFileWriter &writer) {
  if (spec.normalizers.size() + spec.preTokenizers.size() + spec.processors.size() + spec.decoders.size() > kMaxSteps)
    return Status::error(file + ": expected at most " + std::to_string(kMaxSteps) + " components");
  size_t buffers = 0;
  for (const Step &step : spec.preTokenizers)
    buffers += PreTokenizer::countBuffers(step.kind);
  if (buffers > PreTokenizer::kMostBuffers)
    return Status::error(file + ": 'pre_tokenizer': expected at most three ByteLevel, or six Metaspace, got more");
  // Ids may have gaps, and the tables have an entry for each id up to the largest one.
  const size_t numIds = std::max<size_t>(spec.countIds(), spec.pieces ? spec.pieces->numIds : 0);
  if (numIds >= kLookupNumber)
    return Status::error(file + ": expected ids below " + std::to_string(kLookupNumber - 1) + ", got " + std::to_string(numIds - 1));
  Writer tables(spec, file, warn);
  tables.prepare();
  AddedTokenNormalizer normalizer([&](TextFileWriter &plain) { return tables.write(plain); }, file);
  ATTUNE_RETURN_IF_FAILED(
      tables.addTokens([&](const std::string &token) { return spec.normalizers.empty() ? token : normalizer.run(token); }));
  ATTUNE_RETURN_IF_FAILED(tables.checkTemplates());
  return tables.write(writer);
}
