//===- NormalizationForm.cpp - NFD, NFC, NFKD and NFKC --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/text/NormalizationForm.h"
#include "runtime/text/Transform.h"

using namespace attune::text;

namespace {

/// The characters of a text.
struct Characters {
  const uint8_t *at, *end;
  explicit Characters(const AlignedText &text) : at(text.bytes), end(text.bytes + text.size) {}
  bool next(uint32_t &character) {
    if (at >= end)
      return false;
    Character c = decodeCharacter(at, end);
    character = c.value;
    at += c.bytes;
    return true;
  }
};

} // namespace

// Hangul syllables are composed and decomposed by arithmetic, not by tables.
static constexpr uint32_t kHangulS = 0xAC00, kHangulL = 0x1100, kHangulV = 0x1161, kHangulT = 0x11A7;
static constexpr uint32_t kHangulNumL = 19, kHangulNumV = 21, kHangulNumT = 28;

static uint32_t composeHangul(uint32_t first, uint32_t second) {
  if (first - kHangulL < kHangulNumL && second - kHangulV < kHangulNumV)
    return kHangulS + ((first - kHangulL) * kHangulNumV + (second - kHangulV)) * kHangulNumT;
  uint32_t syllable = first - kHangulS;
  if (syllable < kHangulNumL * kHangulNumV * kHangulNumT && syllable % kHangulNumT == 0 && second - kHangulT - 1 < kHangulNumT - 1)
    return first + (second - kHangulT);
  return 0;
}

/// Sorts a long run of marks by combining class; the sort is stable.
static void sortMarks(FormCharacter *marks, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    FormCharacter moved = marks[i];
    size_t low = 0, high = i;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (marks[middle].combining <= moved.combining)
        low = middle + 1;
      else
        high = middle;
    }
    __builtin_memmove(marks + low + 1, marks + low, (i - low) * sizeof(FormCharacter));
    marks[low] = moved;
  }
}

void NormalizationForm::open(const Tables &source, Memory &memory, size_t capacity) {
  tables = &source;
  form = memory.take<FormCharacter>(capacity);
}

void NormalizationForm::append(uint32_t flags, const AlignedText &text, size_t begin, size_t stop, TextBuilder &out) {
  const UnicodeData &unicode = tables->unicode;
  form.clear();
  size_t pending = 0; // index of the first mark after the last character of class 0
  auto push = [&](uint32_t c, int32_t change) {
    uint8_t combining = tables->characters(c) & kCharCanonical ? uint8_t(unicode.combining(c)) : 0;
    form.push({c, combining, change});
    if (combining == 0) {
      pending = form.size;
      return;
    }
    // An insertion sort keeps equal classes in order and suits short runs of marks. Runs of more than 64 marks are
    // sorted below.
    size_t i = form.size - 1;
    if (form.full || form.size - pending > 64)
      return;
    FormCharacter moved = form[i];
    for (; i > pending && form[i - 1].combining > moved.combining; --i)
      form[i] = form[i - 1];
    form[i] = moved;
  };
  Characters characters(text.slice(begin, stop));
  for (uint32_t c; characters.next(c);) {
    uint32_t kind = tables->characters(c);
    uint32_t syllable = c - kHangulS;
    const uint32_t *parts = nullptr;
    uint32_t count = 0;
    if (syllable < kHangulNumL * kHangulNumV * kHangulNumT) {
      push(kHangulL + syllable / (kHangulNumV * kHangulNumT), 0);
      push(kHangulV + syllable % (kHangulNumV * kHangulNumT) / kHangulNumT, 1);
      if (syllable % kHangulNumT)
        push(kHangulT + syllable % kHangulNumT, 1);
      continue;
    }
    if ((flags & kFormCompatible) && (kind & kCharCompatible))
      count = unicode.compatible.find(c, parts);
    if (count == 0 && (kind & kCharCanonical))
      count = unicode.canonical.find(c, parts);
    if (count == 0)
      push(c, 0);
    for (uint32_t i = 0; i < count; ++i)
      push(parts[i], i > 0);
  }
  // Sorts runs of more than 64 marks, which no language has.
  for (size_t i = 0; i < form.size;) {
    size_t end = i;
    while (end < form.size && form[end].combining)
      ++end;
    if (end - i > 64)
      sortMarks(form.data + i, end - i);
    i = end + 1;
  }

  out.bytes.full |= form.full;
  Transform transform(text, out, begin);
  if (!(flags & kFormCompose)) {
    for (size_t i = 0; i < form.size; ++i)
      transform.emit(form[i].character, form[i].change);
    return;
  }
  // The composee, a character of class 0, absorbs the characters after it that compose with it. |form| keeps the marks
  // that do not, which follow the composee.
  for (size_t i = 0; i < form.size;) {
    if (form[i].combining) {
      transform.emit(form[i].character, form[i].change);
      ++i;
      continue;
    }
    FormCharacter composee = form[i++];
    size_t kept = i, numKept = 0;
    int lastClass = -1;
    for (; i < form.size; ++i) {
      FormCharacter next = form[i];
      bool blocked = lastClass >= 0 && lastClass >= next.combining;
      uint32_t composed = blocked ? 0 : composeHangul(composee.character, next.character);
      if (!blocked && !composed)
        composed = unicode.compose(composee.character, next.character);
      if (composed) {
        composee.character = composed;
        composee.change += next.change - 1;
        continue;
      }
      if (next.combining == 0)
        break;
      form[kept + numKept++] = next;
      lastClass = next.combining;
    }
    transform.emit(composee.character, composee.change);
    for (size_t k = 0; k < numKept; ++k)
      transform.emit(form[kept + k].character, form[kept + k].change);
  }
}
