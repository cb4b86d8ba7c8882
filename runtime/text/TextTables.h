//===- TextTables.h - The contents of sections ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of the sections of TextFormat.h. Offsets called "pool" count bytes in the section POOL.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TEXTTABLES_H
#define ATTUNE_RUNTIME_TEXT_TEXTTABLES_H

#include "runtime/text/TextFormat.h"

namespace attune::text {

/// A string in the pool.
struct PoolString {
  uint32_t offset, bytes;
};

//===--- Settings ----------------------------------------------------------===//

/// The algorithm that makes tokens from a piece of text.
enum class ModelKind : uint32_t { WordPiece = 1, Bpe = 2, Unigram = 3, WordLevel = 4 };

/// Options of the algorithm.
enum ModelFlag : uint32_t {
  kModelBytes = 1,        ///< BPE: the strings of the model are bytes, not the characters that stand for them
  kModelByteFallback = 2, ///< characters without a token become tokens of their bytes
  kModelFuseUnknown = 4,  ///< BPE: neighboring unknown characters are one token
  kModelIgnoreMerges = 8, ///< BPE: a piece that is a token is not merged
  kModelHasUnknown = 16,  ///< BPE: unknown characters become |unknownId|, an error if that is kNoId; without the flag they vanish
  kModelCutsAtMark = 32,  ///< BPE: no merge joins U+2581 to another character before it
  kModelWholeTokens = 64, ///< BPE: MASH has only tokens that merging makes of their own string
};

/// Defaults of attune_encode_options.
enum DefaultFlag : uint32_t {
  kDefaultPadLeft = 1,
  kDefaultTruncateLeft = 2,
  kDefaultSplitSpecial = 4,
  kDefaultGiveTypes = 8, ///< not a default of attune_encode_options: tasks pass token types to the model
};

/// The section CONF.
struct Settings {
  ModelKind model;
  uint32_t modelFlags;    ///< ModelFlag
  uint32_t vocabSize;     ///< every id is less
  uint32_t unknownId;     ///< kNoId if none
  uint32_t maxCharacters; ///< WordPiece: longer words are unknown
  uint32_t padId, padTypeId;
  PoolString continuingPrefix; ///< WordPiece and BPE
  PoolString endSuffix;        ///< BPE
  uint32_t defaults;           ///< DefaultFlag
  double unknownScore; ///< Unigram
};
static_assert(sizeof(Settings) == 56, "Settings is part of the format");

/// Rules of tokenizers that transformers implements in Python, without the package `tokenizers`.
enum RuleFlag : uint32_t {
  kRuleFloatSums = 1,    ///< Unigram: sums of scores are rounded to 32 bits
  kRuleJoinsUnknown = 2, ///< BPE: neighboring unknown characters are one token, the one with their string if there is one
  kRuleOddToFirst = 4,   ///< truncation of a pair: the first text keeps the odd token
  kRuleSplitsAdded = 8,  ///< split_special_tokens: no added token is found, special or not
};

/// The section RULE. A model may have pieces that are not in the vocabulary: their ids follow those of the vocabulary,
/// and the unknown token takes their place in the result.
struct Rules {
  uint32_t flags;        ///< RuleFlag
  uint32_t numPieces;    ///< every id of the model is less; at least the size of the vocabulary
  uint32_t firstUnknown; ///< BPE: ids from here on are characters that are unknown unless a merge joins them to others
  PoolString codeBegin;  ///< text between added tokens that begins with |codeBegin| is one token up to |codeEnd|
  PoolString codeEnd;
};
static_assert(sizeof(Rules) == 28, "Rules is part of the format");

/// The element of VOCF.
enum TokenFlag : uint8_t {
  kTokenExists = 1,
  kTokenSpecial = 2,    ///< attune_text_is_special
  kTokenSkipped = 4,    ///< decoding skips it with skip_special_tokens
  kTokenSingleWord = 8, ///< this and the next two: single_word, lstrip and rstrip of an added token
  kTokenStripLeft = 16,
  kTokenStripRight = 32,
  kTokenLiteral = 64, ///< DecodePieces: the string is text as it is
  kTokenCuts = 128,   ///< DecodePieces: the string is text as it is, and what follows is decoded as a text of its own
};

//===--- Tries and hash tables ---------------------------------------------===//

/// A node of a double-array trie over bytes: the child of node p by byte c is q = (base[p] ^ c) & mask if check[q] is
/// p. Node 0 is the root; the check of the root and of unused nodes is kNoId.
struct TrieUnit {
  uint32_t base, check;
  uint32_t value; ///< id of the string that ends here (NormalizePrecompiled: offset of its replacement), or kNoId
};

/// A slot of the hash table of BPE merges (section MERG); empty slots have the pair (kNoId, kNoId).
struct MergeSlot {
  uint32_t left, right, rank, id;
};

/// Returns the hash of a pair in MERG. Collisions are resolved by linear probing.
constexpr uint32_t hashPair(uint32_t left, uint32_t right) {
  uint64_t h = (uint64_t(left) << 32 | right) * 0x9E3779B97F4A7C15ull;
  return uint32_t(h >> 32) ^ uint32_t(h >> 7);
}

/// Returns the element of MTAG for a pair with this hash.
constexpr uint8_t mergeTag(uint32_t hash) { return hash >> 24 ? uint8_t(hash >> 24) : uint8_t(1); }
/// Elements of MTAG after the last slot; they repeat the first, so that a group can be read at any slot.
constexpr size_t kMergeTagGroup = 8;

/// Returns the hash of a string in HASH and MASH. Collisions are resolved by linear probing. A slot has the upper 8 bits
/// of the hash above the number of the string + 1, so that other strings are rarely read; 0 is an empty slot.
inline uint32_t hashBytes(const uint8_t *bytes, size_t size) {
  uint64_t h = 0xCBF29CE484222325ull ^ size;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, bytes + i, 8);
    h = (h ^ word) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  }
  uint64_t word = 0;
  __builtin_memcpy(&word, bytes + i, size - i);
  h = (h ^ word) * 0x9E3779B97F4A7C15ull;
  return uint32_t(h >> 32) ^ uint32_t(h);
}

