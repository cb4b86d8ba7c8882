//===- Model.h - From pieces of text to tokens ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_MODEL_H
#define ATTUNE_RUNTIME_TEXT_MODEL_H

#include "runtime/text/AlignedText.h"
#include "runtime/text/Tables.h"

namespace attune::text {

/// A token of a text.
struct Token {
  uint32_t id;
  uint32_t word;       ///< number of the piece
  OriginalRange range; ///< original bytes; 0 unless offsets are wanted
  uint32_t leading;    ///< added tokens: characters of white space at the beginning of their text; kNoId for tokens of the model
  uint32_t trailing;   ///< the same at the end
};

/// A cache of the tokens of short pieces. The table is a fixed part of the tokenizer's memory; a new entry replaces the
/// old one of its slot.
class PieceCache {
public:
  static constexpr size_t kMostBytes = 16, kMostTokens = 8;
  struct Entry {
    uint64_t first, last; ///< the piece: its first and last bytes, which overlap
    uint32_t ids[kMostTokens];
    uint8_t ends[kMostTokens]; ///< end of each token in the piece
    uint8_t bytes, count;      ///< 0 bytes: empty
  };
  static_assert(sizeof(Entry) == 64, "an entry is a cache line");
  static constexpr size_t kEntries = 1 << 14;

  /// Allocates the table, with all bytes zero.
  void open(Memory &memory) {
    Array<Entry> block = memory.take<Entry>(kEntries);
    entries = block.capacity == kEntries ? block.data : nullptr;
  }
  /// Returns the slot of a piece of 1 to kMostBytes bytes. Sets |hit| to true if it holds this piece. Returns null
  /// without a cache.
  Entry *find(const uint8_t *piece, size_t size, bool &hit) {
    uint64_t first = 0, last = 0;
    if (size >= 8) {
      __builtin_memcpy(&first, piece, 8);
      __builtin_memcpy(&last, piece + size - 8, 8);
    } else if (size >= 4) {
      __builtin_memcpy(&first, piece, 4);
      __builtin_memcpy(&last, piece + size - 4, 4);
    } else {
      first = piece[0] | uint64_t(piece[size / 2]) << 8 | uint64_t(piece[size - 1]) << 16;
    }
    uint64_t hash = (first ^ (last << 23 | last >> 41) ^ size) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 32;
    if (!entries)
      return nullptr;
    Entry *entry = entries + (hash * 0xD6E8FEB86659FD93ull >> 50);
    hit = entry->first == first && entry->last == last && entry->bytes == size;
    if (!hit) {
      entry->first = first;
      entry->last = last;
      entry->bytes = 0;
    }
    return entry;
  }

private:
  static_assert(kEntries == 1 << 14, "the hash has 14 bits");
  Entry *entries = nullptr;
};

/// Applies a tokenizer's model to pieces.
class Model {
public:
  /// Allocates the buffers. |capacity| is the largest number of bytes of a piece.
  void open(const Tables &tables, Memory &memory, size_t capacity);
  /// Allocates the cache, which is kept between calls.
  void openCache(Memory &memory) { cache.open(memory); }

  /// Sets the array for tokens, and whether they have offsets.
  void begin(Array<Token> *target, bool ranges) {
    tokens = target;
    wantRanges = ranges;
    word = 0;
  }
  /// Appends the tokens of |piece|, which is not empty, as the next word.
  void tokenize(const AlignedText &piece);
  /// Appends the added token |id| for all of |piece| as the next word.
  void addWhole(uint32_t id, const AlignedText &piece);
  /// Returns true if a piece needed the unknown token but there is none.
  bool missedUnknown() const { return unknownMissing; }
  bool full() const { return scratchFull; }

private:
  void add(uint32_t id, const AlignedText &piece, size_t begin, size_t end) {
    OriginalRange range = {};
    if (wantRanges && begin < end)
      range = {piece.rangeAt(begin).begin, piece.rangeAt(end - 1).end};
    tokens->push({id < tables->settings.vocabSize ? id : 0, word, range, kNoId, kNoId});
  }
  void tokenizeWordPiece(const AlignedText &piece);
  void tokenizeWordLevel(const AlignedText &piece);
  void tokenizeUnigram(const AlignedText &piece);
  void addUnknown(const AlignedText &piece, size_t begin, size_t end);
  void tokenizeBpe(const AlignedText &piece);
  void tokenizeBpeUnit(const AlignedText &piece);

  /// A symbol of BPE: a token made so far, and its bytes in the piece.
  struct Symbol {
    uint32_t id, size;
    int32_t previous, next;
  };
  void startBpe(const AlignedText &piece);
  void startBpeCharacters(const AlignedText &piece);
  void joinUnknown(const AlignedText &piece);
  void mergeShort();
  void mergeLong();
  void pushPair(size_t left);

  const Tables *tables = nullptr;
  Array<Token> *tokens = nullptr;
  bool wantRanges = false, unknownMissing = false, scratchFull = false;
  uint32_t word = 0;
  PieceCache cache;
  Array<Symbol> symbols;
  Array<uint64_t> heap;
  /// Unigram: the best path to a byte.
  struct PathNode {
    double score;
    uint32_t start, id;
  };
  Array<PathNode> path;
  Array<uint32_t> cuts;
  uint32_t continuingRoot = kNoId; ///< WordPiece: the trie's node of the continuing prefix
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_MODEL_H
