//===- Graphemes.cpp - Extended grapheme clusters -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/text/Graphemes.h"

using namespace attune::text;

/// Returns the class of |character| with its flags.
static uint32_t classOf(const Runs &classes, uint32_t character) {
  if (character - 0xAC00 < 11172)
    return (character - 0xAC00) % 28 ? kGraphemeLVT : kGraphemeLV;
  return classes(character);
}

const uint8_t *attune::text::findGraphemeEnd(const Runs &classes, const uint8_t *at, const uint8_t *end) {
  // Printable ASCII before ASCII or at the end is a cluster of its own.
  if (*at >= 0x20 && *at < 0x7F && (end - at == 1 || at[1] < 0x80))
    return at + 1;
  Character c = decodeCharacter(at, end);
  at += c.bytes;
  uint32_t before = classOf(classes, c.value);
  // The end of the cluster so far.
  uint32_t regional = (before & kGraphemeMask) == kGraphemeRegional; // its number of regional indicators
  bool emoji = before & kGraphemePictographic;                       // it is Extended_Pictographic Extend*
  bool emojiJoiner = false;                                          // … and then a zero width joiner
  bool conjunct = before & kGraphemeConsonant, linked = false;       // it has a consonant, and a linker after that
  while (at < end) {
    c = decodeCharacter(at, end);
    uint32_t flags = classOf(classes, c.value), next = flags & kGraphemeMask, last = before & kGraphemeMask;
    bool joins;
    if (last == kGraphemeCr)
      joins = next == kGraphemeLf; // GB3
    else if (last == kGraphemeControl || last == kGraphemeLf || next == kGraphemeControl || next == kGraphemeCr || next == kGraphemeLf)
      joins = false; // GB4, GB5
    else if (last == kGraphemeL && (next == kGraphemeL || next == kGraphemeV || next == kGraphemeLV || next == kGraphemeLVT))
      joins = true; // GB6
    else if ((last == kGraphemeLV || last == kGraphemeV) && (next == kGraphemeV || next == kGraphemeT))
      joins = true; // GB7
    else if ((last == kGraphemeLVT || last == kGraphemeT) && next == kGraphemeT)
      joins = true; // GB8
    else if (next == kGraphemeExtend || next == kGraphemeZwj || next == kGraphemeSpacing || last == kGraphemePrepend)
      joins = true; // GB9, GB9a, GB9b
    else if (conjunct && linked && (flags & kGraphemeConsonant))
      joins = true; // GB9c
    else if (emojiJoiner && (flags & kGraphemePictographic))
      joins = true; // GB11
    else
      joins = next == kGraphemeRegional && last == kGraphemeRegional && regional % 2; // GB12, GB13
    if (!joins)
      break;
    emojiJoiner = emoji && next == kGraphemeZwj;
    emoji = (flags & kGraphemePictographic) || (emoji && next == kGraphemeExtend);
    if (flags & kGraphemeConsonant) {
      conjunct = true;
      linked = false;
    } else if (flags & kGraphemeLinker) {
      linked = conjunct;
    } else if (!(flags & kGraphemeConjunctExtend)) {
      conjunct = linked = false;
    }
    regional = next == kGraphemeRegional ? regional + 1 : 0;
    before = flags;
    at += c.bytes;
  }
  return at;
}
