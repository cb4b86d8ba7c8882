//===- Tables.h - Checked views of a tokenizer's tables -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sections of a tokenizer as objects whose functions never read outside of them, whatever the file contains. Sizes
// are checked when the file is opened; indices are masked or compared at each use. A damaged file gives wrong ids,
// never a wild read.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TABLES_H
#define ATTUNE_RUNTIME_TEXT_TABLES_H

#include "runtime/text/Automaton.h"
#include "runtime/text/TextFile.h"
#include "runtime/text/TextTables.h"

namespace attune::text {

/// The bytes of a string that is stored elsewhere.
struct Bytes {
  const uint8_t *data = nullptr;
  size_t size = 0;
};

/// A table of strings that are found by number, as the strings of tokens by id.
class StringTable {
public:
  /// Opens a table of strings in |bytes|. |starts| has the offset of each string in |bytes| and, last, the end of the
  /// last string. Returns false if |starts| is empty; |get| checks the offsets.
  bool open(Section bytes, Section starts) {
    data = bytes.data;
    size = bytes.bytes;
    offsets = Table<uint32_t>(starts);
    return offsets.size > 0;
  }
  size_t count() const { return offsets.size ? offsets.size - 1 : 0; }
  /// Returns string |index|; empty if there is none.
  Bytes get(size_t index) const {
    if (index >= count())
      return {};
    size_t begin = offsets[index], end = offsets[index + 1];
    if (end > size)
      end = size;
    return begin < end ? Bytes{data + begin, end - begin} : Bytes{data, 0};
  }

private:
  const uint8_t *data = nullptr;
  size_t size = 0;
  Table<uint32_t> offsets;
};

/// A hash table from strings to their numbers in a StringTable.
class StringLookup {
public:
  bool open(Section section) {
    slots = Table<uint32_t>(section);
    return slots.size && (slots.size & (slots.size - 1)) == 0;
  }
  /// Returns the number in |strings| of the string of |size| bytes at |bytes|, or kNoId. The table must have been made
  /// for |strings|.
  uint32_t find(const StringTable &strings, const uint8_t *bytes, size_t size) const {
    if (!slots.size)
      return kNoId;
    const uint32_t hash = hashBytes(bytes, size);
    size_t mask = slots.size - 1, at = hash & mask;
    for (size_t probe = 0; probe <= mask; ++probe, at = (at + 1) & mask) {
      uint32_t entry = slots[at];
      if (entry == 0)
        return kNoId;
      if ((entry ^ hash) & ~kLookupNumber)
        continue;
      const uint32_t number = (entry & kLookupNumber) - 1;
      Bytes found = strings.get(number);
      if (found.size == size && __builtin_memcmp(found.data, bytes, size) == 0)
        return number;
    }
    return kNoId;
  }

private:
  Table<uint32_t> slots;
};

/// A double-array trie.
class Trie {
public:
  bool open(const TrieUnit *data, size_t count) {
    if (count == 0 || (count & (count - 1)) || count > (1u << 30))
      return false;
    units = data;
    mask = uint32_t(count - 1);
    return true;
  }
  explicit operator bool() const { return units; }
  static constexpr uint32_t kRoot = 0;

  /// Advances |node| to its child by |byte|; returns false if there is none.
  bool step(uint32_t &node, uint8_t byte) const {
    uint32_t child = (units[node].base ^ byte) & mask;
    if (units[child].check != node)
      return false;
    node = child;
    return true;
  }
  uint32_t value(uint32_t node) const { return units[node].value; }
  /// Returns true if a string begins with |byte|.
  bool begins(uint8_t byte) const {
    uint32_t node = kRoot;
    return step(node, byte);
  }

private:
  const TrieUnit *units = nullptr;
  uint32_t mask = 0;
};

/// The hash table of BPE merges. Most pairs have no merge. The tags (mergeTag) show this without a read of a slot:
/// |find| compares eight tags at a time. A tag has one byte and a slot 16, so the tags fit into a faster cache of the
/// CPU.
class MergeTable {
public:
  bool open(Section section, Section tagSection) {
    slots = Table<MergeSlot>(section);
    tags = tagSection.data;
    return slots.size >= kMergeTagGroup && (slots.size & (slots.size - 1)) == 0 && tagSection.bytes >= slots.size + kMergeTagGroup;
  }
  /// Returns the merge of the pair, or null.
  const MergeSlot *find(uint32_t left, uint32_t right) const {
    constexpr uint64_t ones = 0x0101010101010101ull, highs = ones << 7;
    const uint32_t hash = hashPair(left, right);
    const size_t mask = slots.size - 1;
    const uint64_t wanted = ones * mergeTag(hash);
    size_t at = hash & mask;
    for (size_t probed = 0; probed <= mask; probed += kMergeTagGroup, at = (at + kMergeTagGroup) & mask) {
      uint64_t group;
      __builtin_memcpy(&group, tags + at, sizeof(group));
      // The lowest set bit of |empty| and of |same| is right; higher bits may be set without an empty slot or an equal
      // tag.
      const uint64_t empty = (group - ones) & ~group & highs;
      uint64_t same = group ^ wanted;
      same = (same - ones) & ~same & highs;
      if (empty)
        same &= empty - 1;
      for (; same; same &= same - 1) {
        const MergeSlot &slot = slots[(at + size_t(__builtin_ctzll(same)) / 8) & mask];
        if (slot.left == left && slot.right == right)
          return &slot;
      }
      if (empty)
        return nullptr;
    }
    return nullptr;
  }

private:
  Table<MergeSlot> slots;
  const uint8_t *tags = nullptr;
};

/// The flags (CharacterFlag) of code points, which must be less than 0x110000.
class CharacterFlags {
public:
  bool open(Section section) {
    stage1 = reinterpret_cast<const uint16_t *>(section.data);
    if (section.bytes < kMapStage * 2)
      return false;
    size_t blocks = (section.bytes - kMapStage * 2) / (kMapBlock * 2);
    if (blocks == 0 || (blocks & (blocks - 1)))
      return false;
    stage2 = stage1 + kMapStage;
    blockMask = uint32_t(blocks - 1);
    return true;
  }
  uint32_t operator()(uint32_t character) const {
    if (character < kMapBlock)
      return stage2[character];
    return stage2[(stage1[character / kMapBlock] & blockMask) * kMapBlock + character % kMapBlock];
  }

private:
  const uint16_t *stage1 = nullptr, *stage2 = nullptr;
  uint32_t blockMask = 0;
};

/// A map from characters to 8-bit values, as sorted runs (start << 8 | value). A run ends where the next one starts.
/// Characters before the first run have the value 0.
class Runs {
public:
  void open(const uint32_t *data, size_t count) {
    runs = data;
    size = count;
  }
  uint32_t operator()(uint32_t character) const {
    size_t low = 0, high = size;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (runs[middle] >> 8 <= character)
        low = middle + 1;
      else
        high = middle;
    }
    return low ? runs[low - 1] & 255 : 0;
  }

private:
  const uint32_t *runs = nullptr;
  size_t size = 0;
};

