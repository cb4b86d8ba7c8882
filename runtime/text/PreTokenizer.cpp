//===- PreTokenizer.cpp - Pre-tokenizer steps -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "runtime/text/PreTokenizer.h"
#include "runtime/text/ByteCharacters.h"
#include "runtime/text/PatternMatches.h"
#include "runtime/text/PieceMasks.h"

using namespace attune::text;

void PreTokenizer::open(const Tables &source, Memory &memory, size_t capacity, Model &target) {
  tables = &source;
  model = &target;
  overflow = false;
  size_t used = 0;
  numSteps = 0;
  for (uint32_t i = 0; i < tables->numSteps[1]; ++i) {
    const CheckedStep &checked = tables->steps[tables->firstStep[1] + i];
    // A byte-level step without a pattern, prefix space and map of bytes changes nothing.
    if (checked.step.kind == StepKind::SplitByteLevel && !checked.hasAutomaton && checked.step.a == 0)
      continue;
    size_t wanted = countBuffers(checked.step.kind);
    builderOf[numSteps] = uint8_t(used);
    steps[numSteps++] = &checked;
    for (; wanted > 0 && used < kMostBuffers; --wanted, ++used) {
      builders[used].bytes = memory.take<uint8_t>(capacity);
      builders[used].ranges = memory.take<OriginalRange>(capacity);
    }
    overflow |= wanted > 0;
  }
}

void PreTokenizer::run(const AlignedText &text, bool aligned) {
  wantRanges = aligned;
  if (text.size == 0 || overflow)
    return;
  whole = text;
  numPieces = 0;
  if (numSteps == 0)
    pieces[numPieces++] = {0, uint32_t(text.size)};
  else
    step(0, text);
  flush();
}

/// Calls forward for the pieces of |text|, by the rules that Hugging Face's tokenizers have for each SplitBehavior.
/// |matches| finds the next match: bool(size_t &begin, size_t &end). |inverted| swaps matches and the text between
/// them.
template <typename Matches>
void PreTokenizer::split(uint32_t index, const AlignedText &text, SplitBehavior behavior, bool inverted, Matches matches) {
  // [pieceBegin, pieceEnd) is a piece that may still grow; |before| says whether the last part was a match. Hugging
  // Face's tokenizers apply MergedWithNext from right to left, so that of adjacent matches only the last joins the text
  // after it.
  size_t pieceBegin = 0, pieceEnd = 0;
  bool hasPiece = false, before = false;
  auto flush = [&] {
    if (hasPiece)
      forward(index, text, pieceBegin, pieceEnd);
    hasPiece = false;
  };
  auto start = [&](size_t begin, size_t end) {
    flush();
    pieceBegin = begin;
    pieceEnd = end;
    hasPiece = true;
  };
  auto part = [&](size_t begin, size_t end, bool isMatch) {
    isMatch ^= inverted;
    switch (behavior) {
    case SplitBehavior::Removed:
      if (!isMatch)
        forward(index, text, begin, end);
      break;
    case SplitBehavior::Isolated:
      forward(index, text, begin, end);
      break;
    case SplitBehavior::Contiguous:
      if (hasPiece && isMatch == before)
        pieceEnd = end;
      else
        start(begin, end);
      break;
    case SplitBehavior::MergedWithPrevious:
      if (hasPiece && isMatch && !before)
        pieceEnd = end;
      else
        start(begin, end);
      break;
    case SplitBehavior::MergedWithNext:
      // A match joins the part after it, unless that part is a match, too.
      if (hasPiece && before && !isMatch)
        pieceEnd = end;
      else
        start(begin, end);
      break;
    }
    before = isMatch;
  };
  size_t last = 0, begin, end;
  while (matches(begin, end)) {
    if (last != begin)
      part(last, begin, false);
    part(begin, end, true);
    last = end;
  }
  if (last != text.size)
    part(last, text.size, false);
  flush();
}

/// Returns a function that finds the next character for which |wanted|(character, flags) holds.
template <typename Fn>
static auto matchCharacters(const Tables &tables, const AlignedText &text, Fn wanted) {
  const uint8_t *at = text.bytes, *begin = at, *end = at + text.size;
  return [&tables, wanted, at, begin, end](size_t &matchBegin, size_t &matchEnd) mutable {
    while (at < end) {
      Character c = decodeCharacter(at, end);
      at += c.bytes;
      if (wanted(c.value, tables.characters(c.value))) {
        matchEnd = size_t(at - begin);
        matchBegin = matchEnd - c.bytes;
        return true;
      }
    }
    return false;
  };
}

static auto matchFlags(const Tables &tables, const AlignedText &text, uint32_t flag) {
  return matchCharacters(tables, text, [flag](uint32_t, uint32_t flags) { return (flags & flag) != 0; });
}

