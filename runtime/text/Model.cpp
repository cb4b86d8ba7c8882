//===- Model.cpp - WordPiece, WordLevel and Unigram -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/text/Model.h"

using namespace attune::text;

void Model::open(const Tables &source, Memory &memory, size_t capacity) {
  tables = &source;
  unknownMissing = scratchFull = false;
  switch (tables->settings.model) {
  case ModelKind::Bpe:
    symbols = memory.take<Symbol>(capacity);
    heap = memory.take<uint64_t>(capacity * 3);
    break;
  case ModelKind::Unigram:
    path = memory.take<PathNode>(capacity + 1);
    cuts = memory.take<uint32_t>(capacity + 1);
    break;
  case ModelKind::WordPiece: {
    uint32_t node = Trie::kRoot;
    bool found = true;
    for (size_t i = 0; i < tables->continuingPrefix.size && found; ++i)
      found = tables->trie.step(node, tables->continuingPrefix.data[i]);
    continuingRoot = found ? node : kNoId;
    break;
  }
  case ModelKind::WordLevel:
    break;
  }
}

void Model::tokenizePiece(const AlignedText &piece) {
  switch (tables->settings.model) {
  case ModelKind::WordPiece:
    return tokenizeWordPiece(piece);
  case ModelKind::Bpe:
    return tokenizeBpe(piece);
  case ModelKind::Unigram:
    return tokenizeUnigram(piece);
  case ModelKind::WordLevel:
    return tokenizeWordLevel(piece);
  }
}

/// Tokenizes a piece that the cache does not have. Keeps its tokens in the cache under |key|, unless |key| is null or
/// the cache cannot hold them.
__attribute__((noinline)) void Model::tokenizeMissing(const AlignedText &piece, const PieceCache::Key *key) {
  const size_t first = tokens->size();
  numEnds = 0;
  cacheable = true;
  const bool missedBefore = unknownMissing;
  unknownMissing = false;
  tokenizePiece(piece);
  // A piece that needs the unknown token of a vocabulary without one is not kept, so that it fails at each use.
  if (key && cacheable && !unknownMissing && !scratchFull && !tokens->full() && numEnds > 0 && numEnds <= PieceCache::kMostTokens)
    cache.insert(*key, piece.bytes, piece.size, tokens->ids.data + first, ends, numEnds);
  unknownMissing |= missedBefore;
}

template <bool Detailed>
void Model::addCached(const PieceCache::Record &record, const AlignedText &piece) {
  constexpr size_t kBlock = 4;
  Array<uint32_t> &ids = tokens->ids;
  if (ids.capacity - ids.size < record.count + kBlock) {
    ids.full = true;
    return;
  }
  // The last block may be read and written beyond the last id.
  static_assert(PieceCache::kRecordPadding >= kBlock);
  for (size_t i = 0; i < record.count; i += kBlock)
    __builtin_memcpy(ids.data + ids.size + i, record.ids + i, kBlock * sizeof(uint32_t));
  ids.size += record.count;
  size_t begin = 0;
  for (size_t i = 0; Detailed && i < record.count; ++i) {
    addDetail(piece, begin, record.ends[i]);
    begin = record.ends[i];
  }
}

/// Appends the tokens of pieces; each piece is a word if |areWords|, else a part of the current word. A group of pieces
/// goes through three loops. The first computes keys and prefetches the first buckets. The second looks up entries in
/// these buckets and prefetches their records, or the second buckets if there are no entries. The third appends the
/// tokens. So cache lines are fetched in parallel, and nearly all branches that depend on the text are in the last
/// loop.
template <bool Detailed>
void Model::tokenizeCached(const AlignedText &text, const PieceSpan *pieces, size_t count, bool areWords) {
  constexpr size_t kGroup = 64;
  PieceCache::Key keys[kGroup];
  const PieceCache::Entry *entries[kGroup];
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t group = count - begin < kGroup ? count - begin : kGroup;
    for (size_t i = 0; i < group; ++i) {
      const PieceSpan piece = pieces[begin + i];
      const size_t size = piece.end - piece.begin;
      keys[i] = PieceCache::keyOf(text.bytes + piece.begin, size < PieceCache::kMostBytes ? size : PieceCache::kMostBytes,
                                  text.size - piece.begin);
      cache.prefetch(keys[i].bucket);
    }
    for (size_t i = 0; i < group; ++i) {
      entries[i] = cache.findIn(keys[i].bucket, keys[i]);
      cache.prefetchNext(entries[i], keys[i]);
    }
    Array<uint32_t> &ids = tokens->ids;
    uint32_t *to = ids.data + ids.size, *const limit = ids.data + ids.capacity;
    for (size_t i = 0; i < group; ++i) {
      // The insertion of a piece of this group may have moved or replaced the entry.
      const PieceCache::Entry *entry = entries[i];
      if (__builtin_expect(!entry || !PieceCache::holds(*entry, keys[i]), 0))
        entry = cache.find(keys[i]);
      const PieceSpan span = pieces[begin + i];
      if (__builtin_expect(entry && !PieceCache::hasRecord(*entry) && size_t(limit - to) >= PieceCache::kInlineTokens, 1)) {
        __builtin_memcpy(to, entry->ids, sizeof(entry->ids));
        const size_t added = 1u + (entry->ends[1] != 0) + (entry->ends[2] != 0);
        to += added;
        if (Detailed) {
          ids.size = size_t(to - ids.data);
          for (size_t k = 0; k < added; ++k)
            addDetail(text.slice(span.begin, span.end), k ? entry->ends[k - 1] : 0, entry->ends[k]);
        }
      } else {
        ids.size = size_t(to - ids.data);
        PieceCache::Record record;
        const AlignedText piece = text.slice(span.begin, span.end);
        const bool keeps = piece.size <= PieceCache::kMostBytes;
        if (entry && keeps && PieceCache::hasRecord(*entry) && cache.read(*entry, piece.bytes, piece.size, record))
          addCached<Detailed>(record, piece);
        else
          tokenizeMissing(piece, keeps ? &keys[i] : nullptr);
        to = ids.data + ids.size;
      }
      word += areWords;
    }
    ids.size = size_t(to - ids.data);
  }
}

