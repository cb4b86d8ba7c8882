//===- ByteCharacters.h - Characters for bytes in byte-level vocabularies -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_BYTECHARACTERS_H
#define ATTUNE_RUNTIME_TEXT_BYTECHARACTERS_H

#include <cstdint>

namespace attune::text {

/// Returns the character that stands for |byte| in byte-level vocabularies, by the table of GPT-2.
inline uint32_t byteToCharacter(uint8_t byte) {
  if ((byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE)
    return byte;
  return byte <= 0x20 ? 0x100u + byte : byte < 0xA1 ? 0x121u + (byte - 0x7Fu) : 0x143u;
}

/// Returns the byte for which |character| stands in byte-level vocabularies, -1 if there is none.
inline int characterToByte(uint32_t character) {
  if (character < 0x100)
    return byteToCharacter(uint8_t(character)) == character ? int(character) : -1;
  if (character <= 0x120)
    return int(character - 0x100);
  if (character <= 0x142)
    return int(character - 0x121 + 0x7F);
  return character == 0x143 ? 0xAD : -1;
}

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_BYTECHARACTERS_H
