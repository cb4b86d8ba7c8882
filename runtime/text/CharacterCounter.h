//===- CharacterCounter.h - Characters before a byte ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHARACTERCOUNTER_H
#define ATTUNE_RUNTIME_TEXT_CHARACTERCOUNTER_H

#include "runtime/text/AlignedText.h"

namespace attune::text {

/// Converts ranges of bytes of a text to ranges of characters. Tokens come mostly in order, so the counter continues
/// from its last position.
class CharacterCounter {
public:
  CharacterCounter(const uint8_t *text, size_t size) : text(text), size(size) {}

  /// Returns |range| in characters. As in Hugging Face's tokenizers, a range that begins at or after the end of the
  /// text stays in bytes, and any other that ends after the end of the text has two characters.
  OriginalRange convert(OriginalRange range) {
    if (range.begin >= size)
      return range;
    uint32_t begin = indexOf(range.begin);
    if (range.end < size)
      return {begin, indexOf(range.end)};
    if (range.end > size)
      return {begin, begin + 2};
    return {begin, range.end > 0 ? indexOf(range.end - 1) + 1 : begin + 2};
  }

private:
  /// Returns the index of the character that contains byte |place|.
  uint32_t indexOf(size_t place) {
    while (at < place)
      count += (text[++at] & 0xC0) != 0x80;
    while (at > place)
      count -= (text[at--] & 0xC0) != 0x80;
    return count;
  }

  const uint8_t *text;
  size_t size;
  size_t at = 0;
  uint32_t count = 0;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_CHARACTERCOUNTER_H