/// Returns a function that finds the next match of a pattern.
static auto matchPattern(const CheckedStep &step, const AlignedText &text) {
  PatternMatches matches(step, text.bytes, text.bytes + text.size);
  const uint8_t *base = text.bytes;
  return [matches, base](size_t &begin, size_t &end) mutable {
    const uint8_t *from, *to;
    if (!matches.next(from, to))
      return false;
    begin = size_t(from - base);
    end = size_t(to - base);
    return true;
  };
}

/// Returns true if the pieces of a text are the matches of a pattern, provided that the matches cover the text.
static bool tilesText(SplitBehavior behavior, bool inverted) {
  return behavior == SplitBehavior::Isolated || (behavior == SplitBehavior::Removed && inverted);
}

void PreTokenizer::splitByMasks(uint32_t index, const Automaton &automaton, const AlignedText &text) {
  PieceMasks masks(automaton, text.bytes, text.bytes + text.size);
  uint32_t ends[PieceMasks::kMostPieces], begin = 0;
  const bool isLast = index + 1 == numSteps;
  const uint32_t place = uint32_t(text.bytes - whole.bytes);
  while (const size_t count = masks.next(ends)) {
    if (isLast && numPieces + count > kMostPieces)
      flush();
    for (size_t i = 0; i < count; ++i) {
      if (isLast)
        pieces[numPieces++] = {place + begin, place + ends[i]};
      else
        forward(index, text, begin, ends[i]);
      begin = ends[i];
    }
  }
}

void PreTokenizer::step(uint32_t index, const AlignedText &text) {
  const CheckedStep &checked = *steps[index];
  const Step &step = checked.step;
  switch (step.kind) {
  case StepKind::SplitBert:
    return splitBert(index, text);
  case StepKind::SplitByteLevel:
    return splitByteLevel(index, checked, text);
  case StepKind::SplitMetaspace:
    return splitMetaspace(index, checked, text);
  case StepKind::SplitPattern:
    if (checked.hasAutomaton && checked.automaton.scheme() != MaskScheme::None && tilesText(SplitBehavior(step.a), step.b))
      return splitByMasks(index, checked.automaton, text);
    return split(index, text, SplitBehavior(step.a), step.b, matchPattern(checked, text));
  case StepKind::SplitWhitespace:
    return splitWords(index, text);
  case StepKind::SplitWhiteSpaces:
    return split(index, text, SplitBehavior::Removed, false, matchFlags(*tables, text, kCharWhiteSpace));
  case StepKind::SplitPunctuation:
    return split(index, text, SplitBehavior(step.a), false, matchFlags(*tables, text, kCharPunctuation));
  case StepKind::SplitDigits:
    return split(index, text, step.a ? SplitBehavior::Isolated : SplitBehavior::Contiguous, false, matchFlags(*tables, text, kCharNumeric));
  case StepKind::SplitDelimiter:
    return split(index, text, SplitBehavior::Removed, false,
                 matchCharacters(*tables, text, [delimiter = step.a](uint32_t c, uint32_t) { return c == delimiter; }));
  case StepKind::SplitScripts:
    return splitScripts(index, text);
  case StepKind::SplitLength: {
    size_t begin = 0, at = 0, count = 0;
    while (at < text.size) {
      at += decodeCharacter(text.bytes + at, text.bytes + text.size).bytes;
      if (++count == step.a || at == text.size) {
        forward(index, text, begin, at);
        begin = at;
        count = 0;
      }
    }
    return;
  }
  default:
    return forward(index, text, 0, text.size);
  }
}

/// Splits |text| into words and runs of other characters that are not white space; drops the white space.
void PreTokenizer::splitWords(uint32_t index, const AlignedText &text) {
  const uint8_t *end = text.bytes + text.size;
  size_t begin = 0;
  uint32_t kind = kCharWhiteSpace; // kind of the piece that began at |begin|
  for (const uint8_t *at = text.bytes; at < end;) {
    Character c = decodeCharacter(at, end);
    uint32_t next = tables->characters(c.value) & (kCharWord | kCharWhiteSpace);
    if (next != kind) {
      if (kind != kCharWhiteSpace)
        forward(index, text, begin, size_t(at - text.bytes));
      begin = size_t(at - text.bytes);
      kind = next;
    }
    at += c.bytes;
  }
  if (kind != kCharWhiteSpace)
    forward(index, text, begin, text.size);
}

/// Splits |text| at white space, which is dropped, and around each punctuation character.
void PreTokenizer::splitBert(uint32_t index, const AlignedText &text) {
  const uint8_t *end = text.bytes + text.size;
  size_t begin = 0;
  for (const uint8_t *at = text.bytes; at < end;) {
    uint32_t bytes = 1, c = *at;
    if (c >= 0x80) {
      Character decoded = decodeCharacter(at, end);
      c = decoded.value;
      bytes = decoded.bytes;
    }
    uint32_t flags = tables->characters(c) & (kCharWhiteSpace | kCharPunctuation);
    at += bytes;
    if (!flags)
      continue;
    size_t place = size_t(at - text.bytes);
    forward(index, text, begin, place - bytes);
    if (flags & kCharPunctuation && !(flags & kCharWhiteSpace))
      forward(index, text, place - bytes, place);
    begin = place;
  }
  forward(index, text, begin, text.size);
}