/// The bits of a slot of HASH and MASH for the number of the string + 1.
constexpr uint32_t kLookupNumber = 0xFFFFFF;

//===--- Characters --------------------------------------------------------===//

/// Code points per block of two-stage maps.
constexpr uint32_t kMapBlock = 128;
/// Entries of the first stage.
constexpr uint32_t kMapStage = 0x110000 / kMapBlock;

/// The flags in the section CHAR, which has a u16 block number for each 128 code points, then blocks of 128 u16 flags,
/// a power of two of them. Block 0 is ASCII.
enum CharacterFlag : uint16_t {
  kCharWhiteSpace = 1 << 0,
  kCharNumeric = 1 << 1,
  kCharPunctuation = 1 << 2,
  kCharBertDropped = 1 << 3,
  kCharBertSpace = 1 << 4,
  kCharBertChinese = 1 << 5,
  kCharBertMark = 1 << 6,
  kCharMark = 1 << 7,
  kCharWord = 1 << 8,
  kCharNmtDropped = 1 << 9,
  kCharNmtSpace = 1 << 10,
  kCharLowers = 1 << 11,     ///< changed by Lowercase
  kCharCanonical = 1 << 12,  ///< changed or moved by NFD
  kCharCompatible = 1 << 13, ///< changed or moved by NFKD
  kCharComposes = 1 << 14,   ///< NFC may change a text with it
};

/// The section UNIC: this, then its tables. Counts are of elements, offsets of bytes from the beginning of the
/// section. A table that no step needs is empty.
struct UnicodeTables {
  struct Range {
    uint32_t offset, count;
  };
  Range lowercase, canonical, compatible; ///< MappedCharacter, sorted
  Range characters;                       ///< u32: what characters become
  Range compositions;                     ///< ComposedPair, sorted
  Range combining;                        ///< u32 runs, start << 8 | combining class
  Range scripts;                          ///< u32 runs, start << 8 | script
  Range graphemes;                        ///< u32 runs, start << 8 | GraphemeClass and flags
};

/// A character and the characters that it becomes.
struct MappedCharacter {
  uint32_t character;
  uint32_t place; ///< index into |characters| << 5 | number of characters
};