void Model::tokenizeSpans(const AlignedText &text, const PieceSpan *pieces, size_t count, bool areWords) {
  // WordLevel finds a word by one lookup, which is as fast as the cache.
  if (cache && tables->settings.model != ModelKind::WordLevel)
    return tokens->detailed ? tokenizeCached<true>(text, pieces, count, areWords) : tokenizeCached<false>(text, pieces, count, areWords);
  for (size_t i = 0; i < count; ++i) {
    tokenizeMissing(text.slice(pieces[i].begin, pieces[i].end), nullptr);
    word += areWords;
  }
}

/// Cuts a piece into parts that no merge can join, and appends their tokens. The parts are short and often repeated, so
/// the cache has most of them. A part begins at each mark of a space (U+2581) that does not follow another mark.
void Model::tokenizeUnits(const AlignedText &text, PieceSpan piece) {
  constexpr size_t kGroup = 64;
  PieceSpan units[kGroup];
  size_t count = 0;
  const uint8_t *bytes = text.bytes;
  uint32_t begin = piece.begin;
  auto push = [&](uint32_t end) {
    units[count++] = {begin, end};
    begin = end;
    if (count < kGroup)
      return;
    tokenizeSpans(text, units, count, false);
    count = 0;
  };
  bool afterMark = true;
  for (uint32_t i = piece.begin; i < piece.end;) {
    bool mark = bytes[i] == 0xE2 && piece.end - i >= 3 && bytes[i + 1] == 0x96 && bytes[i + 2] == 0x81;
    if (mark && !afterMark)
      push(i);
    afterMark = mark;
    i += mark ? 3 : 1;
  }
  push(piece.end);
  tokenizeSpans(text, units, count, false);
}

void Model::tokenize(const AlignedText &text, const PieceSpan *pieces, size_t count) {
  if (tables->settings.model != ModelKind::Bpe || !(tables->settings.modelFlags & kModelCutsAtMark))
    return tokenizeSpans(text, pieces, count, true);
  for (size_t i = 0; i < count; ++i) {
    tokenizeUnits(text, pieces[i]);
    ++word;
  }
}

void Model::addWhole(uint32_t id, const AlignedText &piece) {
  size_t before = tokens->size();
  add(id, piece, 0, piece.size);
  ++word;
  if (!tokens->detailed || tokens->details.size == before)
    return;
  TokenDetail &token = tokens->details[before];
  token.leading = token.trailing = 0;
  const uint8_t *begin = piece.bytes, *end = begin + piece.size;
  for (const uint8_t *at = begin; at < end; ++token.leading) {
    Character c = decodeCharacter(at, end);
    if (!(tables->characters(c.value) & kCharWhiteSpace))
      break;
    at += c.bytes;
  }
  for (const uint8_t *at = end; at > begin; ++token.trailing) {
    Character c = decodeCharacterBefore(begin, at);
    if (!(tables->characters(c.value) & kCharWhiteSpace))
      break;
    at -= c.bytes;
  }
}

