//===- Normalizer.cpp - Normalizer steps ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most steps do not copy a text that they do not change. They find that out from flags of its characters
// (CharacterFlag); few texts have characters with the flags that matter to a step. Transform.h says how the origins of
// characters are tracked.
//===----------------------------------------------------------------------===//

#include "runtime/text/Normalizer.h"
#include "runtime/text/ByteCharacters.h"
#include "runtime/text/Graphemes.h"
#include "runtime/text/PatternMatches.h"
#include "runtime/text/Transform.h"

using namespace attune::text;

/// Returns the length of the prefix of [at, end) that is ASCII.
static size_t scanAscii(const uint8_t *at, const uint8_t *end) {
  const uint8_t *begin = at;
  while (end - at >= 8) {
    uint64_t word;
    __builtin_memcpy(&word, at, 8);
    if (word & 0x8080808080808080ull)
      break;
    at += 8;
  }
  while (at < end && *at < 0x80)
    ++at;
  return size_t(at - begin);
}

/// Returns the first byte of [at, end) that is a control character or outside ASCII, or |end|.
static const uint8_t *skipPrintable(const uint8_t *at, const uint8_t *end) {
  constexpr uint64_t ones = 0x0101010101010101ull, highs = ones << 7;
  while (end - at >= 8) {
    uint64_t word;
    __builtin_memcpy(&word, at, 8);
    // Bit 7 of each byte that is below 0x20, equal to 0x7F or outside ASCII. Above the first such byte, a carry may set
    // bits of other bytes, too.
    const uint64_t stops = ((word - 0x20 * ones) | word | (word + ones)) & highs;
    if (stops)
      return at + __builtin_ctzll(stops) / 8;
    at += 8;
  }
  while (at < end && *at >= 0x20 && *at < 0x7F)
    ++at;
  return at;
}

void Normalizer::open(const Tables &source, Memory &memory, size_t capacity) {
  tables = &source;
  overflow = false;
  for (TextBuilder &builder : builders) {
    builder.bytes = memory.take<uint8_t>(capacity);
    builder.ranges = memory.take<OriginalRange>(capacity);
  }
  form.open(source, memory, capacity);
}

AlignedText Normalizer::run(AlignedText text, bool aligned) {
  wantRanges = aligned;
  for (uint32_t i = 0; i < tables->numSteps[0] && text.size; ++i) {
    text = apply(tables->steps[tables->firstStep[0] + i], text);
    overflow |= builders[0].bytes.full || builders[1].bytes.full;
  }
  return text;
}

AlignedText Normalizer::apply(const CheckedStep &step, const AlignedText &text) {
  switch (step.step.kind) {
  case StepKind::NormalizeBert:
    return applyBert(step.step.a, text);
  case StepKind::NormalizeForm:
    return applyForm(step.step.a, text);
  case StepKind::NormalizeLowercase:
    return lowercase(text);
  case StepKind::NormalizeStripAccents:
    return dropMarks(text, kCharMark);
  case StepKind::NormalizeStrip:
    return strip(text, step.step.a);
  case StepKind::NormalizePrepend:
    return prepend(text, step.text);
  case StepKind::NormalizeReplace:
    return replace(step, text);
  case StepKind::NormalizePrecompiled:
    return applyPrecompiled(step, text);
  case StepKind::NormalizePieces:
    return applyPieces(step, text);
  case StepKind::NormalizeNmt:
    return clean(text, kCharNmtDropped, kCharNmtSpace);
  case StepKind::NormalizeByteLevel:
    return mapBytes(text);
  default:
    return text;
  }
}

AlignedText Normalizer::applyBert(uint32_t flags, AlignedText text) {
  if (flags & kBertClean)
    text = clean(text, kCharBertDropped, kCharBertSpace);
  // ASCII has neither ideographs nor accents.
  bool ascii = scanAscii(text.bytes, text.bytes + text.size) == text.size;
  if ((flags & kBertChinese) && !ascii)
    text = isolateChinese(text);
  if ((flags & kBertAccents) && !ascii)
    text = dropMarks(applyForm(0, text), kCharBertMark);
  if (flags & kBertLower)
    text = lowercase(text);
  return text;
}

