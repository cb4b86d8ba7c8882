//===- PieceCache.h - Tokens of pieces that occurred before ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most pieces of a text are words that occurred before. The cache holds their tokens in a fixed part of the tokenizer's
// memory, so results depend on the text alone and calls never allocate:
//
//     buckets   [entry entry] [entry entry] …     64 bytes each
//     entry     piece (16 bytes, filled with zeros) | up to 3 ids | their ends | size
//     arena     words: ids and ends of pieces with more tokens, and the bytes of pieces with more than 16
//
// A piece has two buckets: a new one goes to the second if only that has a free entry, else it takes the
// place of an entry of the first. So the table fills up before pieces are lost. A piece of up to 16 bytes is compared as two numbers,
// without a branch on its size. When the arena is full, its records become invalid all at once: entries carry the
// arena's generation.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_PIECECACHE_H
#define ATTUNE_RUNTIME_TEXT_PIECECACHE_H

#include "runtime/text/Memory.h"

namespace attune::text {

class PieceCache {
public:
  /// Longer pieces, and pieces of more tokens, are not kept.
  static constexpr size_t kMostBytes = 255, kMostTokens = 255;
  /// Pieces of up to this many bytes are compared as numbers.
  static constexpr size_t kShortBytes = 16;
  /// Words after a record that may be read.
  static constexpr size_t kRecordPadding = 4;
  /// Tokens of an entry without a record in the arena.
  static constexpr size_t kInlineTokens = 3;

  struct Entry {
    uint64_t first, second; ///< a short piece; else its first bytes and a hash of all
    uint32_t ids[kInlineTokens]; ///< with a record: the number of words written before it
    uint8_t ends[kInlineTokens]; ///< the end of each token in the piece, 0 if there is none
    uint8_t size;                ///< 1 to 16, or kInArena | the same, or kLong
  };
  static_assert(sizeof(Entry) == 32, "two entries are a cache line");

  /// The tokens of a piece.
  struct Record {
    const uint32_t *ids;
    const uint8_t *ends;
    size_t count;
  };

  /// A piece as the cache compares it.
  struct Key {
    uint64_t first, second;
    uint32_t bucket, other; ///< its buckets
    uint8_t size;
  };

