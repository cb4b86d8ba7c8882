//===- PieceCache.h - Tokens of pieces that occurred before ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most pieces of a text are words that occurred before. The cache holds their tokens in a fixed part of the tokenizer's
// memory, so calls never allocate. A hit is always the same piece, so results depend on the text alone. The layout:
//
//     buckets   [entry entry] [entry entry] …     64 bytes each
//     entry     key (16 bytes) | up to 3 ids | their ends | state
//     arena     a ring of 32-bit words: a record of ids and ends for each piece of more than 3 tokens or more than 15
//               bytes, in the latter case with the bytes
//
// A piece may be in either of two buckets. A new piece takes a free entry of its first bucket, or else one of its
// second bucket. If both are full, it takes the first entry of its first bucket, whose former piece moves to the second
// entry and replaces the piece there. So a piece is lost only when both buckets of a new one are full. The key of a
// piece of up to 15 bytes is the piece itself, two numbers that are compared without a branch on its size. Free entries
// are zeros; no key is zero, since each has the byte FF. A full arena overwrites its oldest records: an entry has the
// number of words written before its record, which tells whether the record is still there.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_PIECECACHE_H
#define ATTUNE_RUNTIME_TEXT_PIECECACHE_H

#include "runtime/text/Memory.h"

namespace attune::text {

/// Masks for pieces of one size, up to 15 bytes. |first| and |second| have the bits of the piece in the two numbers of
/// its key, |firstEnd| and |secondEnd| the bits of the byte FF after it.
struct PieceMask {
  uint64_t first, second, firstEnd, secondEnd;

  static constexpr PieceMask of(unsigned size) {
    const uint64_t all = ~uint64_t(0), end = uint64_t(0xFF) << size % 8 * 8, part = (uint64_t(1) << size % 8 * 8) - 1;
    return size < 8 ? PieceMask{part, 0, end, 0} : PieceMask{all, part, 0, end};
  }
};
inline constexpr PieceMask kPieceMasks[16] = {PieceMask::of(0),  PieceMask::of(1),  PieceMask::of(2),  PieceMask::of(3),
                                              PieceMask::of(4),  PieceMask::of(5),  PieceMask::of(6),  PieceMask::of(7),
                                              PieceMask::of(8),  PieceMask::of(9),  PieceMask::of(10), PieceMask::of(11),
                                              PieceMask::of(12), PieceMask::of(13), PieceMask::of(14), PieceMask::of(15)};

/// The cache. Its memory is the caller's.
class PieceCache {
public:
  /// The most bytes and the most tokens of a piece that is kept.
  static constexpr size_t kMostBytes = 255, kMostTokens = 255;
  /// Pieces of up to this many bytes are compared as numbers.
  static constexpr size_t kShortBytes = 15;
  /// The number of 32-bit words after a record that readers may load, though they do not belong to it.
  static constexpr size_t kRecordPadding = 4;
  /// The most tokens that an entry holds itself; more go to a record in the arena.
  static constexpr size_t kInlineTokens = 3;

  struct Entry {
    uint64_t first, second;      ///< the key
    uint32_t ids[kInlineTokens]; ///< with a record: words written before it, low half in ids[0], high half in ids[1]
    uint8_t ends[kInlineTokens]; ///< end of each token in bytes of the piece, 0 if there is none or a record
    uint8_t state;               ///< kFree, kInline or kInArena
  };
  static_assert(sizeof(Entry) == 32, "two entries are a cache line");

  /// The tokens of a piece.
  struct Record {
    const uint32_t *ids;
    const uint8_t *ends;
    size_t count;
  };

  /// A piece as the cache compares it. The key of a short piece has its bytes and then the byte FF, which UTF-8 never
  /// has. The key of a long piece has the byte FF, the second to the eighth byte of the piece and a hash of all its bytes.
  struct Key {
    uint64_t first, second; ///< not both 0
    uint32_t bucket, other; ///< its first and second bucket
  };