/// Splits |text| where the script (Latin, Han, …) changes; characters without a script join those before them. Text
/// before the first character with a script is lost, as in Hugging Face's tokenizers.
void PreTokenizer::splitScripts(uint32_t index, const AlignedText &text) {
  const uint8_t *end = text.bytes + text.size;
  size_t begin = 0;
  uint32_t last = 0;
  bool hasBegin = false;
  for (const uint8_t *at = text.bytes; at < end;) {
    Character c = decodeCharacter(at, end);
    uint32_t script = tables->unicode.scripts(c.value);
    size_t place = size_t(at - text.bytes);
    if (script != 0 && (!hasBegin || script != last)) {
      if (hasBegin)
        forward(index, text, begin, place);
      begin = place;
      hasBegin = true;
    }
    last = script ? script : last;
    at += c.bytes;
  }
  if (hasBegin)
    forward(index, text, begin, text.size);
}

void PreTokenizer::splitByteLevel(uint32_t index, const CheckedStep &checked, AlignedText text) {
  uint32_t flags = checked.step.a;
  AlignedText outer = whole;
  if ((flags & 1) && text.bytes[0] != ' ') {
    TextBuilder &out = builders[builderOf[index]];
    out.begin(wantRanges);
    uint8_t space = ' ';
    out.addBytes(&space, 1, wantRanges ? text.rangeAt(0) : OriginalRange{});
    out.copy(text, 0, text.size);
    overflow |= out.bytes.full;
    text = out.text(text.origin);
    outer = enter(text);
  }
  auto emit = [&](size_t begin, size_t end) {
    if (begin == end)
      return;
    if (!(flags & 2))
      return forward(index, text, begin, end);
    TextBuilder &out = builders[builderOf[index] + 1];
    out.begin(wantRanges);
    for (size_t i = begin; i < end; ++i)
      out.add(byteToCharacter(text.bytes[i]), wantRanges ? text.rangeAt(i) : OriginalRange{});
    overflow |= out.bytes.full;
    AlignedText mapped = out.text(uint32_t(text.origin + begin));
    const AlignedText before = enter(mapped);
    forward(index, mapped, 0, mapped.size);
    enter(before);
  };
  if (!checked.hasAutomaton) {
    emit(0, text.size);
    enter(outer);
    return;
  }
  if (checked.automaton.scheme() != MaskScheme::None && !(flags & 2)) {
    splitByMasks(index, checked.automaton, text);
    enter(outer);
    return;
  }
  PatternMatches matches(checked, text.bytes, text.bytes + text.size);
  const uint8_t *begin, *end;
  size_t last = 0;
  while (matches.next(begin, end)) {
    emit(last, size_t(begin - text.bytes));
    last = size_t(end - text.bytes);
    emit(size_t(begin - text.bytes), last);
  }
  emit(last, text.size);
  enter(outer);
}

void PreTokenizer::splitMetaspace(uint32_t index, const CheckedStep &checked, AlignedText text) {
  Bytes mark = checked.text;
  auto begins = [&](const AlignedText &piece) {
    return piece.size >= mark.size && __builtin_memcmp(piece.bytes, mark.data, mark.size) == 0;
  };
  MetaspaceScheme scheme = MetaspaceScheme(checked.step.c);
  bool prepend = scheme == MetaspaceScheme::Always;
  if (scheme == MetaspaceScheme::First)
    prepend = (text.ranges ? text.ranges[0].begin : text.origin) == 0;
  prepend = prepend && !begins(text) && text.bytes[0] != ' ';
  bool hasSpace = __builtin_memchr(text.bytes, ' ', text.size);
  AlignedText outer = whole;
  if (hasSpace || prepend) {
    TextBuilder &out = builders[builderOf[index]];
    out.begin(wantRanges);
    if (prepend)
      out.addBytes(mark.data, mark.size, wantRanges ? text.rangeAt(0) : OriginalRange{});
    size_t copied = 0;
    while (const void *space = copied < text.size ? __builtin_memchr(text.bytes + copied, ' ', text.size - copied) : nullptr) {
      size_t place = size_t(static_cast<const uint8_t *>(space) - text.bytes);
      out.copy(text, copied, place);
      out.addBytes(mark.data, mark.size, wantRanges ? text.rangeAt(place) : OriginalRange{});
      copied = place + 1;
    }
    out.copy(text, copied, text.size);
    overflow |= out.bytes.full;
    text = out.text(text.origin);
    outer = enter(text);
  }
  if (!checked.step.d) {
    forward(index, text, 0, text.size);
    enter(outer);
    return;
  }
  CheckedStep pattern = {};
  pattern.literal = mark;
  split(index, text, SplitBehavior::MergedWithNext, false, matchPattern(pattern, text));
  enter(outer);
}