/// Drops characters with the flag |dropped| and replaces those with |spaces| by spaces. Printable ASCII stays as it is.
AlignedText Normalizer::clean(const AlignedText &text, uint32_t dropped, uint32_t spaces) {
  const uint8_t *end = text.bytes + text.size;
  TextBuilder *out = nullptr;
  size_t kept = 0;
  for (const uint8_t *at = text.bytes; (at = skipPrintable(at, end)) < end;) {
    Character c = decodeCharacter(at, end);
    uint32_t flags = tables->characters(c.value);
    size_t place = size_t(at - text.bytes);
    at += c.bytes;
    if (!(flags & (dropped | spaces)))
      continue;
    if (!out)
      out = &nextBuilder(wantRanges);
    out->copy(text, kept, place);
    kept = place + c.bytes;
    if (!(flags & dropped))
      out->add(' ', wantRanges ? text.rangeAt(place) : OriginalRange{});
  }
  if (!out)
    return text;
  out->copy(text, kept, text.size);
  return out->text(text.origin);
}

AlignedText Normalizer::isolateChinese(const AlignedText &text) {
  const uint8_t *end = text.bytes + text.size;
  TextBuilder *out = nullptr;
  size_t kept = 0;
  for (const uint8_t *at = text.bytes; (at += scanAscii(at, end)) < end;) {
    Character c = decodeCharacter(at, end);
    size_t place = size_t(at - text.bytes);
    at += c.bytes;
    if (!(tables->characters(c.value) & kCharBertChinese))
      continue;
    if (!out)
      out = &nextBuilder(wantRanges);
    out->copy(text, kept, place);
    kept = place + c.bytes;
    const OriginalRange range = wantRanges ? text.rangeAt(place) : OriginalRange{};
    out->add(' ', range);
    out->addBytes(text.bytes + place, c.bytes, range);
    out->add(' ', range);
  }
  if (!out)
    return text;
  out->copy(text, kept, text.size);
  return out->text(text.origin);
}

/// Changes the parts of a text that the normalization form may change, and copies the rest. Such a part begins with the
/// character before it, because a mark in the part may compose with that character.
AlignedText Normalizer::applyForm(uint32_t flags, const AlignedText &text) {
  const uint32_t changing = (flags & kFormCompatible ? kCharCompatible
                             : flags & kFormCompose  ? 0
                                                     : kCharCanonical) |
                            (flags & kFormCompose ? kCharComposes : 0);
  constexpr uint32_t moving = kCharCanonical | kCharCompatible | kCharComposes;
  const uint8_t *end = text.bytes + text.size, *at = text.bytes, *steady = at;
  TextBuilder *out = nullptr;
  size_t copied = 0;
  while (at < end) {
    if (const size_t ascii = scanAscii(at, end)) {
      at += ascii;
      steady = at - 1;
      continue;
    }
    Character c = decodeCharacter(at, end);
    uint32_t kind = tables->characters(c.value);
    if (!(kind & moving)) {
      steady = at;
      at += c.bytes;
      continue;
    }
    bool changes = false;
    do {
      changes |= (kind & changing) != 0;
      at += c.bytes;
      if (at == end)
        break;
      c = decodeCharacter(at, end);
      kind = tables->characters(c.value);
    } while (kind & moving);
    if (!changes)
      continue;
    if (!out)
      out = &nextBuilder(wantRanges);
    const size_t place = size_t(steady - text.bytes);
    out->copy(text, copied, place);
    copied = size_t(at - text.bytes);
    form.append(flags, text, place, copied, *out);
    steady = at;
  }
  if (!out)
    return text;
  out->copy(text, copied, text.size);
  return out->text(text.origin);
}

AlignedText Normalizer::dropMarks(const AlignedText &text, uint32_t flag) {
  if (scanAscii(text.bytes, text.bytes + text.size) == text.size)
    return text;
  return clean(text, flag, 0);
}

AlignedText Normalizer::lowercase(const AlignedText &text) {
  const uint8_t *at = text.bytes, *end = at + text.size;
  bool changes = false;
  while (at < end && !changes) {
    if (*at < 0x80) {
      changes = *at >= 'A' && *at <= 'Z';
      ++at;
    } else {
      Character c = decodeCharacter(at, end);
      changes = tables->characters(c.value) & kCharLowers;
      at += c.bytes;
    }
  }
  if (!changes)
    return text;
  TextBuilder &out = nextBuilder(wantRanges);
  // Copies runs with the ASCII letters in them lowered.
  auto copyRun = [&](size_t begin, size_t stop) {
    const size_t place = out.bytes.size;
    out.copy(text, begin, stop);
    uint8_t *to = out.bytes.data + place;
    for (size_t i = 0; i < out.bytes.size - place; ++i)
      to[i] = uint8_t(to[i] - 'A') < 26 ? to[i] + 32 : to[i];
  };
  size_t copied = 0;
  for (at = text.bytes; (at += scanAscii(at, end)) < end;) {
    Character c = decodeCharacter(at, end);
    const size_t place = size_t(at - text.bytes);
    at += c.bytes;
    const uint32_t *parts = nullptr;
    uint32_t count = tables->characters(c.value) & kCharLowers ? tables->unicode.lowercase.find(c.value, parts) : 0;
    if (count == 0)
      continue;
    copyRun(copied, place);
    copied = place + c.bytes;
    const OriginalRange range = wantRanges ? text.rangeAt(place) : OriginalRange{};
    for (uint32_t i = 0; i < count; ++i)
      out.add(parts[i], range);
  }
  copyRun(copied, text.size);
  return out.text(text.origin);
}

