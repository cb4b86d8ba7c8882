//===- TextTables.h - The contents of sections ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of the sections of TextFormat.h. A "pool offset" counts bytes from the beginning of the section POOL.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TEXTTABLES_H
#define ATTUNE_RUNTIME_TEXT_TEXTTABLES_H

#include "runtime/text/TextFormat.h"

namespace attune::text {

/// A string in the section POOL: its pool offset and its size in bytes.
struct PoolString {
  uint32_t offset, bytes;
};

//===--- Settings ----------------------------------------------------------===//

/// The algorithm that makes tokens from a piece of text.
enum class ModelKind : uint32_t { WordPiece = 1, Bpe = 2, Unigram = 3, WordLevel = 4 };

/// Options of the algorithm; the models to which an option applies come first.
enum ModelFlag : uint32_t {
  kModelBytes = 1,        ///< BPE: the strings of the model are bytes, not the characters that stand for them
  kModelByteFallback = 2, ///< BPE and Unigram: characters without a token become tokens of their bytes
  kModelFuseUnknown = 4,  ///< BPE: neighboring unknown characters become one unknown token
  kModelIgnoreMerges = 8, ///< BPE: a piece that is a token becomes this token, whatever the merges make of it
  kModelHasUnknown = 16,  ///< BPE: unknown characters become |unknownId|, and encoding fails if that is kNoId; without
                          ///< the flag unknown characters vanish
  kModelCutsAtMark = 32,  ///< BPE: no merge joins a U+2581 to a character before it other than U+2581
  kModelWholeTokens = 64, ///< BPE: MASH has only tokens that merging makes of their own string
};

/// Defaults of the fields of attune_encode_options.
enum DefaultFlag : uint32_t {
  kDefaultPadLeft = 1,
  kDefaultTruncateLeft = 2,
  kDefaultSplitSpecial = 4,
  kDefaultGiveTypes = 8, ///< no such default: tasks pass token types to the model
};

/// The section CONF.
struct Settings {
  ModelKind model;
  uint32_t modelFlags;    ///< ModelFlag
  uint32_t vocabSize;     ///< every id is less
  uint32_t unknownId;     ///< kNoId if none
  uint32_t maxCharacters; ///< WordPiece: words of more characters become the unknown token
  uint32_t padId, padTypeId;
  PoolString continuingPrefix; ///< WordPiece and BPE: begins the strings of tokens that continue a word
  PoolString endSuffix;        ///< BPE: ends the strings of tokens at the end of a word
  uint32_t defaults;           ///< DefaultFlag
  double unknownScore;         ///< Unigram: the score of an unknown character
};
static_assert(sizeof(Settings) == 56, "Settings is part of the format");

/// Rules of tokenizers that transformers implements in Python, without the package `tokenizers`.
enum RuleFlag : uint32_t {
  kRuleFloatSums = 1,       ///< Unigram: sums of scores are rounded to f32
  kRuleJoinsUnknown = 2,    ///< BPE: neighboring unknown characters become the token with their string, if there is such a
                            ///< token, else one unknown token
  kRuleOddToFirst = 4,      ///< if both texts of a pair are truncated to an odd number of tokens, the first has one more
  kRuleSplitsAdded = 8,     ///< with split_special_tokens no added token is found, special or not
  kRuleMergesTogether = 16, ///< BPE: all pairs of the least rank are merged before the new pairs are looked at
};

/// The section RULE. A model may have pieces that are not in the vocabulary. The ids of these pieces follow those of
/// the vocabulary, and the unknown token replaces them in the result.
struct Rules {
  uint32_t flags;        ///< RuleFlag
  uint32_t numPieces;    ///< every id of the model is less; at least the size of the vocabulary
  uint32_t firstUnknown; ///< BPE: ids from here on are characters that are unknown unless a merge joins them to others;
                         ///< kNoId if there are none
  PoolString codeBegin;  ///< if a text between added tokens begins with |codeBegin|, all up to and including the first
                         ///< |codeEnd| is one token
  PoolString codeEnd;    ///< empty if there is no such rule
};
static_assert(sizeof(Rules) == 28, "Rules is part of the format");

/// The flags of a token, an element of VOCF.
enum TokenFlag : uint8_t {
  kTokenExists = 1,
  kTokenSpecial = 2,    ///< a special token, see attune_text_is_special
  kTokenSkipped = 4,    ///< decoding skips it with skip_special_tokens
  kTokenSingleWord = 8, ///< this and the next two: single_word, lstrip and rstrip of an added token
  kTokenStripLeft = 16,
  kTokenStripRight = 32,
  kTokenLiteral = 64, ///< DecodePieces: the string is text as it is, U+2581 included
  kTokenCuts = 128,   ///< DecodePieces: as kTokenLiteral, and the next token begins another text
};

//===--- Tries and hash tables ---------------------------------------------===//

/// A node of a double-array trie over bytes. The child of node p by byte c is q = (base[p] ^ c) & (number of nodes - 1)
/// if check[q] is p; else there is none. Node 0 is the root; the check of the root and of unused nodes is kNoId.
struct TrieUnit {
  uint32_t base, check;
  uint32_t value; ///< id of the string that ends here (NormalizePrecompiled: offset of its replacement), or kNoId
};

/// A slot of the hash table of BPE merges (section MERG): the neighbors with the ids |left| and |right| become |id|.
/// The pair with the least |rank| is merged first. In an empty slot all fields are kNoId.
struct MergeSlot {
  uint32_t left, right, rank, id;
};

/// Returns the hash of a pair in MERG. The slot of a pair is the hash modulo the number of slots or, after collisions,
/// one of the next slots (linear probing).
constexpr uint32_t hashPair(uint32_t left, uint32_t right) {
  uint64_t h = (uint64_t(left) << 32 | right) * 0x9E3779B97F4A7C15ull;
  return uint32_t(h >> 32) ^ uint32_t(h >> 7);
}

/// Returns the element of MTAG for a pair with this hash, never 0, which marks an empty slot.
constexpr uint8_t mergeTag(uint32_t hash) { return hash >> 24 ? uint8_t(hash >> 24) : uint8_t(1); }
/// The number of elements of MTAG beyond those of the slots. They repeat the first elements, so that a group of this
/// size can be read at any slot.
constexpr size_t kMergeTagGroup = 8;

/// Returns the hash of a string in HASH and MASH. Collisions are resolved by linear probing. A slot is 0 if it is
/// empty, else (hash & ~kLookupNumber) | (id + 1). The upper 8 bits of the hash let a search skip most other strings
/// without reading them.
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

/// The bits of a slot of HASH and MASH that hold the id of its string + 1.
constexpr uint32_t kLookupNumber = 0xFFFFFF;

//===--- Characters --------------------------------------------------------===//

/// Code points per block of two-stage maps.
constexpr uint32_t kMapBlock = 128;
/// Entries of the first stage of a two-stage map, one for each block of code points.
constexpr uint32_t kMapStage = 0x110000 / kMapBlock;

/// The flags of a character in the section CHAR. The section has a u16 block number for each 128 code points, then the
/// blocks, each of 128 u16 flags. The number of blocks is a power of two; block 0 is ASCII. The first 11 flags are the
/// sets of Predicate (compiler/Text/CharacterTables.h).
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
  kCharLowers = 1 << 11,     ///< changed by NormalizeLowercase
  kCharCanonical = 1 << 12,  ///< NFD changes it, or may move it among other marks
  kCharCompatible = 1 << 13, ///< NFKD changes it, or may move it among other marks
  kCharComposes = 1 << 14,   ///< NFC changes no text without such a character
};

