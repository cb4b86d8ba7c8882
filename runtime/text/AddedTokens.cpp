//===- AddedTokens.cpp - Finding added tokens in texts --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/text/AddedTokens.h"

using namespace attune::text;

/// Finds the first added token at or after |searchAt|, the longest one at its position, whatever its flags. Sets
/// [|begin|, |end|) to its bytes and |id|, and moves |searchAt| to |end|. Returns false if there is none.
bool AddedTokenMatches::findMatch(size_t &begin, size_t &end, uint32_t &id) {
  if (!first.any)
    return false;
  while (searchAt < size) {
    if (first.only >= 0) {
      const void *found = __builtin_memchr(text + searchAt, first.only, size - searchAt);
      if (!found)
        break;
      searchAt = size_t(static_cast<const uint8_t *>(found) - text);
    } else {
      while (searchAt < size && !first.isFirst[text[searchAt]])
        ++searchAt;
      if (searchAt == size)
        break;
    }
    uint32_t node = Trie::kRoot;
    id = kNoId;
    for (size_t i = searchAt; i < size && trie.step(node, text[i]); ++i)
      if (uint32_t value = trie.value(node); value != kNoId) {
        id = value;
        end = i + 1;
      }
    begin = searchAt;
    if (id < tables.settings.vocabSize) {
      searchAt = end;
      return true;
    }
    ++searchAt;
  }
  searchAt = size;
  return false;
}

bool AddedTokenMatches::next(size_t &begin, size_t &end, uint32_t &id) {
  while (!hasMatch && findMatch(matchBegin, matchEnd, matchId)) {
    uint8_t flags = tables.flags[matchId];
    if (skipSpecial && ((flags & kTokenSpecial) || (tables.rules.flags & kRuleSplitsAdded)))
      continue;
    const uint8_t *stop = text + size;
    if (flags & kTokenSingleWord) {
      bool wordBefore = matchBegin > 0 && isWord(decodeCharacterBefore(text, text + matchBegin).value);
      bool wordBehind = matchEnd < size && isWord(decodeCharacter(text + matchEnd, stop).value);
      if (wordBefore || wordBehind)
        continue;
    }
    auto isSpace = [&](uint32_t c) { return tables.characters(c) & kCharWhiteSpace; };
    if (flags & kTokenStripLeft) {
      size_t at = matchBegin;
      while (at > emitted) {
        Character c = decodeCharacterBefore(text, text + at);
        if (!isSpace(c.value))
          break;
        at -= c.bytes;
      }
      matchBegin = at > emitted ? at : emitted;
    }
    if (flags & kTokenStripRight)
      while (matchEnd < size) {
        Character c = decodeCharacter(text + matchEnd, stop);
        if (!isSpace(c.value))
          break;
        matchEnd += c.bytes;
      }
    // The token before this one has included all bytes of this one as white space. Hugging Face's tokenizers also drop
    // this token if that white space ends where this token ends; they panic if the white space goes on.
    if (matchBegin >= matchEnd)
      continue;
    hasMatch = true;
  }
  if (hasMatch && emitted >= matchBegin) {
    begin = matchBegin;
    end = emitted = matchEnd;
    id = matchId;
    hasMatch = false;
    return true;
  }
  begin = emitted;
  end = emitted = hasMatch ? matchBegin : size;
  id = kNoId;
  return begin < end;
}
