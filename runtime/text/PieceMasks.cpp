//===- PieceMasks.cpp - Splitting by bit masks ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An automaton reads a text character by character, each step waiting for the one before. The expressions of most
// byte-level vocabularies split texts by rules that look at few neighbors, so that the starts of all pieces in 64 bytes
// follow from bit masks:
//
//     text          T h e   t o p ,   i t ' s   9 5
//     letters       1 1 1 . 1 1 1 . . 1 1 . 1 . . .
//     spaces        . . . 1 . . . . 1 . . . . 1 . .
//     starts        1 . . 1 . . . 1 1 . . 1 . 1 . .       a space begins the piece of the word after it
//
// A start is certain if the bytes that decide it are in the window. The window of the next call begins at the last
// certain start, so no state is carried over. Characters outside ASCII are looked up in the classes of the automaton: a
// character with the class of "b", a letter of no contraction, is a letter, and so on. Starts near any other character
// (white space outside ASCII; the long s, which folds to s; with PrefixedDigits3 also digits outside ASCII) are left to
// the automaton, which then finds one piece.
//===----------------------------------------------------------------------===//

#include "runtime/text/PieceMasks.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

using namespace attune::text;

PieceMasks::PieceMasks(const Automaton &automaton, const uint8_t *begin, const uint8_t *end)
    : automaton(automaton), scheme(automaton.scheme()), letterClass(uint8_t(automaton.classOf('b'))),
      digitClass(uint8_t(automaton.classOf('0'))), otherClass(uint8_t(automaton.classOf('!'))), begin(begin), at(begin), end(end) {}

/// Returns the first byte of each run of |mask|.
static uint64_t runStarts(uint64_t mask) { return mask & ~(mask << 1); }
/// Returns the place after the last bit of the run of |mask| that has bit |place|.
static unsigned runEnd(uint64_t mask, unsigned place) {
  const uint64_t after = ~(mask >> place);
  const unsigned end = place + (after ? unsigned(__builtin_ctzll(after)) : 64);
  return end < 64 ? end : 64;
}
/// Returns the bits below |count|.
static uint64_t lowBits(unsigned count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

PieceMasks::Window PieceMasks::classify() const {
  Window window = {};
  const size_t left = size_t(end - at);
  window.size = left < 64 ? unsigned(left) : 64;
  window.isLast = left <= 64;
  uint8_t padded[64];
  const uint8_t *bytes = at;
  if (left < 64) {
    __builtin_memset(padded, 0, sizeof(padded));
    __builtin_memcpy(padded, at, left);
    bytes = padded;
  }
  uint64_t wide = 0;
#ifdef __SSE2__
  const auto all = [](int byte) { return _mm_set1_epi8(char(byte)); };
  for (int i = 0; i < 4; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + 16 * i));
    auto between = [&](__m128i value, int first, int count) {
      const __m128i distance = _mm_sub_epi8(value, all(first));
      return _mm_cmpeq_epi8(_mm_min_epu8(distance, all(count - 1)), distance);
    };
    auto put = [&](uint64_t &mask, __m128i set) { mask |= uint64_t(uint32_t(_mm_movemask_epi8(set))) << (16 * i); };
    const __m128i space = _mm_cmpeq_epi8(v, all(' '));
    put(window.letters, between(_mm_or_si128(v, all(0x20)), 'a', 26));
    put(window.digits, between(v, '0', 10));
    put(window.spaces, space);
    put(window.whites, _mm_or_si128(space, between(v, '\t', 5)));
    put(window.newlines, _mm_or_si128(_mm_cmpeq_epi8(v, all('\n')), _mm_cmpeq_epi8(v, all('\r'))));
    put(window.apostrophes, _mm_cmpeq_epi8(v, all('\'')));
    put(wide, v);
    put(window.continuations, _mm_cmplt_epi8(v, all(0xC0)));
  }
