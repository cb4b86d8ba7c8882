//===- BpeModel.cpp - Byte-pair encoding ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece begins as a sequence of symbols, its bytes or characters. While two neighbors have a merge, the pair with the
// lowest rank (of equal ranks the leftmost) becomes one symbol. There are two implementations with the same result:
//
//   up to 64 symbols   an array of ranks: find the least, merge, look the two new pairs up. Quadratic, but without
//                      branches that are mispredicted.
//   more               a heap of (rank, position), in which entries whose pair is gone are skipped. n log n, also for a
//                      megabyte without a space.
//
// Tokenizers whose BPE transformers computes in Python merge all pairs of the least rank at once, from left to right,
// before they look at the new pairs (kRuleMergesTogether). For merges in the order of training this is the same. The
// heap does it for any number of symbols.
//
// A piece that is a token as a whole is not merged if the model says so (kModelIgnoreMerges), or if the compiler knows
// that merging makes the same token of it (kModelWholeTokens). With either flag, the whole piece is looked up first.
//===----------------------------------------------------------------------===//

#include "runtime/text/Model.h"

using namespace attune::text;

/// The largest number of symbols that are merged by scanning an array.
static constexpr size_t kShort = 64;
static constexpr uint32_t kNoRank = 0xFFFFFFFFu;

void Model::tokenizeBpe(const AlignedText &piece) {
  uint32_t whole = kNoId;
  if (tables->settings.modelFlags & (kModelIgnoreMerges | kModelWholeTokens))
    whole = tables->modelLookup.find(tables->modelStrings, piece.bytes, piece.size);
  symbols.clear();
  if (whole != kNoId)
    return add(whole, piece, 0, piece.size);
  startBpe(piece);
  if (symbols.full) {
    scratchFull = true;
    return;
  }
  if (symbols.size <= kShort && !(tables->rules.flags & kRuleMergesTogether))
    mergeShort();
  else
    mergeLong();
  if (tables->rules.flags & kRuleJoinsUnknown)
    joinUnknown(piece);
  size_t at = 0;
  for (size_t i = 0; i < symbols.size; ++i) {
    if (symbols[i].size == 0)
      continue;
    size_t end = at + symbols[i].size;
    // A piece that is no token becomes the unknown token.
    const uint32_t id = symbols[i].id < tables->settings.vocabSize ? symbols[i].id : tables->settings.unknownId;
    add(id, piece, at < piece.size ? at : piece.size, end < piece.size ? end : piece.size);
    at = end;
  }
}

/// Joins neighboring unknown characters to one symbol: the token with their string if there is one, else an id that is
/// not in the vocabulary.
void Model::joinUnknown(const AlignedText &piece) {
  const Settings &settings = tables->settings;
  auto isUnknown = [&](const Symbol &symbol) { return symbol.id == settings.unknownId || symbol.id >= tables->rules.firstUnknown; };
  size_t count = 0, at = 0;
  for (size_t i = 0; i < symbols.size;) {
    Symbol symbol = symbols[i++];
    if (symbol.size == 0)
      continue;
    const bool unknown = isUnknown(symbol);
    for (; unknown && i < symbols.size && (symbols[i].size == 0 || isUnknown(symbols[i])); ++i)
      symbol.size += symbols[i].size;
    if (unknown)
      symbol.id = at + symbol.size <= piece.size ? tables->lookup.find(tables->strings, piece.bytes + at, symbol.size) : kNoId;
    at += symbol.size;
    symbols[count++] = symbol;
  }
  symbols.size = count;
}

void Model::startBpe(const AlignedText &piece) {
  if (!(tables->settings.modelFlags & kModelBytes))
    return startBpeCharacters(piece);
  // A byte without a token is unknown, like a character without one in startBpeCharacters.
  bool known = true;
  for (size_t i = 0; i < piece.size; ++i) {
    uint32_t id = tables->symbols[piece.bytes[i]];
    known &= id != kNoId;
    symbols.push({id, 1, -1, -1});
  }
  if (known)
    return;
  symbols.clear();
  const Settings &settings = tables->settings;
  uint32_t pending = 0;
  auto flush = [&] {
    if (pending)
      symbols.push({settings.unknownId, pending, -1, -1});
    pending = 0;
  };
  for (size_t i = 0; i < piece.size; ++i) {
    uint32_t id = tables->symbols[piece.bytes[i]];
    if (id != kNoId) {
      flush();
      symbols.push({id, 1, -1, -1});
    } else if (settings.modelFlags & kModelHasUnknown) {
      if (!(settings.modelFlags & kModelFuseUnknown))
        flush();
      // The unknown character is the one that stands for the byte in the vocabulary (byteToCharacter).
      ++pending;
      unknownMissing |= settings.unknownId == kNoId;
    }
  }
  flush();
}

