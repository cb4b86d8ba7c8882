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
// Sections lie in the order of the table; padding is 0.
//
// A section is found by its kind, a number of four letters. To add one, add an enumerator to SectionKind and a
// case to isKnown in TextFile.cpp, let the compiler call TextFileWriter::add and the runtime TextFile::find. Readers
// skip kinds that they do not know, unless the section has the flag kSectionRequired.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TEXTFORMAT_H
#define ATTUNE_RUNTIME_TEXT_TEXTFORMAT_H

#include "attune/runtime.h"

#include <cstddef>
#include <cstdint>

namespace attune::text {

/// Returns the kind of a section from its name of four letters.
constexpr uint32_t sectionName(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) | uint32_t(uint8_t(name[1])) << 8 | uint32_t(uint8_t(name[2])) << 16 | uint32_t(uint8_t(name[3])) << 24;
}

/// The kinds of sections. The comment names the element type.
enum SectionKind : uint32_t {
  kSectionSettings = sectionName("CONF"),        ///< one Settings
  kSectionRules = sectionName("RULE"),           ///< one Rules: of tokenizers that need them
  kSectionStrings = sectionName("VOCB"),         ///< bytes of the tokens' strings, one after the other
  kSectionStringStarts = sectionName("VOCO"),    ///< u32 per id and one more: where its string starts in VOCB
  kSectionTokenFlags = sectionName("VOCF"),      ///< u8 per id: TokenFlag
  kSectionLookup = sectionName("HASH"),          ///< u32 per slot, a power of two: string to id, see hashBytes
  kSectionModelLookup = sectionName("MASH"),     ///< u32 as HASH, of the strings as the model sees them
  kSectionModelStrings = sectionName("MODS"),    ///< bytes of the model's strings, if they differ from VOCB
  kSectionModelStarts = sectionName("MODO"),     ///< u32 per id and one more, into MODS
  kSectionDecodeStrings = sectionName("DECS"),   ///< bytes of the strings that decoding takes, if they differ from VOCB
  kSectionDecodeStarts = sectionName("DECO"),    ///< u32 per id and one more, into DECS
  kSectionTrie = sectionName("TRIE"),            ///< TrieUnit, a power of two: prefixes of the model's strings
  kSectionMerges = sectionName("MERG"),          ///< MergeSlot, a power of two: pair of ids to merged id
  kSectionMergeTags = sectionName("MTAG"),       ///< u8 per slot of MERG and kMergeTagGroup more: mergeTag, 0 for empty slots
  kSectionSymbols = sectionName("SYMB"),         ///< 512 u32: ids of the bytes or byte tokens, then of the ASCII characters; kNoId if none
  kSectionScores = sectionName("SCOR"),          ///< f64 per id: Unigram scores
  kSectionSteps = sectionName("PIPE"),           ///< StepCounts, then the elements: Step, in the order of StepCounts
  kSectionPool = sectionName("POOL"),            ///< bytes of strings and tables that steps, settings and rules refer to
  kSectionCharacters = sectionName("CHAR"),      ///< u16: two-stage map from characters to CharacterFlags
  kSectionUnicode = sectionName("UNIC"),         ///< UnicodeTables: lower case, normalization forms, scripts, graphemes
  kSectionAddedTrie = sectionName("ADDT"),       ///< TrieUnit: added tokens that match the text itself
  kSectionAddedNormalTrie = sectionName("ADDN"), ///< TrieUnit: added tokens that match the normalized text
  kSectionChatTemplate = sectionName("CHAT"),    ///< compiled chat templates: chat/ChatFormat.h
  kSectionLabels = sectionName("LABL"),          ///< names of classes
  kSectionTask = sectionName("TASK"),            ///< use of the model with texts: tasks/TaskFormat.h
};

/// "ATTUNET1" as a little-endian number.
constexpr uint64_t kTextMagic = 0x3154454E55545441ull;
/// Readers refuse files of other major versions.
constexpr uint16_t kTextMajor = 2;
/// A file of a later minor version has more sections, none of which is required.
constexpr uint16_t kTextMinor = 0;
/// The alignment of sections in bytes.
constexpr size_t kSectionAlignment = 64;
/// The largest number of sections of a file.
constexpr uint32_t kMaxSections = 256;

/// The header of a file.
struct TextHeader {
  uint64_t magic;
  uint16_t major, minor;
  uint32_t numSections;
  uint64_t fileBytes;
  uint64_t referenceId;  ///< hash of the version of Hugging Face's tokenizers and of the character tables
  uint8_t inputHash[16]; ///< hash of the files that the tables were made from
  uint64_t checksum;     ///< computeHeaderChecksum of this header and the section table
  uint64_t reserved;     ///< 0
};
static_assert(sizeof(TextHeader) == 64, "the header is part of the format");

/// A flag: a reader that does not know the kind of the section must refuse the file.
constexpr uint32_t kSectionRequired = 1;

/// An entry of the section table.
struct SectionEntry {
  uint32_t kind;
  uint32_t flags;
  uint64_t offset; ///< from the beginning of the file, a multiple of kSectionAlignment
  uint64_t bytes;
  uint64_t checksum; ///< attune_checksum of the section's bytes
};
static_assert(sizeof(SectionEntry) == 32, "the section table is part of the format");

/// Returns the checksum of a header, whose field |checksum| counts as 0, and of its section table.
inline uint64_t computeHeaderChecksum(TextHeader header, const SectionEntry *table) {
  header.checksum = 0;
  uint64_t first = attune_checksum(&header, sizeof(header));
  return attune_checksum_word(first, attune_checksum(table, size_t(header.numSections) * sizeof(SectionEntry)));
}

/// The number that is no id.
constexpr uint32_t kNoId = 0xFFFFFFFFu;

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TEXTFORMAT_H
