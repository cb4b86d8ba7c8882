//===- Utf8.h - Decoding and encoding of UTF-8 ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_UTF8_H
#define ATTUNE_RUNTIME_TEXT_UTF8_H

#include <cstddef>
#include <cstdint>

namespace attune::text {

/// A code point and the number of its bytes.
struct Character {
  uint32_t value, bytes;
};

/// Decodes the character at |at| < |end|. A byte that cannot begin a character, or whose character would end after
/// |end|, is a character of its own, so that a damaged string leads to no read outside it. Continuation bytes are not
/// checked; the value is always less than 0x110000.
inline Character decodeCharacter(const uint8_t *at, const uint8_t *end) {
  uint32_t first = at[0];
  if (first < 0x80)
    return {first, 1};
  size_t left = size_t(end - at);
  if (first < 0xE0) {
    if (first >= 0xC0 && left >= 2)
      return {(first & 31) << 6 | (at[1] & 63u), 2};
  } else if (first < 0xF0) {
    if (left >= 3)
      return {(first & 15) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u), 3};
  } else if (first < 0xF5 && left >= 4) {
    uint32_t value = (first & 7) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 | (at[3] & 63u);
    return {value < 0x110000 ? value : 0xFFFD, 4};
  }
  return {first, 1};
}

/// Decodes the character that ends at |at| > |begin|. If no character ends there, the byte before |at| is a character
/// of its own.
inline Character decodeCharacterBefore(const uint8_t *begin, const uint8_t *at) {
  const uint8_t *start = at - 1;
  while (start > begin && (*start & 0xC0) == 0x80 && at - start < 4)
    --start;
  Character c = decodeCharacter(start, at);
  return c.bytes == size_t(at - start) ? c : Character{at[-1], 1};
}

/// Writes |character| to |out|, which has room for 4 bytes, and returns the number of bytes written.
inline size_t encodeCharacter(uint32_t character, uint8_t *out) {
  if (character < 0x80) {
    out[0] = uint8_t(character);
    return 1;
  }
  if (character < 0x800) {
    out[0] = uint8_t(0xC0 | character >> 6);
    out[1] = uint8_t(0x80 | (character & 63));
    return 2;
  }
  if (character < 0x10000) {
    out[0] = uint8_t(0xE0 | character >> 12);
    out[1] = uint8_t(0x80 | (character >> 6 & 63));
    out[2] = uint8_t(0x80 | (character & 63));
    return 3;
  }
  out[0] = uint8_t(0xF0 | (character >> 18 & 7));
  out[1] = uint8_t(0x80 | (character >> 12 & 63));
  out[2] = uint8_t(0x80 | (character >> 6 & 63));
  out[3] = uint8_t(0x80 | (character & 63));
  return 4;
}

/// Returns the number of bytes from |at| < |end| on that begin one well-formed character, 0 if there are none. Sets
/// |complete| to false if these bytes are only a part of the character, else to true, also for 0 bytes.
inline size_t scanCharacter(const uint8_t *at, const uint8_t *end, bool &complete) {
  complete = true;
  uint32_t first = at[0];
  if (first < 0x80)
    return 1;
  size_t length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  if (length == 0)
    return 0;
  for (size_t i = 1; i < length; ++i) {
    if (at + i >= end) {
      complete = false;
      return i;
    }
    uint32_t byte = at[i];
    uint32_t low = i == 1 && first == 0xE0 ? 0xA0 : i == 1 && first == 0xF0 ? 0x90 : 0x80;
    uint32_t high = i == 1 && first == 0xED ? 0x9F : i == 1 && first == 0xF4 ? 0x8F : 0xBF;
    if (byte < low || byte > high) {
      complete = false;
      return i;
    }
  }
  return length;
}

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_UTF8_H