/// Takes the longest entry of the vocabulary that the word begins with, then repeatedly the longest entry with the
/// continuing prefix that the rest begins with. If there is no such entry, or the word has more than maxCharacters
/// characters, the whole word becomes the unknown token.
void Model::tokenizeWordPiece(const AlignedText &piece) {
  const Settings &settings = tables->settings;
  size_t first = tokens->size();
  auto unknown = [&] {
    tokens->shrink(first);
    numEnds = 0;
    if (settings.unknownId == kNoId) {
      unknownMissing = true;
      return;
    }
    add(settings.unknownId, piece, 0, piece.size);
  };
  if (piece.size > settings.maxCharacters) {
    size_t characters = 0;
    for (size_t i = 0; i < piece.size; ++i)
      characters += (piece.bytes[i] & 0xC0) != 0x80;
    if (characters > settings.maxCharacters)
      return unknown();
  }
  for (size_t at = 0; at < piece.size;) {
    uint32_t node = at == 0 ? Trie::kRoot : continuingRoot, id = kNoId;
    size_t end = at;
    if (node != kNoId)
      for (size_t i = at; i < piece.size && tables->trie.step(node, piece.bytes[i]); ++i)
        if (uint32_t value = tables->trie.value(node); value != kNoId) {
          id = value;
          end = i + 1;
        }
    if (id == kNoId || tokens->full())
      return unknown();
    add(id, piece, at, end);
    at = end;
  }
}

void Model::tokenizeWordLevel(const AlignedText &piece) {
  uint32_t id = tables->modelLookup.find(tables->modelStrings, piece.bytes, piece.size);
  if (id == kNoId)
    id = tables->settings.unknownId;
  if (id == kNoId)
    unknownMissing = true;
  else
    add(id, piece, 0, piece.size);
}

/// Finds the segmentation with the greatest sum of scores, from left to right by the best path to each byte. Of paths
/// with equal sums, the one whose last token begins first is best. A character without an entry of its own may be
/// unknown, with the score unknownScore. A run of unknown characters becomes the token with its string if there is one,
/// else a token for each byte if kModelByteFallback is set and all have one, else the unknown token. An entry of the
/// model whose id is not in the vocabulary (Rules::numPieces) becomes the unknown token.
void Model::tokenizeUnigram(const AlignedText &piece) {
  const Settings &settings = tables->settings;
  size_t size = piece.size;
  if (path.capacity <= size) {
    scratchFull = true;
    return;
  }
  for (size_t i = 0; i <= size; ++i)
    path.data[i] = {0, kNoId, 0};
  const bool narrow = tables->rules.flags & kRuleFloatSums;
  auto round = [narrow](double score) { return narrow ? double(float(score)) : score; };
  const uint8_t *end = piece.bytes + size;
  for (size_t at = 0; at < size;) {
    double before = path[at].score;
    size_t length = decodeCharacter(piece.bytes + at, end).bytes;
    bool single = false;
    uint32_t node = Trie::kRoot;
    for (size_t i = at; i < size && tables->trie.step(node, piece.bytes[i]); ++i) {
      uint32_t id = tables->trie.value(node);
      if (id >= tables->rules.numPieces)
        continue;
      double score = round(tables->scores[id] + before);
      PathNode &target = path[i + 1];
      if (target.start == kNoId || score > target.score)
        target = {score, uint32_t(at), id};
      single |= i + 1 - at == length;
    }
    if (!single) {
      double score = round(settings.unknownScore + before);
      PathNode &target = path[at + length];
      if (target.start == kNoId || score > target.score) {
        if (settings.unknownId == kNoId) {
          unknownMissing = true;
          return;
        }
        target = {score, uint32_t(at), settings.unknownId};
      }
    }
    at += length;
  }
  cuts.clear();
  for (size_t at = size; at > 0; at = path[at].start) {
    cuts.push(uint32_t(at));
    if (path[at].start >= at) {
      scratchFull = true; // a damaged trie cut a character
      return;
    }
  }
  for (size_t i = cuts.size, begin = 0; i-- > 0;) {
    size_t stop = cuts[i];
    uint32_t id = path[stop].id;
    if (id == settings.unknownId) {
      while (i > 0 && path[cuts[i - 1]].id == settings.unknownId)
        stop = cuts[--i];
      id = tables->modelLookup.find(tables->modelStrings, piece.bytes + begin, stop - begin);
      if (id == kNoId)
        addUnknown(piece, begin, stop);
      else
        add(id, piece, begin, stop);
    } else {
      add(id < settings.vocabSize ? id : settings.unknownId, piece, begin, stop);
    }
    begin = stop;
  }
}

/// Appends the tokens of the unknown characters [begin, end) of Unigram: a token for each byte if kModelByteFallback is
/// set and all have one, else the unknown token.
void Model::addUnknown(const AlignedText &piece, size_t begin, size_t end) {
  bool bytes = tables->settings.modelFlags & kModelByteFallback;
  for (size_t i = begin; i < end && bytes; ++i)
    bytes = tables->symbols[piece.bytes[i]] != kNoId;
  if (!bytes) {
    add(tables->settings.unknownId, piece, begin, end);
    return;
  }
  cacheable = false; // each of these tokens has the bytes [begin, end)
  for (size_t i = begin; i < end; ++i)
    add(tables->symbols[piece.bytes[i]], piece, begin, end);
}