/// Two characters and the character that canonical composition makes of them.
struct ComposedPair {
  uint32_t first, second, composed;
};

/// The values of Unicode's property Grapheme_Cluster_Break, and flags for other properties.
enum GraphemeClass : uint8_t {
  kGraphemeOther,
  kGraphemeCr,
  kGraphemeLf,
  kGraphemeControl,
  kGraphemeExtend,
  kGraphemeZwj,
  kGraphemeRegional,
  kGraphemePrepend,
  kGraphemeSpacing,
  kGraphemeL,
  kGraphemeV,
  kGraphemeT,
  kGraphemeLV,
  kGraphemeLVT,
  kGraphemeMask = 15,
  kGraphemePictographic = 16, ///< Extended_Pictographic
  kGraphemeLinker = 32,       ///< Indic_Conjunct_Break
  kGraphemeConsonant = 64,
  kGraphemeConjunctExtend = 128,
};

//===--- Automata ----------------------------------------------------------===//

/// The regular expressions that PieceMasks splits by; PieceMasks.cpp quotes them.
enum class MaskScheme : uint32_t {
  None = 0,
  Gpt2 = 1,            ///< words with the space before them
  PrefixedDigits3 = 2, ///< words with the character before them, up to three digits: Llama 3
  PrefixedDigits1 = 3, ///< the same with single digits: Qwen 2
};

/// A regular expression as a table. Automaton.h says how it runs. At a multiple of 4 in the pool, followed by
///   u8  ascii[128]                the class of ASCII characters
///   u16 stage1[kMapStage]         block of each 128 code points
///   u8  stage2[numBlocks * 128]   classes
///   u16 starts[stride]            start state after a character of each class, [numClasses] at the beginning;
///                                 without startsByClass element 0 is the start state
///   u16 table[numStates * stride] kAcceptBefore | next state; column numClasses is the end of the text
struct AutomatonHeader {
  uint32_t numStates; ///< a power of two, at most 32768; state 0 is dead
  uint32_t numClasses;
  uint32_t stride;    ///< a power of two, more than numClasses
  uint32_t numBlocks; ///< a power of two
  uint32_t startsByClass;
  uint32_t bytes; ///< size of header and tables
  MaskScheme scheme;
};
constexpr uint16_t kAcceptBefore = 0x8000;

//===--- Steps -------------------------------------------------------------===//

/// The operations of the section PIPE. Arguments a to f are numbers, strings in the pool (two arguments each), or
/// offsets of automata in the pool.
enum class StepKind : uint32_t {
  // Normalizers
  NormalizeBert = 1,         ///< a: BertFlag
  NormalizeForm = 2,         ///< a: FormFlag
  NormalizeLowercase = 3,    //
  NormalizeStripAccents = 4, //
  NormalizeStrip = 5,        ///< a: 1 left, 2 right
  NormalizePrepend = 6,      ///< ab: text
  NormalizeReplace = 7,      ///< ab: content, c: automaton or kNoId, de: literal
  NormalizePrecompiled = 8,  ///< a: pool offset of TrieUnits, b: their number, a power of two, c: pool offset of replacements (u32 bytes,
                             ///< then text), d: bytes of them
  NormalizeNmt = 9,          //
  NormalizeByteLevel = 10,   //
  NormalizePieces = 11,      ///< a: pool offset of a map's units (u32), b: their number, c: pool offset of its texts, which end with
                             ///< a zero, d: bytes of them, e: PiecesFlag

  // Pre-tokenizers
  SplitBert = 32,        //
  SplitByteLevel = 33,   ///< a: 1 prefix space, 2 maps bytes to characters; b: automaton or kNoId
  SplitMetaspace = 34,   ///< ab: replacement, c: MetaspaceScheme, d: 1 splits
  SplitPattern = 35,     ///< a: SplitBehavior, b: 1 inverted, c: automaton or kNoId, de: literal
  SplitWhitespace = 36,  ///< \w+|[^\w\s]+
  SplitWhiteSpaces = 37, ///< at white space
  SplitPunctuation = 38, ///< a: SplitBehavior
  SplitDigits = 39,      ///< a: 1 each digit
  SplitDelimiter = 40,   ///< a: character
  SplitScripts = 41,     //
  SplitLength = 42,      ///< a: characters

