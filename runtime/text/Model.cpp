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

void Model::tokenize(const AlignedText &piece) {
  switch (tables->settings.model) {
  case ModelKind::WordPiece:
    tokenizeWordPiece(piece);
    break;
  case ModelKind::Bpe:
    tokenizeBpe(piece);
    break;
  case ModelKind::Unigram:
    tokenizeUnigram(piece);
    break;
  case ModelKind::WordLevel:
    tokenizeWordLevel(piece);
    break;
  }
  ++word;
}

void Model::addWhole(uint32_t id, const AlignedText &piece) {
  size_t before = tokens->size;
  add(id, piece, 0, piece.size);
  ++word;
  if (tokens->size == before)
    return;
  Token &token = (*tokens)[before];
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

/// Takes the longest entry that the word begins with, then repeatedly the longest continuing one. If there is none for
/// the rest, the word is the unknown token.
void Model::tokenizeWordPiece(const AlignedText &piece) {
  const Settings &settings = tables->settings;
  size_t first = tokens->size;
  auto unknown = [&] {
    tokens->size = first;
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
    if (id == kNoId || tokens->full)
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

/// Finds the segmentation with the greatest sum of scores, by the best path to each end from left to right; of equal
/// paths to an end, that whose last token begins first. A run of unknown characters becomes the token with its string if
/// there is one, else a token for each byte if all have one, else the unknown token. An entry of the model whose id is
/// not in the vocabulary (Rules::numPieces) becomes the unknown token.
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

/// Adds unknown characters of Unigram: a token for each byte if all have one, else the unknown token.
void Model::addUnknown(const AlignedText &piece, size_t begin, size_t end) {
  bool bytes = tables->settings.modelFlags & kModelByteFallback;
  for (size_t i = begin; i < end && bytes; ++i)
    bytes = tables->symbols[piece.bytes[i]] != kNoId;
  if (!bytes) {
    add(tables->settings.unknownId, piece, begin, end);
    return;
  }
  for (size_t i = begin; i < end; ++i)
    add(tables->symbols[piece.bytes[i]], piece, begin, end);
}
