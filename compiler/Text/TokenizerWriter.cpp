//===- TokenizerWriter.cpp - The tables of a tokenizer --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Added tokens that match normalized text are normalized themselves, by the runtime's own steps: the tables are made
// twice, first without added tokens for a normalizer in memory.
//===----------------------------------------------------------------------===//

#include "attune/text.h"
#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/TokenizerSpec.h"
#include "compiler/Text/TrieBuilder.h"
#include "compiler/Text/Unicode.h"
#include "runtime/text/Normalizer.h"

#include <cstdlib>
#include <cstring>
#include <memory>

using namespace attune;
using namespace attune::text;

namespace {

/// A token after added tokens have got their ids.
struct FinalToken {
  std::string content, decoded;
  uint8_t flags = 0;
};

class Writer {
public:
  Writer(const TokenizerSpec &spec, const std::string &file, const std::function<void(const std::string &)> &warn)
      : spec(spec), file(file), warn(warn) {}

  /// Makes the tables without added tokens.
  void prepare();
  /// Gives added tokens their ids; |normalize| applies the normalizer.
  Status addTokens(const std::function<std::string(const std::string &)> &normalize);
  /// Adds all sections to |out|.
  Status write(TextFileWriter &out);

private:
  void decideBytes();
  bool cutsAtMark() const;
  std::string toModelString(const std::string &token, bool &reachable) const;
  Status writeModel(TextFileWriter &out);
  Status writeMerges(TextFileWriter &out);
  void writeStrings(TextFileWriter &out, uint32_t bytesKind, uint32_t startsKind, const std::vector<std::string> &strings);
  void writeLookup(TextFileWriter &out, uint32_t kind, const std::vector<std::pair<std::string, uint32_t>> &entries);
  void writeSteps(TextFileWriter &out, Pool &pool);
  void writeCharacters(TextFileWriter &out);
  void writeUnicode(TextFileWriter &out);
  bool usesStep(StepKind kind, uint32_t flag = 0) const;

  const TokenizerSpec &spec;
  const std::string &file;
  const std::function<void(const std::string &)> &warn;
  /// The model's strings are bytes: ByteLevel is the last pre-tokenizer, and the characters that it makes need not be
  /// made.
  bool bytes = false;
  std::vector<FinalToken> tokens;
  std::map<std::string, uint32_t> addedTrie, addedNormalTrie;
};

} // namespace

#define TRY(call)                                                                                                                          \
  if (Status tried = (call); tried.failed())                                                                                               \
  return tried

void Writer::decideBytes() {
  bytes = spec.model == ModelKind::Bpe && spec.continuingPrefix.empty() && spec.endSuffix.empty() && !spec.byteFallback &&
          !spec.preTokenizers.empty() && spec.preTokenizers.back().kind == StepKind::SplitByteLevel;
}

/// Returns true if pieces may be cut before each U+2581 that follows another character: it is a token, so that nothing
/// unknown reaches over it, and no merge makes a token with it behind another character.
bool Writer::cutsAtMark() const {
  static const std::string mark = "\xE2\x96\x81";
  if (spec.model != ModelKind::Bpe || bytes || spec.ignoreMerges || !spec.continuingPrefix.empty() || !spec.endSuffix.empty() ||
      !spec.vocab.count(mark))
    return false;
  for (const auto &[left, right] : spec.merges) {
    const std::string merged = left + right;
    size_t leading = 0;
    while (merged.compare(leading, mark.size(), mark) == 0)
      leading += mark.size();
    if (merged.find(mark, leading) != std::string::npos)
      return false;
  }
  return true;
}

void Writer::prepare() {
  decideBytes();
  tokens.clear();
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    FinalToken token;
    token.content = token.decoded = spec.tokens[id];
    token.flags = spec.exists[id] ? kTokenExists : 0;
    tokens.push_back(token);
  }
}