/// The beginning of the section UNIC, which the tables follow. A range is a table: its offset in bytes from the
/// beginning of the section, and the number of its elements, 0 if no step needs the table. Runs are sorted by their
/// first character, start; each extends to the next.
struct UnicodeTables {
  struct Range {
    uint32_t offset, count;
  };
  Range lowercase, canonical, compatible; ///< MappedCharacter, sorted by |character|
  Range characters;                       ///< u32: the replacements in |lowercase|, |canonical| and |compatible|
  Range compositions;                     ///< ComposedPair, sorted by |first|, then |second|
  Range combining;                        ///< u32 runs, start << 8 | combining class
  Range scripts;                          ///< u32 runs, start << 8 | script
  Range graphemes;                        ///< u32 runs, start << 8 | GraphemeClass and flags
};

/// A character and the characters that it becomes.
struct MappedCharacter {
  uint32_t character;
  uint32_t place; ///< (index into UnicodeTables::characters) << 5 | number of characters
};

/// Two characters and the character that canonical composition makes of them.
struct ComposedPair {
  uint32_t first, second, composed;
};

/// The values of Unicode's property Grapheme_Cluster_Break, which kGraphemeMask selects, and flags for other
/// properties.
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
  kGraphemeLinker = 32,       ///< Indic_Conjunct_Break is Linker; the next two: Consonant, Extend
  kGraphemeConsonant = 64,
  kGraphemeConjunctExtend = 128,
};

