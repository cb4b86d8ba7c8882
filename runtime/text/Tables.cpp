//===- Tables.cpp - Checking a tokenizer's tables -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/text/Tables.h"
#include "runtime/src/Error.h"

#include <cstring>

using namespace attune;
using namespace attune::text;

bool UnicodeData::open(Section section) {
  if (!section)
    return true;
  UnicodeTables header;
  if (section.bytes < sizeof(header))
    return false;
  memcpy(&header, section.data, sizeof(header));
  auto inside = [&](UnicodeTables::Range range, size_t elementBytes) {
    return range.offset % 4 == 0 && range.offset <= section.bytes && range.count <= (section.bytes - range.offset) / elementBytes;
  };
  if (!inside(header.characters, 4) || !inside(header.compositions, sizeof(ComposedPair)) || !inside(header.combining, 4) ||
      !inside(header.scripts, 4) || !inside(header.graphemes, 4))
    return false;
  auto words = [&](UnicodeTables::Range range) { return reinterpret_cast<const uint32_t *>(section.data + range.offset); };
  struct {
    UnicodeTables::Range range;
    CharacterMap *map;
  } maps[] = {{header.lowercase, &lowercase}, {header.canonical, &canonical}, {header.compatible, &compatible}};
  for (auto &map : maps) {
    if (!inside(map.range, sizeof(MappedCharacter)))
      return false;
    map.map->open(reinterpret_cast<const MappedCharacter *>(section.data + map.range.offset), map.range.count, words(header.characters),
                  header.characters.count);
  }
  pairs = reinterpret_cast<const ComposedPair *>(section.data + header.compositions.offset);
  numPairs = header.compositions.count;
  combining.open(words(header.combining), header.combining.count);
  scripts.open(words(header.scripts), header.scripts.count);
  graphemes.open(words(header.graphemes), header.graphemes.count);
  return true;
}

uint32_t UnicodeData::compose(uint32_t first, uint32_t second) const {
  size_t low = 0, high = numPairs;
  uint64_t wanted = uint64_t(first) << 32 | second;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((uint64_t(pairs[middle].first) << 32 | pairs[middle].second) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < numPairs && pairs[low].first == first && pairs[low].second == second ? pairs[low].composed : 0;
}

size_t PrefixMap::find(const uint8_t *at, const uint8_t *end, Bytes &text) const {
  auto offsetOf = [](uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); };
  if (numUnits == 0)
    return 0;
  size_t longest = 0;
  uint32_t node = offsetOf(units[0]);
  for (const uint8_t *key = at; key < end; ++key) {
    node ^= *key;
    if (node >= numUnits || (units[node] & (1u << 31 | 0xFF)) != *key)
      break;
    const uint32_t unit = units[node];
    node ^= offsetOf(unit);
    if (!(unit >> 8 & 1))
      continue;
    uint32_t place = node < numUnits ? units[node] & 0x7FFFFFFF : kNoId;
    if (place > texts.size)
      break;
    const uint8_t *begin = texts.data + place;
    const void *zero = __builtin_memchr(begin, 0, texts.size - place);
    longest = size_t(key + 1 - at);
    text = {begin, zero ? size_t(static_cast<const uint8_t *>(zero) - begin) : texts.size - place};
  }
  return longest;
}

/// Sets |out| to the string of |bytes| bytes at |offset| of |pool|; returns false if it does not fit into |pool|.
static bool takeString(Section pool, uint32_t offset, uint32_t bytes, Bytes &out) {
  if (offset > pool.bytes || bytes > pool.bytes - offset)
    return false;
  out = {pool.data + offset, bytes};
  return true;
}

/// Sets |out| to the |count| template pieces at |offset| of |pool|. Returns false if they do not fit into |pool|, are
/// more than 64, or one is of an unknown kind, or if |offset| is no multiple of 4.
static bool takePieces(Section pool, uint32_t offset, uint32_t count, const TemplatePiece *&out) {
  if (offset % 4 || offset > pool.bytes || count > (pool.bytes - offset) / sizeof(TemplatePiece) || count > 64)
    return false;
  out = reinterpret_cast<const TemplatePiece *>(pool.data + offset);
  for (uint32_t i = 0; i < count; ++i)
    if (out[i].kind > 3)
      return false;
  return true;
}