/// A sorted list of characters and their replacements.
class CharacterMap {
public:
  void open(const MappedCharacter *data, size_t dataCount, const uint32_t *values, size_t valueCount) {
    entries = data;
    count = dataCount;
    characters = values;
    numCharacters = valueCount;
  }
  /// Sets |out| to the characters that |character| becomes and returns their number; returns 0 if |character| does not
  /// change or the table is damaged.
  uint32_t find(uint32_t character, const uint32_t *&out) const {
    size_t low = 0, high = count;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (entries[middle].character < character)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == count || entries[low].character != character)
      return 0;
    uint32_t place = entries[low].place >> 5, length = entries[low].place & 31;
    if (place > numCharacters || length > numCharacters - place)
      return 0;
    out = characters + place;
    for (uint32_t i = 0; i < length; ++i)
      if (out[i] >= 0x110000)
        return 0; // CharacterFlags cannot look it up
    return length;
  }

private:
  const MappedCharacter *entries = nullptr;
  const uint32_t *characters = nullptr;
  size_t count = 0, numCharacters = 0;
};

/// Tables of lower case, normalization forms, scripts and graphemes.
struct UnicodeData {
  CharacterMap lowercase, canonical, compatible;
  const ComposedPair *pairs = nullptr;
  size_t numPairs = 0;
  Runs combining, scripts, graphemes;

  bool open(Section section);
  /// Returns the composition of a pair, 0 if there is none. The table has no Hangul syllables; NormalizationForm.cpp
  /// computes them.
  uint32_t compose(uint32_t first, uint32_t second) const;
};

/// A map from strings to their replacements as SentencePiece stores it: a double-array trie in the format of the
/// library darts-clone, and replacements that end with a zero byte.
class PrefixMap {
public:
  void open(const uint32_t *data, size_t count, Bytes replacements) {
    units = data;
    numUnits = count;
    texts = replacements;
  }
  /// Finds the longest prefix of [at, end) that has a replacement, sets |text| to the replacement, and returns the
  /// length of the prefix in bytes. Returns 0 and does not change |text| if there is none.
  size_t find(const uint8_t *at, const uint8_t *end, Bytes &text) const;

private:
  const uint32_t *units = nullptr;
  size_t numUnits = 0;
  Bytes texts;
};

/// A tokenizer step whose arguments (StepKind) are resolved.
struct CheckedStep {
  Step step;
  Bytes text;    ///< the string of arguments a and b
  Bytes literal; ///< the string of arguments d and e of steps with patterns, c and d of DecodeCtc
  PrefixMap prefixes; ///< NormalizePieces
  bool hasAutomaton = false;
  Automaton automaton;
  Trie charsmap; ///< NormalizePrecompiled
  Bytes replacements;
  bool mapsPrintable = false; ///< NormalizePrecompiled: the map replaces a printable character of ASCII
  const TemplatePiece *single = nullptr, *pair = nullptr; ///< ProcessTemplate
};

/// The largest number of steps of a tokenizer, from normalizers to decoders.
constexpr uint32_t kMaxSteps = 96;

/// All tables of a tokenizer.
struct Tables {
  Settings settings;
  Rules rules;
  StringTable strings, decodeStrings, modelStrings;
  StringLookup lookup, modelLookup;
  Table<uint8_t> flags;
  Trie trie, added, addedNormal;
  MergeTable merges;
  Table<uint32_t> symbols; ///< 512 ids: of the bytes or byte tokens, then of the ASCII characters
  Table<double> scores;
  CharacterFlags characters;
  UnicodeData unicode;
  Bytes continuingPrefix, endSuffix, codeBegin, codeEnd;
  CheckedStep steps[kMaxSteps];
  uint32_t numSteps[4];  ///< normalizers, pre-tokenizers, processors, decoders
  uint32_t firstStep[4]; ///< of the same groups: index of the first step in |steps|
  bool hasDecoder;

  /// Opens and checks the sections of |file|, which must stay open. |name| is the file's name in messages. Fails with
  /// CORRUPT.
  attune_status open(const TextFile &file, const char *name);

private:
  attune_status openSteps(const TextFile &file, const char *name);
  bool openStep(Section pool, CheckedStep &checked);
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TABLES_H
