//===- StringOperations.cpp - Operations on strings -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StringOperations.h"
#include "Unicode.h"

using namespace attune;
using namespace attune::chat;

//===--- Case --------------------------------------------------------------===//

/// Returns true if the sigma at byte |position| ends a word: the character before it is cased, and the character after
/// it, if there is one, is not. Case-ignorable characters on both sides are skipped.
static bool isFinalSigma(Text text, size_t position) {
  size_t before = position, after = position;
  bool cased = false;
  while (before > 0 && !cased) {
    previousCharacter(text, before);
    size_t cursor = before;
    uint32_t character = decodeUtf8(text, cursor);
    if (isCaseIgnorable(character))
      continue;
    cased = isCased(character);
    break;
  }
  if (!cased)
    return false;
  decodeUtf8(text, after);
  while (after < text.bytes) {
    uint32_t character = decodeUtf8(text, after);
    if (!isCaseIgnorable(character))
      return !isCased(character);
  }
  return true;
}

static attune_status addImage(Builder &builder, const CaseImage &image) {
  for (uint32_t i = 0; i < image.count; ++i)
    ATTUNE_TRY(builder.addCharacter(image.characters[i]));
  return ATTUNE_OK;
}

/// Appends the lower case of the character at byte |position| and moves |position| to the next character.
static attune_status addLower(Text text, size_t &position, Builder &builder) {
  size_t begin = position;
  uint32_t character = decodeUtf8(text, position);
  if (character == 0x3A3)
    return builder.addCharacter(isFinalSigma(text, begin) ? 0x3C2 : 0x3C3);
  return addImage(builder, lowerCaseOf(character));
}

attune_status chat::lowerText(Machine &machine, const Value &self, Value &result) {
  ATTUNE_TRY(machine.charge(self.bytes / 8));
  Builder builder(machine);
  for (size_t i = 0; i < self.bytes;)
    ATTUNE_TRY(addLower(self.str(), i, builder));
  result = builder.value(self.isEscaped());
  return ATTUNE_OK;
}

attune_status chat::upperText(Machine &machine, const Value &self, Value &result) {
  ATTUNE_TRY(machine.charge(self.bytes / 8));
  Builder builder(machine);
  for (size_t i = 0; i < self.bytes;)
    ATTUNE_TRY(addImage(builder, upperCaseOf(decodeUtf8(self.str(), i))));
  result = builder.value(self.isEscaped());
  return ATTUNE_OK;
}

attune_status chat::capitalizeText(Machine &machine, const Value &self, Value &result) {
  ATTUNE_TRY(machine.charge(self.bytes / 8));
  Builder builder(machine);
  size_t position = 0;
  if (self.bytes)
    ATTUNE_TRY(addImage(builder, titleCaseOf(decodeUtf8(self.str(), position))));
  while (position < self.bytes)
    ATTUNE_TRY(addLower(self.str(), position, builder));
  result = builder.value(self.isEscaped());
  return ATTUNE_OK;
}

attune_status chat::titleText(Machine &machine, const Value &self, Value &result) {
  ATTUNE_TRY(machine.charge(self.bytes / 8));
  Builder builder(machine);
  bool inWord = false;
  for (size_t i = 0; i < self.bytes;) {
    size_t next = i;
    uint32_t character = decodeUtf8(self.str(), next);
    if (inWord)
      ATTUNE_TRY(addLower(self.str(), i, builder));
    else
      ATTUNE_TRY(addImage(builder, titleCaseOf(character)));
    i = next;
    inWord = isCased(character);
  }
  result = builder.value(self.isEscaped());
  return ATTUNE_OK;
}

//===--- Search, strip, replace, split -------------------------------------===//

size_t chat::findText(Text text, Text part, size_t begin) {
  if (part.bytes == 0)
    return begin <= text.bytes ? begin : SIZE_MAX;
  if (begin > text.bytes)
    return SIZE_MAX;
  const void *found = memmem(text.data + begin, text.bytes - begin, part.data, part.bytes);
  return found ? static_cast<size_t>(static_cast<const char *>(found) - text.data) : SIZE_MAX;
}