Status Writer::addTokens(const std::function<std::string(const std::string &)> &normalize) {
  // As the reference: a known string keeps its id, new ones are numbered from the size of the vocabulary on.
  std::map<std::string, uint32_t> ids;
  std::map<uint32_t, AddedToken> byId;
  std::map<uint32_t, std::string> normalizedForms;
  std::map<std::string, bool> specials;
  uint32_t next = spec.modelSize;
  for (const AddedToken &token : spec.added) {
    if (token.content.empty())
      continue;
    uint32_t id;
    if (auto known = ids.find(token.content); known != ids.end())
      id = known->second;
    else if (auto place = spec.vocab.find(token.content); place != spec.vocab.end())
      id = place->second;
    else
      id = next++;
    if (token.normalized) {
      std::string form = normalize(token.content);
      if (form.empty())
        return Status::error(file + ": 'added_tokens': expected a token that its normalizer does not make empty, got " +
                             describeJson(Json(token.content)));
      if (form != token.content)
        normalizedForms[id] = form;
    }
    ids[token.content] = id;
    byId[id] = token;
    if (token.special)
      specials[token.content] = true;
  }
  for (const auto &[id, token] : byId) {
    if (id >= tokens.size())
      tokens.resize(id + 1);
    FinalToken &target = tokens[id];
    auto form = normalizedForms.find(id);
    target.content = token.content;
    target.decoded = form != normalizedForms.end() && token.normalized ? form->second : token.content;
    target.flags |= kTokenExists | (token.singleWord ? kTokenSingleWord : 0) | (token.stripLeft ? kTokenStripLeft : 0) |
                    (token.stripRight ? kTokenStripRight : 0) | (specials.count(token.content) ? kTokenSpecial : 0);
    auto &trie = token.normalized ? addedNormalTrie : addedTrie;
    const std::string &pattern = token.normalized ? target.decoded : token.content;
    if (auto [place, isNew] = trie.insert({pattern, id}); !isNew) {
      place->second = std::min(place->second, id);
      if (warn)
        warn(file + ": added tokens " + describeJson(Json(tokens[place->second].content)) + " and " + describeJson(Json(token.content)) +
             " are equal after normalization; the one with the lower id is found");
    }
  }
  for (FinalToken &token : tokens)
    if ((token.flags & kTokenExists) && specials.count(token.decoded))
      token.flags |= kTokenSkipped;
  return {};
}

/// Returns the bytes that the characters of |token| stand for; |reachable| is false if one stands for none.
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
    size_t at = hashBytes(reinterpret_cast<const uint8_t *>(text.data()), text.size()) & (size - 1);
    while (slots[at])
      at = (at + 1) & (size - 1);
    slots[at] = id + 1;
  }
  out.add(kind, slots);
}

Status Writer::writeMerges(TextFileWriter &out) {
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>> merges;
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
  size_t size = 16;
  while (size < merges.size() * 2)
    size *= 2;
  std::vector<MergeSlot> slots(size, {kNoId, kNoId, kNoId, kNoId});
  for (const auto &[pair, merge] : merges) {
    size_t at = hashPair(pair.first, pair.second) & (size - 1);
    while (slots[at].left != kNoId)
      at = (at + 1) & (size - 1);
    slots[at] = {pair.first, pair.second, merge.first, merge.second};
  }
  out.add(kSectionMerges, slots);
  return {};
}