  /// Returns the key of a piece of 1 to kMostBytes bytes. |readable| bytes may be read.
  static Key keyOf(const uint8_t *piece, size_t size, size_t readable) {
    Key key;
    if (__builtin_expect(size <= kShortBytes, 1)) {
      if (__builtin_expect(readable >= kShortBytes, 1)) {
        __builtin_memcpy(&key.first, piece, 8);
        __builtin_memcpy(&key.second, piece + 8, 8);
        key.first &= kMasks[size];
        key.second &= kMasks[size + kShortBytes + 1];
      } else {
        uint8_t padded[kShortBytes] = {};
        __builtin_memcpy(padded, piece, size);
        __builtin_memcpy(&key.first, padded, 8);
        __builtin_memcpy(&key.second, padded + 8, 8);
      }
      key.size = uint8_t(size);
    } else {
      __builtin_memcpy(&key.first, piece, 8);
      uint64_t hash = size, word;
      for (size_t i = 0; i + 8 <= size; i += 8) {
        __builtin_memcpy(&word, piece + i, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
      }
      __builtin_memcpy(&word, piece + size - 8, 8);
      key.second = (hash ^ word) * 0xD6E8FEB86659FD93ull;
      key.size = kLong;
    }
    uint64_t hash = key.first * 0x9E3779B97F4A7C15ull + key.second * 0xD6E8FEB86659FD93ull;
    hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull;
    key.bucket = uint32_t(hash >> (64 - kBucketBits));
    key.other = uint32_t(hash >> (60 - 2 * kBucketBits)) & ((1u << kBucketBits) - 1);
    return key;
  }

  /// Allocates the table, with all bytes zero.
  void open(Memory &memory) {
    Array<Entry> block = memory.take<Entry>(kEntries);
    Array<uint32_t> words = memory.take<uint32_t>(kArenaWords + kRecordPadding);
    entries = block.capacity == kEntries && words.capacity == kArenaWords + kRecordPadding ? block.data : nullptr;
    arena = words.data;
    written = 0;
  }
  /// Returns the number of bytes that |open| takes first and that must be zero.
  static constexpr size_t zeroBytes() { return sizeof(Entry) * kEntries; }
  explicit operator bool() const { return entries; }

  void prefetch(uint32_t bucket) const { __builtin_prefetch(entries + 2 * size_t(bucket)); }
  /// Fetches what is read after the first bucket: the record of |entry|, or the second bucket if it is null.
  void prefetchNext(const Entry *entry, const Key &key) const {
    const void *other = entries + 2 * size_t(key.other);
    const Entry &found = entry ? *entry : entries[0];
    const void *next = hasRecord(found) ? static_cast<const void *>(arena + found.ids[0] % kArenaWords) : &found;
    __builtin_prefetch(entry ? next : other);
  }
  /// Returns true if |entry| is the one of |key|.
  static bool holds(const Entry &entry, const Key &key) {
    return (entry.first == key.first) & (entry.second == key.second) & ((entry.size & ~kInArena) == key.size);
  }

  /// Returns the entry of a piece in a bucket, or null.
  const Entry *findIn(uint32_t index, const Key &key) const {
    const Entry *bucket = entries + 2 * size_t(index);
    const Entry *entry = bucket + holds(bucket[1], key);
    return holds(*entry, key) ? entry : nullptr;
  }
  /// Returns the entry of a piece, or null.
  const Entry *find(const Key &key) const {
    if (const Entry *entry = findIn(key.bucket, key); __builtin_expect(entry != nullptr, 1))
      return entry;
    return findIn(key.other, key);
  }
  /// Returns true if the tokens of |entry| are in the arena.
  static bool hasRecord(const Entry &entry) { return entry.size & kInArena; }
  /// Sets |record| to the tokens of |entry|. Returns false if they are gone or are those of another piece.
  bool read(const Entry &entry, const uint8_t *piece, size_t size, Record &record) const {
    const uint64_t place = uint64_t(entry.ids[1]) << 32 | entry.ids[0];
    if (written - place > kArenaWords)
      return false;
    const uint32_t *words = arena + place % kArenaWords;
    record.count = words[0] & 255;
    record.ids = words + 1;
    record.ends = reinterpret_cast<const uint8_t *>(record.ids + record.count);
    return size <= kShortBytes || (words[0] >> 8 == size && __builtin_memcmp(record.ends + record.count, piece, size) == 0);
  }

  /// Keeps the tokens of a piece of 1 to kMostBytes bytes, 1 to kMostTokens of them.
  void insert(const Key &key, const uint8_t *piece, size_t size, const uint32_t *ids, const uint8_t *ends, size_t count) {
    Entry entry = {key.first, key.second, {}, {}, key.size};
    if (count <= kInlineTokens && size <= kShortBytes) {
      for (size_t i = 0; i < count; ++i) {
        entry.ids[i] = ids[i];
        entry.ends[i] = ends[i];
      }
    } else {
      const size_t bytes = count + (size > kShortBytes ? size : 0), words = 1 + count + (bytes + 3) / 4;
      if (kArenaWords - written % kArenaWords < words)
        written += kArenaWords - written % kArenaWords;
      entry.size |= kInArena;
      entry.ids[0] = uint32_t(written);
      entry.ids[1] = uint32_t(written >> 32);
      uint32_t *record = arena + written % kArenaWords;
      record[0] = uint32_t(count | size << 8);
      __builtin_memcpy(record + 1, ids, count * 4);
      uint8_t *rest = reinterpret_cast<uint8_t *>(record + 1 + count);
      __builtin_memcpy(rest, ends, count);
      if (size > kShortBytes)
        __builtin_memcpy(rest + count, piece, size);
      written += words;
    }
    // A record of the piece that is gone is replaced.
    Entry *target = const_cast<Entry *>(find(key));
    if (!target)
      target = freeEntry(key.bucket);
    if (!target)
      target = freeEntry(key.other);
    if (!target) {
      target = entries + 2 * size_t(key.bucket);
      target[1] = target[0];
    }
    *target = entry;
  }

private:
  Entry *freeEntry(uint32_t index) {
    Entry *bucket = entries + 2 * size_t(index);
    return bucket[0].size == 0 ? bucket : bucket[1].size == 0 ? bucket + 1 : nullptr;
  }

  static constexpr uint8_t kInArena = 128, kLong = 64;
  static constexpr unsigned kBucketBits = 16;
  static constexpr size_t kEntries = size_t(2) << kBucketBits, kArenaWords = size_t(1) << 21;
  /// Masks of the first and of the second eight bytes of a piece, by its size.
  static constexpr uint64_t kMasks[2 * (kShortBytes + 1)] = {
      0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull,
      ~0ull, ~0ull, ~0ull, // the first
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~0ull};

  Entry *entries = nullptr;
  uint32_t *arena = nullptr;
  uint64_t written = 0; ///< words of all records so far
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_PIECECACHE_H