bool Tables::openStep(Section pool, CheckedStep &checked) {
  const Step &step = checked.step;
  auto openAutomaton = [&](uint32_t offset) {
    if (offset == kNoId)
      return true;
    checked.hasAutomaton = true;
    return checked.automaton.open(pool, offset);
  };
  switch (step.kind) {
  case StepKind::NormalizeBert:
  case StepKind::NormalizeForm:
  case StepKind::NormalizeLowercase:
  case StepKind::NormalizeStripAccents:
  case StepKind::NormalizeStrip:
  case StepKind::NormalizeNmt:
  case StepKind::NormalizeByteLevel:
  case StepKind::SplitBert:
  case StepKind::SplitWhitespace:
  case StepKind::SplitWhiteSpaces:
  case StepKind::SplitDigits:
  case StepKind::SplitScripts:
  case StepKind::ProcessTrim:
  case StepKind::DecodeByteLevel:
  case StepKind::DecodeByteFallback:
  case StepKind::DecodeFuse:
  case StepKind::DecodeStrip:
  case StepKind::DecodePieces:
  case StepKind::DecodeTrim:
    return true;
  case StepKind::SplitPunctuation:
    return step.a <= uint32_t(SplitBehavior::Contiguous);
  case StepKind::SplitDelimiter:
  case StepKind::DecodeMetaspace:
    return step.a < 0x110000;
  case StepKind::SplitLength:
    return step.a > 0;
  case StepKind::NormalizePrepend:
  case StepKind::DecodeWordPiece:
  case StepKind::DecodeBpe:
  case StepKind::DecodeContinued:
    return takeString(pool, step.a, step.b, checked.text);
  case StepKind::SplitMetaspace:
    return step.b > 0 && step.b <= 4 && step.c <= uint32_t(MetaspaceScheme::Always) && takeString(pool, step.a, step.b, checked.text);
  case StepKind::NormalizeReplace:
  case StepKind::DecodeReplace:
    return takeString(pool, step.a, step.b, checked.text) && openAutomaton(step.c) && takeString(pool, step.d, step.e, checked.literal);
  case StepKind::SplitPattern:
    return step.a <= uint32_t(SplitBehavior::Contiguous) && openAutomaton(step.c) && takeString(pool, step.d, step.e, checked.literal);
  case StepKind::SplitByteLevel:
    return openAutomaton(step.b);
  case StepKind::NormalizePrecompiled:
    checked.mapsPrintable = false;
    if (step.a % 4 || step.a > pool.bytes || step.b > (pool.bytes - step.a) / sizeof(TrieUnit) ||
        !checked.charsmap.open(reinterpret_cast<const TrieUnit *>(pool.data + step.a), step.b) ||
        !takeString(pool, step.c, step.d, checked.replacements))
      return false;
    for (uint8_t byte = 0x20; byte < 0x7F; ++byte)
      if (uint32_t node = Trie::kRoot; checked.charsmap.step(node, byte))
        checked.mapsPrintable |= checked.charsmap.value(node) != kNoId;
    return true;
  case StepKind::NormalizePieces:
    if (step.a % 4 || step.a > pool.bytes || step.b > (pool.bytes - step.a) / sizeof(uint32_t) ||
        !takeString(pool, step.c, step.d, checked.replacements))
      return false;
    checked.prefixes.open(reinterpret_cast<const uint32_t *>(pool.data + step.a), step.b, checked.replacements);
    return true;
  case StepKind::ProcessTemplate:
    return takePieces(pool, step.a, step.b, checked.single) && takePieces(pool, step.c, step.d, checked.pair);
  case StepKind::DecodeCtc:
    return takeString(pool, step.a, step.b, checked.text) && takeString(pool, step.c, step.d, checked.literal);
  }
  return false;
}

attune_status Tables::openSteps(const TextFile &file, const char *name) {
  Section section = file.find(kSectionSteps), pool = file.find(kSectionPool);
  StepCounts counts;
  if (section.bytes < sizeof(counts))
    return fail(ATTUNE_CORRUPT, "'%s' has no steps", name);
  memcpy(&counts, section.data, sizeof(counts));
  const uint32_t numbers[4] = {counts.normalizers, counts.preTokenizers, counts.processors, counts.decoders};
  uint32_t total = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    firstStep[i] = total;
    numSteps[i] = numbers[i];
    if (numbers[i] > kMaxSteps - total)
      return fail(ATTUNE_CORRUPT, "'%s' has more than %u steps", name, kMaxSteps);
    total += numbers[i];
  }
  if (section.bytes < sizeof(counts) + total * sizeof(Step))
    return fail(ATTUNE_CORRUPT, "'%s' has %u steps in %zu bytes", name, total, section.bytes);
  hasDecoder = counts.hasDecoder;
  for (uint32_t i = 0; i < total; ++i) {
    steps[i] = CheckedStep();
    memcpy(&steps[i].step, section.data + sizeof(counts) + i * sizeof(Step), sizeof(Step));
    uint32_t kind = uint32_t(steps[i].step.kind);
    uint32_t group = kind < 32 ? 0 : kind < 64 ? 1 : kind < 96 ? 2 : 3;
    bool isLate = steps[i].step.kind == StepKind::DecodePieces && i > firstStep[3];
    if (i < firstStep[group] || i >= firstStep[group] + numSteps[group] || isLate || !openStep(pool, steps[i]))
      return fail(ATTUNE_CORRUPT, "'%s' has a damaged step: number %u of kind %u", name, i, kind);
  }
  return ATTUNE_OK;
}