/// Makes a symbol of each character of |piece|. Looks a character up with the continuing prefix unless it is the first,
/// and with the suffix if it is the last. A character without a token becomes the tokens of the bytes that were looked
/// up if kModelByteFallback is set and all have one, else the unknown token if kModelHasUnknown is set, else nothing.
/// The unknown token comes after the byte tokens that follow its character; with kModelFuseUnknown it stands for all
/// unknown characters before the next known one.
void Model::startBpeCharacters(const AlignedText &piece) {
  const Settings &settings = tables->settings;
  const Bytes prefix = tables->continuingPrefix, suffix = tables->endSuffix;
  uint32_t pending = 0;
  auto flush = [&] {
    if (pending)
      symbols.push({settings.unknownId, pending, -1, -1});
    pending = 0;
  };
  const uint8_t *end = piece.bytes + piece.size;
  for (const uint8_t *at = piece.bytes; at < end;) {
    Character c = decodeCharacter(at, end);
    bool isFirst = at == piece.bytes, isLast = at + c.bytes == end;
    uint8_t spelled[4 + 2 * 64];
    const uint8_t *bytes = at;
    size_t size = c.bytes;
    if ((!isFirst && prefix.size) || (isLast && suffix.size)) {
      size = 0;
      auto append = [&](const uint8_t *data, size_t count) {
        for (size_t i = 0; i < count && size < sizeof(spelled); ++i)
          spelled[size++] = data[i];
      };
      if (!isFirst)
        append(prefix.data, prefix.size);
      append(at, c.bytes);
      if (isLast)
        append(suffix.data, suffix.size);
      bytes = spelled;
    }
    uint32_t id =
        bytes == at && c.value < 0x80 ? tables->symbols[256 + c.value] : tables->modelLookup.find(tables->modelStrings, bytes, size);
    if (id != kNoId) {
      flush();
      symbols.push({id, c.bytes, -1, -1});
    } else {
      bool fallback = settings.modelFlags & kModelByteFallback;
      for (size_t i = 0; i < size && fallback; ++i)
        fallback = tables->symbols[bytes[i]] != kNoId;
      if (fallback) {
        for (size_t i = 0; i < size; ++i)
          symbols.push({tables->symbols[bytes[i]], 1, -1, -1});
      } else if (settings.modelFlags & kModelHasUnknown) {
        if (!(settings.modelFlags & kModelFuseUnknown))
          flush();
        pending += c.bytes;
        unknownMissing |= settings.unknownId == kNoId;
      }
    }
    at += c.bytes;
  }
  flush();
}

void Model::mergeShort() {
  uint32_t ids[kShort], sizes[kShort], merged[kShort], ranks[kShort];
  uint8_t next[kShort], before[kShort];
  const size_t count = symbols.size;
  if (count < 2)
    return;
  // The last symbol, and each symbol that was joined to the one before it, have kNoRank.
  auto look = [&](size_t i, size_t right) {
    const MergeSlot *slot = right < count ? tables->merges.find(ids[i], ids[right]) : nullptr;
    ranks[i] = slot ? slot->rank : kNoRank;
    merged[i] = slot ? slot->id : kNoId;
  };
  for (size_t i = 0; i < count; ++i) {
    ids[i] = symbols[i].id;
    sizes[i] = symbols[i].size;
    next[i] = uint8_t(i + 1);
    before[i] = uint8_t(i - 1);
  }
  for (size_t i = 0; i < count; ++i)
    look(i, i + 1);
  while (true) {
    size_t best = 0;
    uint32_t least = ranks[0];
    for (size_t i = 1; i < count; ++i) {
      best = ranks[i] < least ? i : best;
      least = ranks[i] < least ? ranks[i] : least;
    }
    if (least == kNoRank)
      break;
    const size_t joined = next[best];
    ids[best] = merged[best];
    sizes[best] += sizes[joined];
    sizes[joined] = 0;
    ranks[joined] = kNoRank;
    next[best] = next[joined];
    if (next[best] < count)
      before[next[best]] = uint8_t(best);
    look(best, next[best]);
    if (best > 0)
      look(before[best], best);
  }
  symbols.clear();
  for (size_t i = 0; i < count; i = next[i])
    symbols.push({ids[i], sizes[i], -1, -1});
}