AlignedText Normalizer::strip(const AlignedText &text, uint32_t sides) {
  const uint8_t *begin = text.bytes, *end = begin + text.size;
  if (sides & 1)
    while (begin < end) {
      Character c = decodeCharacter(begin, end);
      if (!(tables->characters(c.value) & kCharWhiteSpace))
        break;
      begin += c.bytes;
    }
  if (sides & 2)
    while (begin < end) {
      Character c = decodeCharacterBefore(begin, end);
      if (!(tables->characters(c.value) & kCharWhiteSpace))
        break;
      end -= c.bytes;
    }
  if (begin == text.bytes && end == begin + text.size)
    return text;
  // A slice would not do: a normalized text keeps the origin of its segment, so only ranges can say where its bytes are
  // from.
  TextBuilder &out = nextBuilder(wantRanges);
  out.copy(text, size_t(begin - text.bytes), size_t(end - text.bytes));
  return out.text(text.origin);
}

AlignedText Normalizer::prepend(const AlignedText &text, Bytes prefix) {
  TextBuilder &out = nextBuilder(wantRanges);
  out.addBytes(prefix.data, prefix.size, wantRanges ? text.rangeAt(0) : OriginalRange{});
  out.copy(text, 0, text.size);
  return out.text(text.origin);
}

AlignedText Normalizer::replace(const CheckedStep &step, const AlignedText &text) {
  PatternMatches matches(step, text.bytes, text.bytes + text.size);
  const uint8_t *begin, *end;
  if (!matches.next(begin, end))
    return text;
  TextBuilder &out = nextBuilder(wantRanges);
  size_t copied = 0;
  do {
    size_t from = size_t(begin - text.bytes), to = size_t(end - text.bytes);
    out.copy(text, copied, from);
    OriginalRange range = {};
    if (wantRanges)
      range = to == 0 ? OriginalRange{text.origin, text.origin} : text.rangeAt(to - 1);
    out.addBytes(step.text.data, step.text.size, range);
    copied = to;
  } while (matches.next(begin, end));
  out.copy(text, copied, text.size);
  return out.text(text.origin);
}

AlignedText Normalizer::applyPrecompiled(const CheckedStep &step, const AlignedText &text) {
  TextBuilder &out = nextBuilder(wantRanges);
  Transform transform(text, out);
  bool changed = false, hasHeld = false;
  uint32_t heldCharacter = 0;
  int32_t heldChange = 0;
  // A deletion is counted in the change of the character before it, so each character is held until the next one comes.
  auto emit = [&](uint32_t c, int32_t change) {
    if (hasHeld)
      transform.emit(heldCharacter, heldChange);
    heldCharacter = c;
    heldChange = change;
    hasHeld = true;
  };
  // Looks [at, end) up. The shortest prefix that has a replacement decides for all of it.
  auto find = [&](const uint8_t *at, const uint8_t *end, Bytes &found) {
    uint32_t node = Trie::kRoot;
    for (; at < end && *at; ++at) {
      if (!step.charsmap.step(node, *at))
        return false;
      uint32_t value = step.charsmap.value(node);
      if (value == kNoId)
        continue;
      if (value > step.replacements.size || step.replacements.size - value < 4)
        return false;
      uint32_t size;
      __builtin_memcpy(&size, step.replacements.data + value, 4);
      if (size > step.replacements.size - value - 4)
        return false;
      found = {step.replacements.data + value + 4, size};
      return true;
    }
    return false;
  };
  auto replaceBy = [&](size_t oldCount, Bytes found) {
    changed = true;
    const uint8_t *end = found.data + found.size;
    size_t count = 0;
    for (const uint8_t *at = found.data; at < end; ++count) {
      Character c = decodeCharacter(at, end);
      emit(c.value, count >= oldCount);
      at += c.bytes;
    }
    if (count < oldCount && hasHeld)
      heldChange -= int32_t(oldCount - count);
  };
  const uint8_t *at = text.bytes, *end = at + text.size;
  while (at < end) {
    // Printable ASCII before ASCII is a grapheme of its own; most maps leave it as it is.
    if (!step.mapsPrintable) {
      const uint8_t *stop = skipPrintable(at, end);
      if (stop < end && *stop >= 0x80 && stop > at)
        --stop;
      if (stop - at > 1) {
        if (hasHeld)
          transform.emit(heldCharacter, heldChange);
        hasHeld = false;
        // A deletion at the beginning of the text has no character before it that could count it. It shifts the origins
        // of all later characters.
        if (transform.position() == size_t(at - text.bytes))
          transform.copy(size_t(stop - at) - 1);
        else
          for (; at < stop - 1; ++at)
            transform.emit(*at, 0);
        at = stop;
        emit(at[-1], 0);
        continue;
      }
    }
    const uint8_t *next = findGraphemeEnd(tables->unicode.graphemes, at, end);
    Bytes found;
    if (next - at < 6 && find(at, next, found)) {
      size_t count = 0;
      for (const uint8_t *c = at; c < next; ++count)
        c += decodeCharacter(c, next).bytes;
      replaceBy(count, found);
      at = next;
      continue;
    }
    while (at < next) {
      Character c = decodeCharacter(at, next);
      if (find(at, at + c.bytes, found))
        replaceBy(1, found);
      else
        emit(c.value, 0);
      at += c.bytes;
    }
  }
  if (!changed)
    return text;
  if (hasHeld)
    transform.emit(heldCharacter, heldChange);
  return out.text(text.origin);
}

