//===- CharacterSections.cpp - The sections of characters -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Text/CharacterTables.h"
#include "compiler/Text/TokenizerSpec.h"

#include <cstring>
#include <set>

using namespace attune::text;

/// Returns the set of |characters|.
static CodePointSet collect(const std::set<uint32_t> &characters) {
  std::vector<uint32_t> edges;
  for (uint32_t c : characters) {
    if (!edges.empty() && edges.back() == c)
      edges.back() = c + 1;
    else
      edges.insert(edges.end(), {c, c + 1});
  }
  return CodePointSet::fromEdges(edges);
}

/// Returns the characters with a combining class other than 0: normalization forms sort characters by this class.
static CodePointSet movedCharacters() {
  CharacterRuns classes = combiningClasses();
  CodePointSet set;
  for (size_t i = 0; i < classes.size(); ++i)
    if (classes[i] & 255)
      set = set | CodePointSet::range(classes[i] >> 8, (i + 1 < classes.size() ? classes[i + 1] >> 8 : kCodePoints) - 1);
  return set;
}

/// Returns a set of characters with the property that NFC does not change a text that has none of them.
static CodePointSet composingCharacters() {
  std::set<uint32_t> members;
  for (const Composition &pair : compositions())
    members.insert(pair.second);
  // A character that has a decomposition but is no composition is changed: NFC does not compose it again.
  std::set<uint32_t> restored;
  for (const Composition &pair : compositions())
    restored.insert(pair.composed);
  for (const auto &[character, parts] : canonicalMapping())
    if (!restored.count(character))
      members.insert(character);
  return CodePointSet::range(0x1161, 0x1175) | CodePointSet::range(0x11A8, 0x11C2) | collect(members) | movedCharacters();
}

/// Returns the characters that |mapping| changes.
static CodePointSet changedCharacters(const CharacterMapping &mapping) {
  std::set<uint32_t> members;
  for (const auto &[character, parts] : mapping)
    members.insert(character);
  return collect(members);
}

/// Writes the section CHAR. If |separators| is true, U+001C to U+001F count as white space, as in Python.
static void writeFlags(bool separators, TextFileWriter &out) {
  static const std::vector<uint16_t> common = [] {
    std::vector<uint16_t> result(kCodePoints);
    auto mark = [&](const CodePointSet &set, uint16_t flag) {
      const std::vector<uint32_t> &edges = set.boundaries();
      for (size_t i = 0; i < edges.size(); i += 2)
        for (uint32_t c = edges[i]; c < edges[i + 1]; ++c)
          result[c] |= flag;
    };
    for (int which = 0; which <= int(Predicate::NmtSpace); ++which)
      mark(predicate(Predicate(which)), uint16_t(1 << which));
    CodePointSet canonical = changedCharacters(canonicalMapping()) | CodePointSet::range(0xAC00, 0xD7A3) | movedCharacters();
    mark(changedCharacters(lowercaseMapping()), kCharLowers);
    mark(canonical, kCharCanonical);
    mark(canonical | changedCharacters(compatibleMapping()), kCharCompatible);
    mark(composingCharacters(), kCharComposes);
    return result;
  }();
  std::vector<uint16_t> flags = common;
  for (uint32_t c = 0x1C; c <= 0x1F && separators; ++c)
    flags[c] |= kCharWhiteSpace;
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

/// Returns true if |spec| has a normalizer or pre-tokenizer of |kind|. If |flag| is not 0, only steps count that have a
/// bit of |flag| in argument a.
static bool usesStep(const TokenizerSpec &spec, StepKind kind, uint32_t flag = 0) {
  auto uses = [&](const Step &step) { return step.kind == kind && (flag == 0 || (step.a & flag)); };
  return std::any_of(spec.normalizers.begin(), spec.normalizers.end(), uses) ||
         std::any_of(spec.preTokenizers.begin(), spec.preTokenizers.end(), uses);
}

/// Writes the section UNIC: the tables that the steps of |spec| need.
static void writeUnicode(const TokenizerSpec &spec, TextFileWriter &out) {
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
  bool forms = usesStep(spec, StepKind::NormalizeForm) || usesStep(spec, StepKind::NormalizeBert, kBertAccents);
  if (usesStep(spec, StepKind::NormalizeLowercase) || usesStep(spec, StepKind::NormalizeBert, kBertLower))
    appendMapping(header.lowercase, lowercaseMapping());
  if (forms) {
    appendMapping(header.canonical, canonicalMapping());
    append(header.combining, combiningClasses());
  }
  if (usesStep(spec, StepKind::NormalizeForm, kFormCompatible))
    appendMapping(header.compatible, compatibleMapping());
  if (usesStep(spec, StepKind::NormalizeForm, kFormCompose)) {
    std::vector<ComposedPair> pairs;
    for (const Composition &pair : compositions())
      pairs.push_back({pair.first, pair.second, pair.composed});
    append(header.compositions, pairs);
  }
  if (usesStep(spec, StepKind::SplitScripts))
    append(header.scripts, splitScripts());
  if (usesStep(spec, StepKind::NormalizePrecompiled))
    append(header.graphemes, graphemeClasses());
  append(header.characters, characters);
  std::memcpy(section.data(), &header, sizeof(header));
  out.add(kSectionUnicode, std::move(section));
}

void attune::text::writeCharacterSections(const TokenizerSpec &spec, TextFileWriter &out) {
  writeFlags(spec.separatorsAreSpaces, out);
  writeUnicode(spec, out);
}