Status Writer::writeModel(TextFileWriter &out) {
  // Strings as the model sees them, and their ids.
  std::vector<std::pair<std::string, uint32_t>> lookup;
  std::vector<std::string> modelStrings(tokens.size());
  bool differs = bytes;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    bool reachable;
    modelStrings[id] = spec.exists[id] ? toModelString(spec.tokens[id], reachable) : std::string();
    differs |= modelStrings[id] != tokens[id].content;
  }
  for (const auto &[text, id] : spec.vocab) {
    bool reachable;
    std::string model = toModelString(text, reachable);
    if (reachable)
      lookup.emplace_back(model, id);
  }
  if (differs)
    writeStrings(out, kSectionModelStrings, kSectionModelStarts, modelStrings);
  bool looksUp = !bytes || spec.ignoreMerges;
  writeLookup(out, kSectionModelLookup, looksUp ? lookup : decltype(lookup)());

  if (spec.model == ModelKind::WordPiece || spec.model == ModelKind::Unigram)
    out.add(kSectionTrie, buildTrie(std::map<std::string, uint32_t>(spec.vocab.begin(), spec.vocab.end())));
  if (spec.model == ModelKind::Unigram) {
    std::vector<double> scores = spec.scores;
    scores.resize(tokens.size());
    out.add(kSectionScores, scores);
  }
  if (spec.model == ModelKind::Bpe)
    TRY(writeMerges(out));
  if (spec.model == ModelKind::Bpe || spec.model == ModelKind::Unigram) {
    std::vector<uint32_t> symbols(512, kNoId);
    for (uint32_t byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof(name), "<0x%02X>", byte);
      std::string text = name;
      if (bytes)
        text = toUtf8({byteToCharacter(uint8_t(byte))});
      if (auto place = spec.vocab.find(text); place != spec.vocab.end())
        symbols[byte] = place->second;
      if (auto place = spec.vocab.find(std::string(1, char(byte))); byte < 128 && place != spec.vocab.end())
        symbols[256 + byte] = place->second;
    }
    out.add(kSectionSymbols, symbols);
  }
  return {};
}