#else
  for (unsigned i = 0; i < 64; ++i) {
    const uint8_t c = bytes[i];
    const uint64_t bit = 1ull << i;
    window.letters |= uint8_t((c | 0x20) - 'a') < 26 ? bit : 0;
    window.digits |= uint8_t(c - '0') < 10 ? bit : 0;
    window.spaces |= c == ' ' ? bit : 0;
    window.whites |= c == ' ' || uint8_t(c - '\t') < 5 ? bit : 0;
    window.newlines |= c == '\n' || c == '\r' ? bit : 0;
    window.apostrophes |= c == '\'' ? bit : 0;
    wide |= c & 0x80 ? bit : 0;
    window.continuations |= (c & 0xC0) == 0x80 ? bit : 0;
  }
#endif
  window.others = ~(window.letters | window.digits | window.whites | wide) & lowBits(window.size);
  if (wide)
    classifyWide(window, wide);
  return window;
}

/// Adds the characters outside ASCII, whose bytes are |wide|.
void PieceMasks::classifyWide(Window &window, uint64_t wide) const {
  for (uint64_t firsts = wide & ~window.continuations; firsts; firsts &= firsts - 1) {
    const unsigned place = unsigned(__builtin_ctzll(firsts));
    const Character c = decodeCharacter(at + place, end);
    const uint64_t bits = lowBits(c.bytes) << place;
    const uint8_t kind = uint8_t(automaton.classOf(c.value));
    window.letters |= kind == letterClass ? bits : 0;
    window.others |= kind == otherClass ? bits : 0;
    window.digits |= kind == digitClass && scheme != MaskScheme::PrefixedDigits3 ? bits : 0;
    window.unknown |= kind == letterClass || kind == otherClass || (kind == digitClass && scheme != MaskScheme::PrefixedDigits3) ? 0 : bits;
  }
  // A continuation byte without a first byte, which only a damaged text has.
  window.unknown |= wide & ~(window.letters | window.others | window.digits);
}

/// Returns the starts of the matches of MaskScheme::Gpt2 in |window|, before cutContractions:
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
uint64_t PieceMasks::findStartsGpt2(const Window &window) const {
  const uint64_t joined = window.spaces << 1, whites = window.whites;
  return ((runStarts(window.letters) | runStarts(window.digits) | runStarts(window.others)) & ~joined) | runStarts(whites) |
         (whites & ~(whites >> 1));
}

/// Returns the starts of the matches of MaskScheme::PrefixedDigits3, or of PrefixedDigits1, which has \p{N} instead of
/// \p{N}{1,3}, in |window|, before cutContractions:
/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
uint64_t PieceMasks::findStartsPrefixed(const Window &window) const {
  // Newlines directly after characters of |others| belong to the piece of these characters.
  const uint64_t taken = window.newlines & ~(window.newlines + ((window.others << 1) & window.newlines));
  const uint64_t whites = window.whites & ~taken, blanks = whites & ~window.newlines;
  uint64_t starts = runStarts(whites) | (blanks & ~(whites >> 1));
  // In a run of white space, a piece ends after the last newline.
  for (uint64_t lines = window.newlines & whites; lines;) {
    const unsigned stop = runEnd(whites, unsigned(__builtin_ctzll(lines)));
    const uint64_t inRun = lines & lowBits(stop);
    const unsigned last = 63 - unsigned(__builtin_clzll(inRun));
    if (last + 1 < stop)
      starts |= 1ull << (last + 1);
    lines &= ~inRun;
  }
  // A single other character directly before letters begins the piece of these letters, unless a space precedes it: then
  // the space and the character are a piece, and the letters begin the next one.
  const uint64_t otherStarts = runStarts(window.others) & ~(window.spaces << 1);
  const uint64_t rest = window.continuations & window.others, more = (otherStarts << 1) & rest;
  const uint64_t behind = ((rest + more) & ~rest) | ((otherStarts << 1) & ~rest);
  starts |= otherStarts | (runStarts(window.letters) & ~(blanks << 1) & ~behind);
  if (scheme == MaskScheme::PrefixedDigits1)
    return starts | (window.digits & ~window.continuations);
  for (uint64_t runs = runStarts(window.digits); runs; runs &= runs - 1) {
    const unsigned first = unsigned(__builtin_ctzll(runs)), stop = runEnd(window.digits, first);
    for (unsigned i = first; i < stop; i += 3)
      starts |= 1ull << i;
  }
  return starts;
}