  /// Returns the key of a piece of 1 to kMostBytes bytes. |readable|, at least |size|, is the number of bytes that may
  /// be read at |piece|.
  static Key keyOf(const uint8_t *piece, size_t size, size_t readable) {
    Key key;
    if (__builtin_expect(size <= kShortBytes, 1)) {
      if (__builtin_expect(readable >= sizeof(key.first) + sizeof(key.second), 1)) {
        __builtin_memcpy(&key.first, piece, 8);
        __builtin_memcpy(&key.second, piece + 8, 8);
      } else {
        uint8_t padded[sizeof(key.first) + sizeof(key.second)] = {};
        __builtin_memcpy(padded, piece, size);
        __builtin_memcpy(&key.first, padded, 8);
        __builtin_memcpy(&key.second, padded + 8, 8);
      }
      const PieceMask &mask = kPieceMasks[size];
      key.first = (key.first & mask.first) | mask.firstEnd;
      key.second = (key.second & mask.second) | mask.secondEnd;
    } else {
      __builtin_memcpy(&key.first, piece, 8);
      uint64_t hash = size, word;
      for (size_t i = 0; i + 8 <= size; i += 8) {
        __builtin_memcpy(&word, piece + i, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
      }
      __builtin_memcpy(&word, piece + size - 8, 8);
      key.first |= kEnd;
      key.second = (hash ^ word) * 0xD6E8FEB86659FD93ull;
    }
    const uint64_t hash = key.first * 0x9E3779B97F4A7C15ull ^ key.second * 0xD6E8FEB86659FD93ull;
    key.bucket = uint32_t(hash >> (64 - kBucketBits));
    key.other = uint32_t(hash >> (64 - 2 * kBucketBits)) & ((1u << kBucketBits) - 1);
    return key;
  }

  /// Allocates the table, whose bytes must already be zero in |memory|, and the arena. Without enough memory there is
  /// no cache: the object converts to false, and its other functions must not be called.
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
  /// Prefetches the memory that a lookup reads after the first bucket: the record of |entry| if it has one, or the
  /// second bucket if |entry| is null.
  void prefetchNext(const Entry *entry, const Key &key) const {
    const void *other = entries + 2 * size_t(key.other);
    const Entry &found = entry ? *entry : entries[0];
    const void *next = hasRecord(found) ? static_cast<const void *>(arena + found.ids[0] % kArenaWords) : &found;
    __builtin_prefetch(entry ? next : other);
  }
  /// Returns true if |entry| is the one of |key|.
  static bool holds(const Entry &entry, const Key &key) { return ((entry.first ^ key.first) | (entry.second ^ key.second)) == 0; }

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
  static bool hasRecord(const Entry &entry) { return entry.state == kInArena; }
  /// Sets |record| to the tokens of |entry|, which has a record. Returns false if the record was overwritten or is that
  /// of another piece.
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

  /// Keeps |count| tokens, 1 to kMostTokens, of a piece of 1 to kMostBytes bytes: their ids, and their ends in bytes of
  /// the piece.
  void insert(const Key &key, const uint8_t *piece, size_t size, const uint32_t *ids, const uint8_t *ends, size_t count) {
    Entry entry = {key.first, key.second, {}, {}, kInline};
    if (count <= kInlineTokens && size <= kShortBytes) {
      for (size_t i = 0; i < count; ++i) {
        entry.ids[i] = ids[i];
        entry.ends[i] = ends[i];
      }
    } else {
      const size_t bytes = count + (size > kShortBytes ? size : 0), words = 1 + count + (bytes + 3) / 4;
      if (kArenaWords - written % kArenaWords < words)
        written += kArenaWords - written % kArenaWords;
      entry.state = kInArena;
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
    // The piece may have an entry whose record was overwritten. The new entry replaces it.
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
    return bucket[0].state == kFree ? bucket : bucket[1].state == kFree ? bucket + 1 : nullptr;
  }

  static constexpr uint8_t kFree = 0, kInline = 1, kInArena = 2;
  static constexpr uint64_t kEnd = 0xFF;
  static constexpr unsigned kBucketBits = 16;
  static constexpr size_t kEntries = size_t(2) << kBucketBits, kArenaWords = size_t(1) << 21;
  Entry *entries = nullptr;
  uint32_t *arena = nullptr;
  uint64_t written = 0; ///< words of all records so far, and the words skipped at the end of the arena
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_PIECECACHE_H