bool Writer::usesStep(StepKind kind, uint32_t flag) const {
  auto uses = [&](const Step &step) { return step.kind == kind && (flag == 0 || (step.a & flag)); };
  return std::any_of(spec.normalizers.begin(), spec.normalizers.end(), uses) ||
         std::any_of(spec.preTokenizers.begin(), spec.preTokenizers.end(), uses);
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
        step.a &= ~2u; // the model takes bytes
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

/// Returns the characters that NFC may change a text with.
static CodePointSet composingCharacters(const CharacterRuns &classes) {
  std::vector<uint32_t> members;
  for (const Composition &pair : compositions())
    members.push_back(pair.second);
  // A character that composition does not restore is changed.
  std::map<uint32_t, bool> restored;
  for (const Composition &pair : compositions())
    restored[pair.composed] = true;
  for (const auto &[character, parts] : canonicalMapping())
    if (!restored.count(character))
      members.push_back(character);
  CodePointSet set = CodePointSet::range(0x1161, 0x1175) | CodePointSet::range(0x11A8, 0x11C2);
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::vector<uint32_t> edges;
  for (uint32_t c : members) {
    if (!edges.empty() && edges.back() == c)
      edges.back() = c + 1;
    else
      edges.insert(edges.end(), {c, c + 1});
  }
  set = set | CodePointSet::fromEdges(edges);
  for (size_t i = 0; i < classes.size(); ++i)
    if (classes[i] & 255)
      set = set | CodePointSet::range(classes[i] >> 8, (i + 1 < classes.size() ? classes[i + 1] >> 8 : kCodePoints) - 1);
  return set;
}

static CodePointSet changedCharacters(const CharacterMapping &mapping) {
  std::vector<uint32_t> edges;
  for (const auto &[character, parts] : mapping) {
    if (!edges.empty() && edges.back() == character)
      edges.back() = character + 1;
    else
      edges.insert(edges.end(), {character, character + 1});
  }
  return CodePointSet::fromEdges(edges);
}

void Writer::writeCharacters(TextFileWriter &out) {
  static const std::vector<uint16_t> flags = [] {
    std::vector<uint16_t> result(kCodePoints);
    auto mark = [&](const CodePointSet &set, uint16_t flag) {
      const std::vector<uint32_t> &edges = set.boundaries();
      for (size_t i = 0; i < edges.size(); i += 2)
        for (uint32_t c = edges[i]; c < edges[i + 1]; ++c)
          result[c] |= flag;
    };
    for (int which = 0; which <= int(Predicate::NmtSpace); ++which)
      mark(predicate(Predicate(which)), uint16_t(1 << which));
    CharacterRuns classes = combiningClasses();
    CodePointSet moved;
    for (size_t i = 0; i < classes.size(); ++i)
      if (classes[i] & 255)
        moved = moved | CodePointSet::range(classes[i] >> 8, (i + 1 < classes.size() ? classes[i + 1] >> 8 : kCodePoints) - 1);
    CodePointSet canonical = changedCharacters(canonicalMapping()) | CodePointSet::range(0xAC00, 0xD7A3) | moved;
    mark(changedCharacters(lowercaseMapping()), kCharLowers);
    mark(canonical, kCharCanonical);
    mark(canonical | changedCharacters(compatibleMapping()), kCharCompatible);
    mark(composingCharacters(classes), kCharComposes);
    return result;
  }();
  std::vector<uint16_t> stage1, stage2;
  std::map<std::vector<uint16_t>, uint16_t> blocks;
  for (uint32_t block = 0; block < kMapStage; ++block) {
    std::vector<uint16_t> part(flags.begin() + block * kMapBlock, flags.begin() + (block + 1) * kMapBlock);
    auto [place, isNew] = blocks.insert({part, uint16_t(blocks.size())});
    if (isNew)
      stage2.insert(stage2.end(), part.begin(), part.end());
    stage1.push_back(place->second);
  }
  size_t count = 1;
  while (count < blocks.size())
    count *= 2;
  stage2.resize(count * kMapBlock);
  stage1.insert(stage1.end(), stage2.begin(), stage2.end());
  out.add(kSectionCharacters, stage1);
}

void Writer::writeUnicode(TextFileWriter &out) {
  UnicodeTables header = {};
  std::string section(sizeof(header), '\0');
  std::vector<uint32_t> characters;
  auto append = [&](UnicodeTables::Range &range, const auto &elements) {
    range = {uint32_t(section.size()), uint32_t(elements.size())};
    section.append(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(elements[0]));
  };
  auto appendMapping = [&](UnicodeTables::Range &range, const CharacterMapping &mapping) {
    std::vector<MappedCharacter> entries;
    for (const auto &[character, parts] : mapping) {
      entries.push_back({character, uint32_t(characters.size() << 5 | parts.size())});
      characters.insert(characters.end(), parts.begin(), parts.end());
    }
    append(range, entries);
  };
  bool forms = usesStep(StepKind::NormalizeForm) || usesStep(StepKind::NormalizeBert, kBertAccents);
  if (usesStep(StepKind::NormalizeLowercase) || usesStep(StepKind::NormalizeBert, kBertLower))
    appendMapping(header.lowercase, lowercaseMapping());
  if (forms) {
    appendMapping(header.canonical, canonicalMapping());
    append(header.combining, combiningClasses());
  }
  if (usesStep(StepKind::NormalizeForm, kFormCompatible))
    appendMapping(header.compatible, compatibleMapping());
  if (usesStep(StepKind::NormalizeForm, kFormCompose)) {
    std::vector<ComposedPair> pairs;
    for (const Composition &pair : compositions())
      pairs.push_back({pair.first, pair.second, pair.composed});
    append(header.compositions, pairs);
  }
  if (usesStep(StepKind::SplitScripts))
    append(header.scripts, splitScripts());
  if (usesStep(StepKind::NormalizePrecompiled))
    append(header.graphemes, graphemeClasses());
  append(header.characters, characters);
  std::memcpy(section.data(), &header, sizeof(header));
  out.add(kSectionUnicode, std::move(section));
}

Status Writer::write(TextFileWriter &out) {
  Pool pool = spec.pool;
  Settings settings = {};
  settings.model = spec.model;
  settings.modelFlags = (bytes ? kModelBytes : 0u) | (spec.byteFallback ? kModelByteFallback : 0u) |
                        (spec.fuseUnknown ? kModelFuseUnknown : 0u) | (spec.ignoreMerges ? kModelIgnoreMerges : 0u) |
                        (spec.unknownToken ? kModelHasUnknown : 0u) | (cutsAtMark() ? kModelCutsAtMark : 0u);
  settings.vocabSize = uint32_t(tokens.size());
  settings.unknownId = spec.unknownId.value_or(kNoId);
  settings.maxCharacters = spec.maxCharacters;
  settings.padId = spec.padId;
  settings.padTypeId = spec.padTypeId;
  settings.continuingPrefix = pool.add(spec.continuingPrefix);
  settings.endSuffix = pool.add(spec.endSuffix);
  if (spec.model == ModelKind::Unigram && !spec.scores.empty())
    settings.unknownScore = *std::min_element(spec.scores.begin(), spec.scores.end()) - 10.0;
  out.add(kSectionSettings, std::string(reinterpret_cast<const char *>(&settings), sizeof(settings)));

  std::vector<std::string> contents, decoded;
  std::vector<uint8_t> flags;
  std::map<std::string, uint32_t> ids;
  for (size_t id = 0; id < tokens.size(); ++id) {
    contents.push_back(tokens[id].content);
    decoded.push_back(tokens[id].decoded);
    flags.push_back(tokens[id].flags);
  }
  writeStrings(out, kSectionStrings, kSectionStringStarts, contents);
  if (decoded != contents)
    writeStrings(out, kSectionDecodeStrings, kSectionDecodeStarts, decoded);
  out.add(kSectionTokenFlags, flags);
  // An added token hides the model's token of the same string; of equal strings the last id counts.
  for (size_t id = 0; id < tokens.size(); ++id)
    if (tokens[id].flags & kTokenExists)
      ids[tokens[id].content] = uint32_t(id);
  writeLookup(out, kSectionLookup, {ids.begin(), ids.end()});
  TRY(writeModel(out));
  writeSteps(out, pool);
  writeCharacters(out);
  writeUnicode(out);
  if (!addedTrie.empty())
    out.add(kSectionAddedTrie, buildTrie(addedTrie));
  if (!addedNormalTrie.empty())
    out.add(kSectionAddedNormalTrie, buildTrie(addedNormalTrie));
  return {};
}

Status attune::text::writeTokenizer(const TokenizerSpec &spec, const std::string &file,
                                    const std::function<void(const std::string &)> &warn, TextFileWriter &writer) {
  if (spec.normalizers.size() + spec.preTokenizers.size() + spec.processors.size() + spec.decoders.size() > kMaxSteps)
    return Status::error(file + ": expected at most " + std::to_string(kMaxSteps) + " components");
  for (const std::vector<Step> *steps : {&spec.processors})
    for (const Step &step : *steps) {
      if (step.kind != StepKind::ProcessTemplate)
        continue;
      for (auto [offset, count] : {std::pair(step.a, step.b), std::pair(step.c, step.d)})
        for (uint32_t i = 0; i < count; ++i) {
          TemplatePiece piece;
          std::memcpy(&piece, spec.pool.bytes().data() + offset + i * sizeof(piece), sizeof(piece));
          if (piece.kind == 2 && piece.id >= spec.tokens.size() + spec.added.size())
            return Status::error(file + ": 'post_processor': expected the id of a token, got " + std::to_string(piece.id));
        }
    }
  Writer tables(spec, file, warn);
  tables.prepare();

  // Normalizes added tokens by tables without them.
  std::unique_ptr<Tables> checked;
  std::string bytes;
  std::vector<uint64_t> memory;
  TextFile opened;
  void *aligned = nullptr;
  auto normalize = [&](const std::string &token) -> std::string {
    if (spec.normalizers.empty())
      return token;
    if (!checked) {
      TextFileWriter plain;
      if (tables.write(plain).failed())
        return token;
      bytes = plain.finish();
      aligned = std::aligned_alloc(kSectionAlignment, (bytes.size() + 63) / 64 * 64);
      std::memcpy(aligned, bytes.data(), bytes.size());
      checked = std::make_unique<Tables>();
      if (opened.borrow(file.c_str(), aligned, bytes.size()) != ATTUNE_OK || checked->open(opened, file.c_str()) != ATTUNE_OK)
        return token;
    }
    size_t capacity = token.size() * 64 + 4096;
    memory.assign(capacity * 6 + 64, 0);
    Memory block;
    block.open(memory.data(), memory.size() * 8);
    Normalizer normalizer;
    normalizer.open(*checked, block, capacity);
    AlignedText text = normalizer.run({reinterpret_cast<const uint8_t *>(token.data()), token.size(), nullptr, 0}, false);
    return std::string(reinterpret_cast<const char *>(text.bytes), text.size);
  };
  Status status = tables.addTokens(normalize);
  std::free(aligned);
  TRY(std::move(status));
  return tables.write(writer);
}
