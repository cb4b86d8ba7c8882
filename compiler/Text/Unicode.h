//===- Unicode.h - UTF-8 and code points ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_UNICODE_H
#define ATTUNE_COMPILER_TEXT_UNICODE_H

#include "runtime/text/Utf8.h"

#include <string>
#include <vector>

namespace attune::text {

/// Returns the code points of |utf8|. A byte that is not part of UTF-8 gives a code point of its own.
inline std::vector<uint32_t> toCodePoints(const std::string &utf8) {
  std::vector<uint32_t> result;
  const uint8_t *at = reinterpret_cast<const uint8_t *>(utf8.data()), *end = at + utf8.size();
  while (at < end) {
    Character c = decodeCharacter(at, end);
    result.push_back(c.value);
    at += c.bytes;
  }
  return result;
}

/// Returns true if |bytes| are well-formed UTF-8.
inline bool isUtf8(const std::string &bytes) {
  const uint8_t *at = reinterpret_cast<const uint8_t *>(bytes.data()), *end = at + bytes.size();
  bool complete = true;
  while (at < end && complete) {
    size_t length = scanCharacter(at, end, complete);
    if (length == 0)
      return false;
    at += length;
  }
  return complete;
}

/// Appends the code point |character| to |utf8|.
inline void appendCharacter(std::string &utf8, uint32_t character) {
  uint8_t bytes[4];
  utf8.append(reinterpret_cast<char *>(bytes), encodeCharacter(character, bytes));
}

inline std::string toUtf8(const std::vector<uint32_t> &characters) {
  std::string result;
  for (uint32_t c : characters)
    appendCharacter(result, c);
  return result;
}

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_UNICODE_H
