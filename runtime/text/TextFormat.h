//===- TextFormat.h - The layout of .text files ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler (compiler/Text) writes these structures and the runtime maps them. docs/formats.md describes the file:
//
//     +--------+-----------------+-----+-----------+-----+-----------+
//     | header | section table   | pad | section   | pad | section   |  …   little endian
//     +--------+-----------------+-----+-----------+-----+-----------+
//     0        64                      64 * n            64 * m
//
// Sections begin at multiples of 64 bytes, in the order of the table; padding is 0.
//
// A section is found by its kind, four letters as a number. To add a kind, add an enumerator to SectionKind and a case
// to isKnown in TextFile.cpp, let the compiler call TextFileWriter::add and the runtime TextFile::find. Readers skip a
// section of a kind that they do not know, unless it has the flag kSectionRequired: then they refuse the file.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TEXTFORMAT_H
#define ATTUNE_RUNTIME_TEXT_TEXTFORMAT_H

#include "attune/runtime.h"

#include <cstddef>
#include <cstdint>

namespace attune::text {

/// Returns the kind of a section from its name of four letters, the first of which is the low byte.
constexpr uint32_t sectionName(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) | uint32_t(uint8_t(name[1])) << 8 | uint32_t(uint8_t(name[2])) << 16 | uint32_t(uint8_t(name[3])) << 24;
}

/// The kinds of sections. Each comment begins with the type of the section's elements. The number of slots of a hash
/// table, and of TrieUnits of a trie, is a power of two.
enum SectionKind : uint32_t {
  kSectionSettings = sectionName("CONF"),        ///< one Settings
  kSectionRules = sectionName("RULE"),           ///< one Rules; missing if the tokenizer needs none
  kSectionStrings = sectionName("VOCB"),         ///< bytes of the tokens' strings, one after the other
  kSectionStringStarts = sectionName("VOCO"),    ///< u32 per id, the offset of its string in VOCB; one more, the end
  kSectionTokenFlags = sectionName("VOCF"),      ///< u8 per id: TokenFlag
  kSectionLookup = sectionName("HASH"),          ///< u32 per slot: hash table from tokens' strings to ids (hashBytes)
  kSectionModelLookup = sectionName("MASH"),     ///< u32 as HASH, from the strings that the model looks up to ids
  kSectionModelStrings = sectionName("MODS"),    ///< bytes of the strings of MASH, if they differ from those of VOCB
  kSectionModelStarts = sectionName("MODO"),     ///< u32 as VOCO, for MODS
  kSectionDecodeStrings = sectionName("DECS"),   ///< bytes of the strings that decoding takes, if they differ from VOCB
  kSectionDecodeStarts = sectionName("DECO"),    ///< u32 as VOCO, for DECS
  kSectionTrie = sectionName("TRIE"),            ///< TrieUnit: the strings of a WordPiece or Unigram model
  kSectionMerges = sectionName("MERG"),          ///< MergeSlot: hash table from pairs of ids to merged ids (hashPair)
  kSectionMergeTags = sectionName("MTAG"),       ///< u8 per slot of MERG: mergeTag, 0 for an empty slot; then
                                                 ///< kMergeTagGroup more, which repeat the first
  kSectionSymbols = sectionName("SYMB"),         ///< 512 u32: ids of the bytes (kModelBytes), else of the byte tokens;
                                                 ///< from 256 on, of the ASCII characters; kNoId where there is none
  kSectionScores = sectionName("SCOR"),          ///< f64 per id: Unigram scores
  kSectionSteps = sectionName("PIPE"),           ///< StepCounts, then a Step for each, in the order of StepCounts
  kSectionPool = sectionName("POOL"),            ///< bytes of strings and tables that steps, settings and rules refer to
  kSectionCharacters = sectionName("CHAR"),      ///< u16: two-stage map from characters to CharacterFlags
  kSectionUnicode = sectionName("UNIC"),         ///< UnicodeTables: lower case, normalization forms, scripts, graphemes
  kSectionAddedTrie = sectionName("ADDT"),       ///< TrieUnit: added tokens that match the text before normalization
  kSectionAddedNormalTrie = sectionName("ADDN"), ///< TrieUnit: added tokens that match the normalized text
  kSectionChatTemplate = sectionName("CHAT"),    ///< bytes of compiled chat templates: chat/ChatFormat.h
  kSectionLabels = sectionName("LABL"),          ///< reserved for names of classes; no compiler writes it yet
  kSectionTask = sectionName("TASK"),            ///< one TaskHeader, then prompts and strings: tasks/TaskFormat.h
};

/// "ATTUNET1" as a little-endian number.
constexpr uint64_t kTextMagic = 0x3154454E55545441ull;
/// Readers refuse files of other major versions.
constexpr uint16_t kTextMajor = 2;
/// A later minor version may only add sections, none of them required.
constexpr uint16_t kTextMinor = 0;
/// The alignment of sections in bytes.
constexpr size_t kSectionAlignment = 64;
/// The largest number of sections of a file; readers refuse more.
constexpr uint32_t kMaxSections = 256;

/// The header of a file.
struct TextHeader {
  uint64_t magic;
  uint16_t major, minor;
  uint32_t numSections;
  uint64_t fileBytes;
  uint64_t referenceId;  ///< hash of the character tables, which follow Hugging Face's package tokenizers
  uint8_t inputHash[16]; ///< hash of the compiler's inputs for the sections (TextFileWriter::addInput)
  uint64_t checksum;     ///< computeHeaderChecksum of this header and the section table
  uint64_t reserved;     ///< 0
};
static_assert(sizeof(TextHeader) == 64, "the header is part of the format");

/// A flag of SectionEntry::flags: a reader that does not know the kind of the section must refuse the file.
constexpr uint32_t kSectionRequired = 1;

/// An entry of the section table.
struct SectionEntry {
  uint32_t kind;
  uint32_t flags;
  uint64_t offset; ///< in bytes from the beginning of the file, a multiple of kSectionAlignment
  uint64_t bytes;
  uint64_t checksum; ///< attune_checksum of the section's bytes
};
static_assert(sizeof(SectionEntry) == 32, "the section table is part of the format");

/// Returns the checksum of |header|, whose field |checksum| counts as 0, and of |table|, its header.numSections
/// entries.
inline uint64_t computeHeaderChecksum(TextHeader header, const SectionEntry *table) {
  header.checksum = 0;
  uint64_t first = attune_checksum(&header, sizeof(header));
  return attune_checksum_word(first, attune_checksum(table, size_t(header.numSections) * sizeof(SectionEntry)));
}

/// The number that stands for no id.
constexpr uint32_t kNoId = 0xFFFFFFFFu;

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TEXTFORMAT_H