attune_status chat::stripText(Machine &machine, const Value &self, const Value &characters, bool left, bool right, Value &result) {
  Text text = self.str(), set;
  bool spaces = characters.isMissing() || characters.is(Tag::None);
  if (!spaces)
    ATTUNE_TRY(wantText(machine, characters, "strip", set));
  ATTUNE_TRY(machine.charge(text.bytes / 16));
  auto strips = [&](size_t begin, size_t end) {
    size_t cursor = begin;
    return spaces ? isSpace(decodeUtf8(text, cursor)) : findText(set, {text.data + begin, end - begin}) != SIZE_MAX;
  };
  size_t begin = 0, end = text.bytes;
  for (size_t next = 0; left && begin < end; begin = next) {
    decodeUtf8(text, next);
    if (!strips(begin, next))
      break;
    ATTUNE_TRY(machine.charge(set.bytes / 16));
  }
  for (size_t before = end; right && end > begin; end = before) {
    previousCharacter(text, before);
    if (!strips(before, end))
      break;
    ATTUNE_TRY(machine.charge(set.bytes / 16));
  }
  result = Value::ofText({text.data + begin, end - begin}, self.isEscaped());
  return ATTUNE_OK;
}

attune_status chat::replaceText(Machine &machine, Text text, Text from, Text to, int64_t count, bool escaped, Value &result) {
  ATTUNE_TRY(machine.charge(text.bytes / 16));
  Builder builder(machine);
  size_t begin = 0;
  auto left = static_cast<uint64_t>(count);
  if (count < 0)
    left = UINT64_MAX;
  if (from.bytes == 0) {
    // Inserts |to| before each character and at the end.
    while (left > 0) {
      ATTUNE_TRY(builder.add(to));
      --left;
      if (begin == text.bytes)
        break;
      size_t end = begin;
      decodeUtf8(text, end);
      ATTUNE_TRY(builder.add({text.data + begin, end - begin}));
      ATTUNE_TRY(machine.charge(1));
      begin = end;
    }
  } else {
    for (size_t found; left > 0 && (found = findText(text, from, begin)) != SIZE_MAX; --left) {
      ATTUNE_TRY(builder.add({text.data + begin, found - begin}));
      ATTUNE_TRY(builder.add(to));
      ATTUNE_TRY(machine.charge(1));
      begin = found + from.bytes;
    }
  }
  ATTUNE_TRY(builder.add(text.from(begin)));
  result = builder.value(escaped);
  return ATTUNE_OK;
}

attune_status chat::splitLines(Machine &machine, Text text, bool keepEnds, bool escaped, Array *&lines) {
  ATTUNE_TRY(machine.makeArray(0, lines));
  ATTUNE_TRY(machine.charge(text.bytes / 16));
  for (size_t begin = 0; begin < text.bytes;) {
    size_t end = begin, next = begin;
    while (next < text.bytes) {
      uint32_t character = decodeUtf8(text, next);
      if (isLineEnd(character)) {
        if (character == '\r' && next < text.bytes && text.data[next] == '\n')
          ++next;
        break;
      }
      end = next;
    }
    ATTUNE_TRY(machine.push(*lines, Value::ofText({text.data + begin, (keepEnds ? next : end) - begin}, escaped)));
    begin = next;
  }
  return ATTUNE_OK;
}

attune_status chat::centerText(Machine &machine, const Value &self, int64_t width, Text fill, Value &result) {
  auto length = static_cast<int64_t>(countCharacters(self.str()));
  result = self;
  if (width <= length)
    return ATTUNE_OK;
  int64_t room = width - length, left = room / 2 + (room & width & 1);
  Builder builder(machine);
  for (int64_t i = 0; i < room; ++i) {
    if (i == left)
      ATTUNE_TRY(builder.add(self.str()));
    ATTUNE_TRY(builder.add(fill));
  }
  if (left == room)
    ATTUNE_TRY(builder.add(self.str()));
  result = builder.value(self.isEscaped());
  return ATTUNE_OK;
}