/// Makes a piece of each contraction (such as "'s") whose apostrophe is in |starts|: adds the start after it and
/// removes the start within it.
uint64_t PieceMasks::cutContractions(const Window &window, uint64_t starts) const {
  const bool foldsCase = scheme != MaskScheme::Gpt2;
  for (uint64_t marks = window.apostrophes & starts; marks; marks &= marks - 1) {
    const unsigned place = unsigned(__builtin_ctzll(marks));
    auto letterAt = [&](unsigned i) -> int {
      if (i >= size_t(end - at))
        return 0;
      return foldsCase && uint8_t((at[i] | 0x20) - 'a') < 26 ? at[i] | 0x20 : at[i];
    };
    const int first = letterAt(place + 1), second = letterAt(place + 2);
    unsigned size = 0;
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
      size = 2;
    else if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l'))
      size = 3;
    if (size == 0)
      continue;
    starts &= ~(1ull << place << 1);
    if (place + size < window.size) {
      starts |= 1ull << (place + size);
      marks |= window.apostrophes & (1ull << (place + size));
    }
  }
  return starts;
}

uint64_t PieceMasks::findStarts(const Window &window) const {
  uint64_t starts = (scheme == MaskScheme::Gpt2 ? findStartsGpt2(window) : findStartsPrefixed(window)) | 1;
  starts &= lowBits(window.size);
  // The number of bytes before the first character of unknown class.
  const unsigned known = window.unknown ? unsigned(__builtin_ctzll(window.unknown)) : window.size;
  const bool whole = window.isLast && known == window.size;
  // The first byte of a run of white space at the end of the known bytes, which may continue after them.
  unsigned run = known;
  if (known > 0 && (window.whites >> (known - 1) & 1)) {
    const uint64_t before = ~window.whites & lowBits(known);
    run = before ? 64 - unsigned(__builtin_clzll(before)) : 0;
  }
  if (whole) {
    // White space at the end of the text is one piece, with the prefixed schemes the white space after the last
    // newline. So the last byte begins a piece only if it is the first byte of that white space.
    if (run < known) {
      const uint64_t last = 1ull << (known - 1);
      uint64_t others = runStarts(window.whites);
      if (scheme != MaskScheme::Gpt2)
        others = ~((window.whites & ~window.newlines) << 1);
      starts &= ~last | others | 1;
    }
  } else {
    const unsigned certain = known >= 4 ? known - 4 : 0;
    starts &= lowBits((run < certain ? run : certain) + 1);
  }
  return cutContractions(window, starts);
}

size_t PieceMasks::next(uint32_t *ends) {
  if (at == end)
    return 0;
  const Window window = classify();
  uint64_t starts = findStarts(window) & ~1ull;
  const uint32_t place = uint32_t(at - begin);
  size_t count = 0;
  for (; starts; starts &= starts - 1)
    ends[count++] = place + uint32_t(__builtin_ctzll(starts));
  if (window.isLast && !window.unknown)
    ends[count++] = uint32_t(end - begin);
  if (count == 0) {
    const uint8_t *stop;
    if (!automaton.match(begin, at, end, stop) || stop == at)
      stop = at + decodeCharacter(at, end).bytes;
    ends[count++] = uint32_t(stop - begin);
  }
  at = begin + ends[count - 1];
  return count;
}