/// Moves heap[at] down to its position in a heap of four children per node, whose least element is heap[0].
static void siftDown(uint64_t *heap, size_t size, size_t at) {
  uint64_t moved = heap[at];
  while (true) {
    size_t child = at * 4 + 1;
    if (child >= size)
      break;
    size_t last = child + 4 < size ? child + 4 : size;
    size_t least = child;
    for (size_t i = child + 1; i < last; ++i)
      least = heap[i] < heap[least] ? i : least;
    if (heap[least] >= moved)
      break;
    heap[at] = heap[least];
    at = least;
  }
  heap[at] = moved;
}

void Model::pushPair(size_t left) {
  const MergeSlot *slot = tables->merges.find(symbols[left].id, symbols[size_t(symbols[left].next)].id);
  if (!slot)
    return;
  uint64_t key = uint64_t(slot->rank) << 32 | left;
  heap.push(key);
  if (heap.full)
    return;
  size_t at = heap.size - 1;
  while (at > 0 && heap[(at - 1) / 4] > key) {
    heap[at] = heap[(at - 1) / 4];
    at = (at - 1) / 4;
  }
  heap[at] = key;
}

// With kRuleMergesTogether, the pairs that a merge opens wait until no pair of the merge's rank is left. A joined symbol
// is no longer part of the piece, so its fields form the list of what waits: |next| is the symbol that it was joined to,
// |previous| the next element of the list.
void Model::mergeLong() {
  const bool together = tables->rules.flags & kRuleMergesTogether;
  int32_t waiting = -1;
  uint32_t rank = 0;
  auto pushNeighbors = [&](size_t left) {
    if (symbols[left].next >= 0)
      pushPair(left);
    if (symbols[left].previous >= 0)
      pushPair(size_t(symbols[left].previous));
  };
  heap.clear();
  for (size_t i = 0; i < symbols.size; ++i) {
    symbols[i].previous = int32_t(i) - 1;
    symbols[i].next = i + 1 < symbols.size ? int32_t(i + 1) : -1;
  }
  for (size_t i = 0; i + 1 < symbols.size; ++i)
    pushPair(i);
  while ((heap.size > 0 || waiting >= 0) && !heap.full) {
    if (waiting >= 0 && (heap.size == 0 || heap[0] >> 32 != rank)) {
      for (; waiting >= 0; waiting = symbols[size_t(waiting)].previous)
        pushNeighbors(size_t(symbols[size_t(waiting)].next));
      continue;
    }
    uint64_t key = heap[0];
    heap[0] = heap[--heap.size];
    if (heap.size)
      siftDown(heap.data, heap.size, 0);
    size_t left = uint32_t(key);
    if (symbols[left].size == 0 || symbols[left].next < 0)
      continue;
    size_t right = size_t(symbols[left].next);
    const MergeSlot *slot = tables->merges.find(symbols[left].id, symbols[right].id);
    if (!slot || slot->rank != key >> 32)
      continue; // the pair is gone
    symbols[left].id = slot->id;
    symbols[left].size += symbols[right].size;
    symbols[left].next = symbols[right].next;
    symbols[right].size = 0;
    if (symbols[left].next >= 0)
      symbols[size_t(symbols[left].next)].previous = int32_t(left);
    if (together) {
      rank = slot->rank;
      symbols[right].next = int32_t(left);
      symbols[right].previous = waiting;
      waiting = int32_t(right);
    } else {
      pushNeighbors(left);
    }
  }
  scratchFull |= heap.full;
}