//===--- Automata ----------------------------------------------------------===//

/// The regular expressions that PieceMasks splits by, None for any other; PieceMasks.cpp quotes them.
enum class MaskScheme : uint32_t {
  None = 0,
  Gpt2 = 1,            ///< words with the space before them
  PrefixedDigits3 = 2, ///< words with the character before them, groups of up to three digits (Llama 3)
  PrefixedDigits1 = 3, ///< the same with single digits (Qwen 2)
};

/// A regular expression as a table, which Automaton.h runs. The header is at a pool offset that is a multiple of 4. The
/// tables follow it:
///   u8  ascii[128]                class of each ASCII character
///   u16 stage1[kMapStage]         block of each 128 code points
///   u8  stage2[numBlocks * 128]   classes
///   u16 starts[stride]            start state after a character of each class, [numClasses] that at the beginning of a
///                                 text; if startsByClass is 0, only [0] counts, the one start state
///   u16 table[numStates * stride] an entry for each state and class of the next character: the next state, and
///                                 kAcceptBefore if the text before the character is a match; column numClasses is for
///                                 the end of the text
struct AutomatonHeader {
  uint32_t numStates; ///< a power of two, at most 32768; no match follows from state 0
  uint32_t numClasses;
  uint32_t stride;    ///< a power of two, more than numClasses
  uint32_t numBlocks; ///< a power of two
  uint32_t startsByClass;
  uint32_t bytes; ///< size of header and tables
  MaskScheme scheme;
};
constexpr uint16_t kAcceptBefore = 0x8000;

//===--- Steps -------------------------------------------------------------===//

/// The operations of the section PIPE, with the meaning of the arguments a to f. Two letters, such as ab, are a
/// PoolString. An automaton is the pool offset of an AutomatonHeader, or kNoId for none.
enum class StepKind : uint32_t {
  // Normalizers
  NormalizeBert = 1,         ///< a: BertFlag
  NormalizeForm = 2,         ///< a: FormFlag
  NormalizeLowercase = 3,    //
  NormalizeStripAccents = 4, //
  NormalizeStrip = 5,        ///< removes white space; a: 1 at the left | 2 at the right
  NormalizePrepend = 6,      ///< ab: prefix
  NormalizeReplace = 7,      ///< ab: replacement, c: automaton or kNoId, de: the literal that is replaced without one
  NormalizePrecompiled = 8,  ///< a: pool offset of TrieUnits, b: their number, a power of two, c: pool offset of the
                             ///< replacements, each a u32 size in bytes and then the text, d: size of all in bytes
  NormalizeNmt = 9,          //
  NormalizeByteLevel = 10,   //
  NormalizePieces = 11,      ///< a: pool offset of the u32 units of a PrefixMap, b: their number, 0 without a map,
                             ///< c: pool offset of the map's texts, each of which ends with a zero, d: size of all in
                             ///< bytes, e: PiecesFlag