  // Post-processors
  ProcessTrim = 64,     ///< a: 1 a prefix space was added
  ProcessTemplate = 65, ///< a: pool offset of the single TemplatePieces, b: count, c, d: those of pairs, e: TemplateFlag

  // Decoders
  DecodeWordPiece = 96,     ///< ab: prefix, c: 1 cleans up
  DecodeByteLevel = 97,     ///< a: 1 drops bytes that are not UTF-8
  DecodeMetaspace = 98,     ///< a: replacement, b: 1 drops it in the first token
  DecodeBpe = 99,           ///< ab: suffix
  DecodeByteFallback = 100, //
  DecodeFuse = 101,         ///< a: 1 puts a space between tokens
  DecodeStrip = 102,        ///< a: character, b: most at the start, c: most at the end
  DecodeReplace = 103,      ///< as NormalizeReplace
  DecodeCtc = 104,          ///< ab: pad token, cd: word delimiter, e: 1 cleans up and makes the delimiter a space
  DecodePieces = 105,       ///< a: DecodePiecesFlag; may only be the first decoder
  DecodeTrim = 106,         ///< removes white space at both ends of each string
};

/// A step of the section PIPE: an operation and its arguments, whose meaning depends on |kind|.
struct Step {
  StepKind kind;
  uint32_t a, b, c, d, e, f, reserved;
};
static_assert(sizeof(Step) == 32, "Step is part of the format");

/// The beginning of the section PIPE, which the steps follow in this order.
struct StepCounts {
  uint32_t normalizers, preTokenizers, processors, decoders;
  uint32_t hasDecoder; ///< 0: decoding joins tokens by spaces
  uint32_t reserved[3];
};

/// The arguments of NormalizeBert: clean control characters, separate Chinese characters, drop accents, lower case.
enum BertFlag : uint32_t { kBertClean = 1, kBertChinese = 2, kBertAccents = 4, kBertLower = 8 };
/// SentencePiece's treatment of white space. A mark is U+2581.
enum PiecesFlag : uint32_t {
  kPiecesTrim = 1,     ///< drops spaces at both ends and after a space
  kPiecesBegin = 2,    ///< adds a mark at the beginning
  kPiecesEnd = 4,      ///< adds a mark at the end
  kPiecesUnmarked = 8, ///< spaces stay spaces, and a space is added instead of a mark
};
/// The treatment of marks when tokens become text.
enum DecodePiecesFlag : uint32_t {
  kDecodeDropsMark = 1,  ///< drops a mark at the beginning of a text
  kDecodeDropsMarks = 2, ///< drops one at the beginning of each token until there is text
  kDecodeByteTokens = 4, ///< tokens as <0x0A> are bytes
};
/// The Unicode normalization form: 0 is NFD, kFormCompose NFC, kFormCompatible NFKD, both flags NFKC.
enum FormFlag : uint32_t { kFormCompatible = 1, kFormCompose = 2 };
/// The pieces before which SplitMetaspace puts its replacement, unless they begin with it or with a space: none, those
/// at the beginning of the original text, or all.
enum class MetaspaceScheme : uint32_t { Never = 0, First = 1, Always = 2 };
/// The treatment of the matches of a pattern: removed, pieces of their own, joined to the piece before or after, or
/// joined to neighboring matches.
enum class SplitBehavior : uint32_t { Removed = 0, Isolated = 1, MergedWithPrevious = 2, MergedWithNext = 3, Contiguous = 4 };

/// A part of a post-processor's template.
struct TemplatePiece {
  uint32_t kind; ///< 0, 1: the first or second text; 2: the token |id|; 3: the token |id|, unless the text before ends with it
  uint32_t typeId;
  uint32_t id;
};
/// Options of a post-processor's template.
enum TemplateFlag : uint32_t {
  kTemplateTypesWithSpecial = 1, ///< without special tokens, type ids stay 0 and 1
  kTemplateTypesOfWindows = 2,   ///< with special tokens, further windows have the types of the template, too
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TEXTTABLES_H
