//===- Unicode.cpp - Characters of chat templates -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Unicode.h"

#include "runtime/text/Utf8.h"

using namespace attune;
using namespace attune::chat;

namespace {
/// The |count| characters first, first + distance, first + 2 * distance and so on.
struct Run {
  uint32_t first, count, distance;
};
/// A run of characters that all have one-character images: the character plus |delta|.
struct Shift {
  Run run;
  int32_t delta;
};
/// A character whose image is two or three characters. image[2] is 0 if there are two.
struct Several {
  uint32_t character;
  uint32_t image[3];
};
} // namespace

#include "UnicodeTables.inc"

static bool contains(const Run &run, uint32_t character) {
  uint32_t offset = character - run.first;
  return character >= run.first && offset % run.distance == 0 && offset / run.distance < run.count;
}

/// Returns the index of the last of the |size| elements of |table| that begins at or before |character|, or |size| if
/// there is none. |first| returns the character at which an element begins; |table| is sorted by it.
template <typename T, typename First>
static size_t search(const T *table, size_t size, uint32_t character, First first) {
  size_t begin = 0, end = size;
  while (begin < end) {
    size_t middle = (begin + end) / 2;
    if (first(table[middle]) <= character)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin ? begin - 1 : size;
}

template <size_t N>
static bool isIn(const Run (&runs)[N], uint32_t character) {
  size_t found = search(runs, N, character, [](const Run &run) { return run.first; });
  return found != N && contains(runs[found], character);
}

template <size_t N, size_t M>
static CaseImage map(const Shift (&shifts)[N], const Several (&several)[M], uint32_t character) {
  size_t found = search(several, M, character, [](const Several &entry) { return entry.character; });
  if (found != M && several[found].character == character) {
    const Several &entry = several[found];
    return {{entry.image[0], entry.image[1], entry.image[2]}, entry.image[2] ? 3u : 2u};
  }
  found = search(shifts, N, character, [](const Shift &shift) { return shift.run.first; });
  if (found != N && contains(shifts[found].run, character))
    return {{character + static_cast<uint32_t>(shifts[found].delta), 0, 0}, 1};
  return {{character, 0, 0}, 1};
}

namespace attune::chat {

static const uint8_t *bytesOf(Text text) { return reinterpret_cast<const uint8_t *>(text.data); }

size_t encodeUtf8(uint32_t character, char *buffer) { return text::encodeCharacter(character, reinterpret_cast<uint8_t *>(buffer)); }

uint32_t decodeUtf8(Text text, size_t &position) {
  text::Character character = text::decodeCharacter(bytesOf(text) + position, bytesOf(text) + text.bytes);
  position += character.bytes;
  return character.value;
}

void previousCharacter(Text text, size_t &position) {
  do
    --position;
  while (position > 0 && (text.data[position] & 0xC0) == 0x80);
}

bool isUtf8(Text text) {
  const uint8_t *at = bytesOf(text), *end = at + text.bytes;
  while (at < end) {
    bool complete;
    size_t bytes = text::scanCharacter(at, end, complete);
    if (bytes == 0 || !complete)
      return false;
    at += bytes;
  }
  return true;
}

size_t countCharacters(Text text) {
  size_t count = 0;
  for (size_t i = 0; i < text.bytes; ++i)
    count += (text.data[i] & 0xC0) != 0x80;
  return count;
}

size_t characterOffset(Text text, size_t index) {
  size_t position = 0;
  while (index > 0 && position < text.bytes) {
    decodeUtf8(text, position);
    --index;
  }
  return position;
}

bool isSpace(uint32_t character) {
  return (character >= 9 && character <= 13) || (character >= 28 && character <= 32) || character == 0x85 || character == 0xA0 ||
         character == 0x1680 || (character >= 0x2000 && character <= 0x200A) || character == 0x2028 || character == 0x2029 ||
         character == 0x202F || character == 0x205F || character == 0x3000;
}

bool isLineEnd(uint32_t character) {
  return (character >= 10 && character <= 13) || (character >= 28 && character <= 30) || character == 0x85 || character == 0x2028 ||
         character == 0x2029;
}

bool isPrintable(uint32_t character) { return !isIn(unprintable, character); }
bool isUpperCase(uint32_t character) { return isIn(upperCase, character); }
bool isLowerCase(uint32_t character) { return isIn(lowerCase, character); }
bool isTitleCase(uint32_t character) { return isIn(titleCase, character); }
bool isCaseIgnorable(uint32_t character) { return isIn(caseIgnorable, character); }
bool isDigit(uint32_t character) { return isIn(digits, character); }
bool isDecimal(uint32_t character) { return isIn(decimals, character); }

uint32_t decimalValue(uint32_t character) {
  // Each run in |decimals| is one or several sets of the digits 0 to 9, in order.
  size_t found = search(decimals, sizeof(decimals) / sizeof(decimals[0]), character, [](const Run &run) { return run.first; });
  return (character - decimals[found].first) % 10;
}

bool isNumeric(uint32_t character) { return isIn(numeric, character); }
bool isAlphabetic(uint32_t character) { return isIn(alphabetic, character); }

CaseImage lowerCaseOf(uint32_t character) { return map(lowerShifts, lowerSeveral, character); }
CaseImage upperCaseOf(uint32_t character) { return map(upperShifts, upperSeveral, character); }
CaseImage titleCaseOf(uint32_t character) { return map(titleShifts, titleSeveral, character); }

} // namespace attune::chat