  // Pre-tokenizers
  SplitBert = 32,        //
  SplitByteLevel = 33,   ///< a: 1 puts a space before a text that lacks one | 2 maps bytes to characters,
                         ///< b: automaton or kNoId
  SplitMetaspace = 34,   ///< ab: the replacement of spaces, c: MetaspaceScheme, d: 1 splits before each replacement
  SplitPattern = 35,     ///< a: SplitBehavior, b: 1 inverted, c: automaton or kNoId, de: literal without one
  SplitWhitespace = 36,  ///< the pieces are the matches of \w+|[^\w\s]+
  SplitWhiteSpaces = 37, ///< at white space, which is removed
  SplitPunctuation = 38, ///< a: SplitBehavior
  SplitDigits = 39,      ///< a: 1 around each digit, 0 around each run of digits
  SplitDelimiter = 40,   ///< a: the character at which texts are split, which is removed
  SplitScripts = 41,     //
  SplitLength = 42,      ///< a: number of characters of a piece

  // Post-processors
  ProcessTrim = 64,     ///< removes white space from offsets; a: 1 keeps a single one at the beginning of a text or
                        ///< window
  ProcessTemplate = 65, ///< a: pool offset of the TemplatePieces for one text, b: their number, c, d: the same for a
                        ///< pair, e: TemplateFlag

  // Decoders
  DecodeWordPiece = 96,     ///< ab: prefix of continuing tokens, c: 1 cleans up spaces (Decoder::putClean)
  DecodeByteLevel = 97,     ///< a: 1 drops bytes that are not UTF-8, 0 writes U+FFFD for them
  DecodeMetaspace = 98,     ///< a: the character that becomes a space, b: 1 drops it in the first token
  DecodeBpe = 99,           ///< ab: suffix, which becomes a space, or nothing in the last token
  DecodeByteFallback = 100, //
  DecodeFuse = 101,         ///< a: 1 puts a space between tokens
  DecodeStrip = 102,        ///< a: character, b: the most of them to remove at the start of each token, c: at the end
  DecodeReplace = 103,      ///< as NormalizeReplace
  DecodeCtc = 104,          ///< ab: pad token, cd: word delimiter, e: 1 cleans up and replaces the delimiter by a space
  DecodePieces = 105,       ///< a: DecodePiecesFlag; may only be the first decoder
  DecodeTrim = 106,         ///< removes white space at both ends of each string
  DecodeContinued = 107,    ///< joins the tokens with spaces between them; ab: suffix of tokens that the next one
                            ///< continues, which is removed with the space after it
};

/// A step of the section PIPE: an operation and its arguments, whose meaning StepKind describes.
struct Step {
  StepKind kind;
  uint32_t a, b, c, d, e, f, reserved;
};
static_assert(sizeof(Step) == 32, "Step is part of the format");

/// The numbers of steps at the beginning of the section PIPE. The steps follow in the order of the first four fields.
struct StepCounts {
  uint32_t normalizers, preTokenizers, processors, decoders;
  uint32_t hasDecoder; ///< 0: decoding joins tokens by spaces
  uint32_t reserved[3];
};

/// The flags of NormalizeBert: remove control characters and replace white space by spaces, put spaces around Chinese
/// characters, remove accents, convert to lower case.
enum BertFlag : uint32_t { kBertClean = 1, kBertChinese = 2, kBertAccents = 4, kBertLower = 8 };
/// SentencePiece's treatment of white space. A mark is U+2581.
enum PiecesFlag : uint32_t {
  kPiecesTrim = 1,     ///< drops spaces at both ends of a text and after a space
  kPiecesBegin = 2,    ///< adds a mark at the beginning
  kPiecesEnd = 4,      ///< adds a mark at the end
  kPiecesUnmarked = 8, ///< spaces stay spaces, and a space is added instead of a mark
};
/// The treatment of marks when tokens become text.
enum DecodePiecesFlag : uint32_t {
  kDecodeDropsMark = 1,  ///< drops a mark at the beginning of a text
  kDecodeDropsMarks = 2, ///< drops a mark at the beginning of each token until there is text
  kDecodeByteTokens = 4, ///< tokens such as <0x0A> stand for bytes
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
  kTemplateTypesWithSpecial = 1, ///< without add_special_tokens, the type ids of texts are 0 and 1
  kTemplateTypesOfWindows = 2,   ///< with add_special_tokens, windows after the first also have the template's type ids
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TEXTTABLES_H
