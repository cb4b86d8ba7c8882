//===- Characters.h - Characters and bytes of a text ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TASKS_CHARACTERS_H
#define ATTUNE_RUNTIME_TEXT_TASKS_CHARACTERS_H

#include "runtime/text/Utf8.h"

namespace attune::text {

/// Converts indices of characters (code points) of a text to offsets in bytes. Each lookup counts on from the last one,
/// or from the beginning of the text if its index is smaller.
class CharacterPlaces {
public:
  CharacterPlaces(const char *text, size_t bytes) : text(reinterpret_cast<const uint8_t *>(text)), bytes(bytes) {}

  /// Returns the offset in bytes of the character with index |number|, or the length of the text if it has fewer
  /// characters.
  size_t offsetOf(int64_t number) {
    if (number < character) {
      character = 0;
      offset = 0;
    }
    for (; character < number && offset < bytes; ++character)
      offset += decodeCharacter(text + offset, text + bytes).bytes;
    return offset;
  }

private:
  const uint8_t *text;
  size_t bytes, offset = 0;
  int64_t character = 0;
};

/// Returns the number of characters of |text|, |bytes| bytes of UTF-8.
inline int64_t countCharacters(const char *text, size_t bytes) {
  int64_t count = 0;
  for (size_t i = 0; i < bytes; ++i)
    count += (uint8_t(text[i]) & 0xC0) != 0x80;
  return count;
}

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TASKS_CHARACTERS_H