/// Normalizes as SentencePiece does: replaces the longest string of the map at each place, then makes marks of spaces
/// unless kPiecesUnmarked is set. PiecesFlag lists the other options.
AlignedText Normalizer::applyPieces(const CheckedStep &step, const AlignedText &text) {
  const uint32_t flags = step.step.e;
  const bool trims = flags & kPiecesTrim;
  static constexpr uint8_t markBytes[] = {0xE2, 0x96, 0x81};
  static constexpr uint8_t spaceByte = ' ';
  const Bytes mark = flags & kPiecesUnmarked ? Bytes{&spaceByte, 1} : Bytes{markBytes, sizeof(markBytes)};
  const uint8_t *at = text.bytes, *end = at + text.size;
  auto next = [&](Bytes &part) {
    size_t size = step.prefixes.find(at, end, part);
    if (size == 0) {
      size = decodeCharacter(at, end).bytes;
      part = {at, size};
    }
    return size;
  };
  auto rangeOf = [&](size_t size) {
    if (!wantRanges)
      return OriginalRange{};
    const size_t begin = size_t(at - text.bytes);
    return OriginalRange{text.rangeAt(begin).begin, text.rangeAt(begin + size - 1).end};
  };
  Bytes part;
  while (trims && at < end) {
    const size_t size = next(part);
    if (part.size != 1 || part.data[0] != ' ')
      break;
    at += size;
  }
  TextBuilder &out = nextBuilder(wantRanges);
  if (at == end)
    return out.text(text.origin);
  if (flags & kPiecesBegin)
    out.addBytes(mark.data, mark.size, rangeOf(1));
  bool afterSpace = trims;
  while (at < end) {
    const size_t size = next(part);
    const OriginalRange range = rangeOf(size);
    at += size;
    while (afterSpace && part.size && part.data[0] == ' ')
      part = {part.data + 1, part.size - 1};
    for (size_t i = 0; i < part.size;) {
      if (part.data[i] == ' ') {
        out.addBytes(mark.data, mark.size, range);
        ++i;
        continue;
      }
      const void *space = __builtin_memchr(part.data + i, ' ', part.size - i);
      const size_t stop = space ? size_t(static_cast<const uint8_t *>(space) - part.data) : part.size;
      out.addBytes(part.data + i, stop - i, range);
      i = stop;
    }
    if (part.size)
      afterSpace = trims && part.data[part.size - 1] == ' ';
  }
  while (trims && out.bytes.size >= mark.size && __builtin_memcmp(out.bytes.data + out.bytes.size - mark.size, mark.data, mark.size) == 0) {
    out.bytes.size -= mark.size;
    if (wantRanges)
      out.ranges.size -= mark.size;
  }
  if (flags & kPiecesEnd)
    out.addBytes(mark.data, mark.size, wantRanges ? text.rangeAt(text.size - 1) : OriginalRange{});
  return out.text(text.origin);
}

AlignedText Normalizer::mapBytes(const AlignedText &text) {
  TextBuilder &out = nextBuilder(wantRanges);
  for (size_t i = 0; i < text.size; ++i)
    out.add(byteToCharacter(text.bytes[i]), wantRanges ? text.rangeAt(i) : OriginalRange{});
  return out.text(text.origin);
}
