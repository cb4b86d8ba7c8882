//===- Unicode.h - Characters of chat templates ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Characters are Unicode code points. Positions and offsets in a Text count bytes.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_CHAT_UNICODE_H
#define ATTUNE_RUNTIME_TEXT_CHAT_UNICODE_H

#include "Value.h"

namespace attune::chat {

/// Writes |character| as UTF-8 to |buffer|, which has room for 4 bytes, and returns the number of bytes written.
size_t encodeUtf8(uint32_t character, char *buffer);
/// Returns the character that begins at |position| of |text| and moves |position| past this character. |text| must be
/// valid UTF-8, and |position| less than its length.
uint32_t decodeUtf8(Text text, size_t &position);
/// Moves |position|, which must be greater than 0, back to the beginning of the character before it.
void previousCharacter(Text text, size_t &position);
/// Returns true if |text| is UTF-8 in its shortest form, without surrogates.
bool isUtf8(Text text);
/// Returns the number of characters of |text|, which must be valid UTF-8.
size_t countCharacters(Text text);
/// Returns the offset of the character with index |index|, or the length of |text| if it has no such character.
size_t characterOffset(Text text, size_t index);

/// Returns true for the white space of Python's str.strip.
bool isSpace(uint32_t character);
/// Returns true for the line ends of Python's str.splitlines.
bool isLineEnd(uint32_t character);
/// Returns true for the printable characters of Python's str.isprintable; repr writes the others as escape sequences.
bool isPrintable(uint32_t character);
bool isUpperCase(uint32_t character);
bool isLowerCase(uint32_t character);
bool isTitleCase(uint32_t character);
bool isCaseIgnorable(uint32_t character);
bool isDigit(uint32_t character);
bool isDecimal(uint32_t character);
/// Returns the value, 0 to 9, of |character|, for which isDecimal must be true.
uint32_t decimalValue(uint32_t character);
bool isNumeric(uint32_t character);
bool isAlphabetic(uint32_t character);
inline bool isCased(uint32_t character) { return isUpperCase(character) || isLowerCase(character) || isTitleCase(character); }

/// The image of a character under a case mapping: the first |count| of |characters|, 1 to 3.
struct CaseImage {
  uint32_t characters[3];
  uint32_t count;
};
CaseImage lowerCaseOf(uint32_t character);
CaseImage upperCaseOf(uint32_t character);
CaseImage titleCaseOf(uint32_t character);

} // namespace attune::chat

#endif // ATTUNE_RUNTIME_TEXT_CHAT_UNICODE_H