/// Sets |trie| to the section of |kind|; a missing section leaves it empty. Returns false if the size is invalid.
static bool openTrie(const TextFile &file, uint32_t kind, Trie &trie) {
  Section section = file.find(kind);
  return !section || trie.open(reinterpret_cast<const TrieUnit *>(section.data), section.bytes / sizeof(TrieUnit));
}

attune_status Tables::open(const TextFile &file, const char *name) {
  Section section = file.find(kSectionSettings);
  if (!section)
    return fail(ATTUNE_CORRUPT, "'%s' has no tokenizer", name);
  if (section.bytes < sizeof(settings))
    return fail(ATTUNE_CORRUPT, "'%s' has settings of %zu bytes, expected %zu", name, section.bytes, sizeof(settings));
  memcpy(&settings, section.data, sizeof(settings));
  rules = {};
  rules.numPieces = settings.vocabSize;
  rules.firstUnknown = kNoId;
  Section ruleSection = file.find(kSectionRules);
  if (ruleSection.bytes >= sizeof(rules))
    memcpy(&rules, ruleSection.data, sizeof(rules));
  auto require = [&](bool fits, const char *what) {
    return fits ? ATTUNE_OK : fail(ATTUNE_CORRUPT, "'%s' has a damaged table: %s", name, what);
  };
  ATTUNE_TRY(require(strings.open(file.find(kSectionStrings), file.find(kSectionStringStarts)) && settings.vocabSize <= strings.count() &&
                         settings.vocabSize <= INT32_MAX,
                     "strings of tokens"));
  decodeStrings = strings;
  if (Section starts = file.find(kSectionDecodeStarts))
    ATTUNE_TRY(require(decodeStrings.open(file.find(kSectionDecodeStrings), starts), "decoded strings"));
  modelStrings = strings;
  if (Section starts = file.find(kSectionModelStarts))
    ATTUNE_TRY(require(modelStrings.open(file.find(kSectionModelStrings), starts), "strings of the model"));
  flags = Table<uint8_t>(file.find(kSectionTokenFlags));
  ATTUNE_TRY(require(flags.size >= settings.vocabSize, "flags of tokens"));
  ATTUNE_TRY(require(lookup.open(file.find(kSectionLookup)), "ids of strings"));
  ATTUNE_TRY(require(modelLookup.open(file.find(kSectionModelLookup)), "ids of the model"));
  ATTUNE_TRY(require(openTrie(file, kSectionTrie, trie) && openTrie(file, kSectionAddedTrie, added) &&
                         openTrie(file, kSectionAddedNormalTrie, addedNormal),
                     "tries"));
  symbols = Table<uint32_t>(file.find(kSectionSymbols));
  scores = Table<double>(file.find(kSectionScores));
  ATTUNE_TRY(require(characters.open(file.find(kSectionCharacters)), "flags of characters"));
  ATTUNE_TRY(require(unicode.open(file.find(kSectionUnicode)), "Unicode"));
  Section pool = file.find(kSectionPool);
  ATTUNE_TRY(require(takeString(pool, settings.continuingPrefix.offset, settings.continuingPrefix.bytes, continuingPrefix) &&
                         takeString(pool, settings.endSuffix.offset, settings.endSuffix.bytes, endSuffix),
                     "prefix and suffix"));
  ATTUNE_TRY(require((!ruleSection || ruleSection.bytes >= sizeof(rules)) && rules.numPieces >= settings.vocabSize &&
                         takeString(pool, rules.codeBegin.offset, rules.codeBegin.bytes, codeBegin) &&
                         takeString(pool, rules.codeEnd.offset, rules.codeEnd.bytes, codeEnd),
                     "rules"));
  if (settings.model < ModelKind::WordPiece || settings.model > ModelKind::WordLevel)
    return fail(ATTUNE_CORRUPT, "'%s' has an unknown model: %u", name, uint32_t(settings.model));
  switch (settings.model) {
  case ModelKind::WordPiece:
    ATTUNE_TRY(require(bool(trie), "the trie of WordPiece"));
    break;
  case ModelKind::Bpe:
    ATTUNE_TRY(require(merges.open(file.find(kSectionMerges), file.find(kSectionMergeTags)) && symbols.size >= 512, "merges"));
    break;
  case ModelKind::Unigram:
    ATTUNE_TRY(require(bool(trie) && scores.size >= rules.numPieces && symbols.size >= 512, "pieces and scores"));
    break;
  case ModelKind::WordLevel:
    break;
  }
  return openSteps(file, name);
}
