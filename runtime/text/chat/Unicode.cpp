//===- Unicode.cpp - Characters of chat templates -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Unicode.h"

using namespace attune::chat;

namespace {
/// |count| characters from |first| on, each |distance| after the one before.
struct Run {
  uint32_t first, count, distance;
};
/// A run of characters whose image is |delta| further on.
struct Shift {
  Run run;
  int32_t delta;
};
/// A character whose image is two or three characters.
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

/// Returns the number of the last element that begins at or before |character|, |size| if there is none.
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

size_t encodeUtf8(uint32_t character, char *buffer) {
  auto byte = [&](int index, uint32_t value) { buffer[index] = static_cast<char>(value); };
  if (character < 0x80) {
    byte(0, character);
    return 1;
  }
  if (character < 0x800) {
    byte(0, 0xC0 | character >> 6);
    byte(1, 0x80 | (character & 0x3F));
    return 2;
  }
  if (character < 0x10000) {
    byte(0, 0xE0 | character >> 12);
    byte(1, 0x80 | (character >> 6 & 0x3F));
    byte(2, 0x80 | (character & 0x3F));
    return 3;
  }
  byte(0, 0xF0 | character >> 18);
  byte(1, 0x80 | (character >> 12 & 0x3F));
  byte(2, 0x80 | (character >> 6 & 0x3F));
  byte(3, 0x80 | (character & 0x3F));
  return 4;
}

uint32_t decodeUtf8(Text text, size_t &position) {
  auto byte = [&](size_t offset) -> uint32_t {
    return position + offset < text.bytes ? static_cast<unsigned char>(text.data[position + offset]) : 0x80;
  };
  uint32_t first = byte(0), character;
  size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  switch (length) {
  case 1:
    character = first;
    break;
  case 2:
    character = (first & 0x1F) << 6 | (byte(1) & 0x3F);
    break;
  case 3:
    character = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    break;
  default:
    character = (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
  position = length > text.bytes - position ? text.bytes : position + length;
  return character;
}

void previousCharacter(Text text, size_t &position) {
  do
    --position;
  while (position > 0 && (text.data[position] & 0xC0) == 0x80);
}

bool isUtf8(Text text) {
  for (size_t i = 0; i < text.bytes;) {
    if (static_cast<unsigned char>(text.data[i]) < 0x80) {
      ++i;
      continue;
    }
    size_t next = i;
    uint32_t character = decodeUtf8(text, next);
    char again[4];
    // Decoding ignores wrong bytes, so they do not come back.
    size_t bytes = encodeUtf8(character, again);
    if (character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF) || bytes != next - i ||
        memcmp(again, text.data + i, bytes) != 0)
      return false;
    i = next;
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
  // The digits of a script follow each other from 0 to 9; scripts may follow each other, too.
  size_t found = search(decimals, sizeof(decimals) / sizeof(decimals[0]), character, [](const Run &run) { return run.first; });
  return (character - decimals[found].first) % 10;
}

bool isNumeric(uint32_t character) { return isIn(numeric, character); }
bool isAlphabetic(uint32_t character) { return isIn(alphabetic, character); }

CaseImage lowerCaseOf(uint32_t character) { return map(lowerShifts, lowerSeveral, character); }
CaseImage upperCaseOf(uint32_t character) { return map(upperShifts, upperSeveral, character); }
CaseImage titleCaseOf(uint32_t character) { return map(titleShifts, titleSeveral, character); }

} // namespace attune::chat
