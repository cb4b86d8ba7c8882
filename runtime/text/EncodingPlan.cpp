//===- EncodingPlan.cpp - Truncation, templates, padding ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text that is too long becomes windows, each of which shares |stride| tokens with the one before:
//
//     tokens     0 1 2 3 4 5 6 7 8 9          max 4, stride 1
//     windows    0 1 2 3                      the main one
//                      3 4 5 6
//                            6 7 8 9          reaches the end: the last one
//
// With truncate_left, the windows go from the end of the text to its beginning, and the main one is at the end. The
// windows of a pair of texts are combined: the main windows of both, then each further window of the first text with
// every window of the second, then the main window of the first with each further window of the second.
//===----------------------------------------------------------------------===//

#include "runtime/text/EncodingPlan.h"
#include "runtime/src/Error.h"
#include "runtime/text/CharacterCounter.h"

using namespace attune;
using namespace attune::text;

/// Returns the step of the post-processor that is a template, or null.
static const CheckedStep *findTemplate(const Tables &tables) {
  for (uint32_t i = 0; i < tables.numSteps[2]; ++i)
    if (const CheckedStep &step = tables.steps[tables.firstStep[2] + i]; step.step.kind == StepKind::ProcessTemplate)
      return &step;
  return nullptr;
}

size_t EncodingPlan::inputBytes(const Tables &tables) {
  const CheckedStep *step = findTemplate(tables);
  const size_t pieces = !step ? 0 : step->step.b > step->step.d ? step->step.b : step->step.d;
  return sizeof(PlannedEncoding) + sizeof(attune_encoding) + pieces * kTokenBytes;
}

const TemplatePiece *EncodingPlan::templateOf(bool isPair, uint32_t &count) const {
  const CheckedStep *step = findTemplate(tables);
  count = step ? (isPair ? step->step.d : step->step.b) : 0;
  return step ? (isPair ? step->pair : step->single) : nullptr;
}

bool EncodingPlan::addsToken(const TemplatePiece *pieces, uint32_t index, const Window *windows) const {
  if (pieces[index].kind < 2 || !options.add_special_tokens)
    return false;
  if (pieces[index].kind == 2 || index == 0 || pieces[index - 1].kind > 1)
    return true;
  const TokenSpan span = windows[pieces[index - 1].kind].span;
  return span.size() == 0 || tokens.ids[span.end - 1] != pieces[index].id;
}

int64_t EncodingPlan::lengthOf(bool isPair, Window first, Window second) const {
  const int64_t texts[2] = {first.span.size(), isPair ? second.span.size() : 0};
  uint32_t count;
  const TemplatePiece *pieces = templateOf(isPair, count);
  if (!pieces)
    return texts[0] + texts[1];
  const Window windows[2] = {first, second};
  int64_t length = 0;
  for (uint32_t i = 0; i < count; ++i)
    length += pieces[i].kind < 2 ? texts[pieces[i].kind] : addsToken(pieces, i, windows);
  return length;
}

/// Returns the number of tokens of |span| after which Hugging Face's tokenizers stop making tokens. They take words
/// from the side that is kept, and stop after the first word with which there are at least max_length tokens. Added
/// tokens count, but tokenizers do not stop after one. Truncation of a pair compares these numbers, so they must be the
/// same here.
int64_t EncodingPlan::lengthAtStop(TokenSpan span) const {
  int64_t size = span.size();
  if (options.max_length <= 0 || size <= options.max_length)
    return size;
  auto at = [&](int64_t i) -> const TokenDetail & {
    return tokens.details[options.truncate_left ? span.end - 1 - uint32_t(i) : span.begin + uint32_t(i)];
  };
  for (int64_t i = 0; i < size;) {
    const TokenDetail &first = at(i);
    while (i < size && at(i).word == first.word)
      ++i;
    if (first.leading == kNoId && i >= options.max_length)
      return i;
  }
  return size;
}

attune_status EncodingPlan::truncate(uint32_t input, TokenSpan *spans, bool isPair, uint32_t *limits) {
  uint32_t count;
  const TemplatePiece *pieces = templateOf(isPair, count);
  int64_t added = 0;
  for (uint32_t i = 0; i < count && options.add_special_tokens; ++i)
    added += pieces[i].kind >= 2;
  if (added > options.max_length)
    return fail(ATTUNE_INVALID_ARGUMENT, "max_length: expected at least %lld, the number of special tokens, got %lld",
                static_cast<long long>(added), static_cast<long long>(options.max_length));
  int64_t most = options.max_length - added, n1 = spans[0].size(), n2 = isPair ? spans[1].size() : 0, excess = n1 + n2 - most;
  if (most == 0) {
    limits[0] = limits[1] = 0;
    return ATTUNE_OK;
  }
  if (excess <= 0)
    return ATTUNE_OK;
  if (options.truncation == ATTUNE_TRUNCATE_LONGEST_FIRST) {
    if (!isPair) {
      n1 = most;
    } else {
      const bool oddToFirst = tables.rules.flags & kRuleOddToFirst;
      if (!oddToFirst) {
        // Hugging Face's tokenizers compare the numbers of tokens after which they stop.
        n1 = lengthAtStop(spans[0]);
        n2 = lengthAtStop(spans[1]);
      }
      bool swap = n1 > n2;
      int64_t shorter = swap ? n2 : n1, longer;
      longer = shorter > most ? shorter : shorter > most - shorter ? shorter : most - shorter;
      if (shorter + longer > most) {
        shorter = most / 2;
        longer = shorter + most % 2;
        swap |= oddToFirst;
      }
      n1 = swap ? longer : shorter;
      n2 = swap ? shorter : longer;
    }
  } else {
    bool second = options.truncation == ATTUNE_TRUNCATE_ONLY_SECOND;
    if (second && !isPair)
      return fail(ATTUNE_INVALID_ARGUMENT, "input %u: expected a second text, the only one to truncate", input);
    int64_t &target = second ? n2 : n1;
    if (target <= excess)
      return fail(ATTUNE_INVALID_ARGUMENT, "input %u: expected more than %lld tokens in the only text to truncate, got %lld", input,
                  static_cast<long long>(excess), static_cast<long long>(target));
    target -= excess;
  }
  const int64_t kept[2] = {n1, n2};
  for (int i = 0; i < (isPair ? 2 : 1); ++i) {
    if (kept[i] >= spans[i].size())
      continue;
    if (kept[i] > 0 && options.stride >= kept[i])
      return fail(ATTUNE_INVALID_ARGUMENT, "stride: expected less than the %lld tokens of a window, got %lld",
                  static_cast<long long>(kept[i]), static_cast<long long>(options.stride));
    limits[i] = uint32_t(kept[i]);
  }
  return ATTUNE_OK;
}

bool EncodingPlan::windowAt(TokenSpan span, uint32_t limit, uint32_t index, Window &window) const {
  uint32_t size = span.size();
  window.isMain = index == 0;
  window.span = span;
  if (limit >= size)
    return index == 0;
  if (limit == 0) {
    // As in Hugging Face's tokenizers, the first window is empty and the second one has all tokens.
    if (index == 0)
      window.span.end = span.begin;
    return index < 2;
  }
  uint64_t step = limit - uint32_t(options.stride), begin, end;
  if (!options.truncate_left) {
    begin = index * step;
    end = begin + limit < size ? begin + limit : size;
    // The window before this one must not have reached the end.
    if (index > 0 && begin - step + limit >= size)
      return false;
  } else {
    if (index * step >= size)
      return false;
    end = size - index * step;
    begin = end > limit ? end - limit : 0;
    if (index > 0 && end + step <= limit)
      return false;
  }
  window.span = {uint32_t(span.begin + begin), uint32_t(span.begin + end)};
  return true;
}

attune_status EncodingPlan::add(uint32_t input, TokenSpan first, TokenSpan second, bool isPair, Array<PlannedEncoding> &planned) {
  TokenSpan spans[2] = {first, second};
  uint32_t limits[2] = {UINT32_MAX, UINT32_MAX};
  if (options.max_length >= 0)
    ATTUNE_TRY(truncate(input, spans, isPair, limits));
  auto push = [&](Window a, Window b) { planned.push({input, isPair, {a, b}, lengthOf(isPair, a, b)}); };
  Window mainA, mainB = {}, a, b;
  windowAt(first, limits[0], 0, mainA);
  if (isPair)
    windowAt(second, limits[1], 0, mainB);
  push(mainA, mainB);
  if (!options.want_overflow)
    return ATTUNE_OK;
  for (uint32_t i = 1; windowAt(first, limits[0], i, a) && !planned.full; ++i) {
    push(a, mainB);
    for (uint32_t k = 1; isPair && windowAt(second, limits[1], k, b) && !planned.full; ++k)
      push(a, b);
  }
  for (uint32_t k = 1; isPair && windowAt(second, limits[1], k, b) && !planned.full; ++k)
    push(mainA, b);
  return ATTUNE_OK;
}

/// Removes white space at both ends of a token from |range|, the characters of the token, by the rules of Hugging
/// Face's tokenizers. The white space is counted in the string of the token, including U+0120, which stands for a space
/// in byte-level vocabularies; for an added token, in its text (TokenDetail). With |prefixSpace|, a single white-space
/// character at the beginning stays if the token is the first one of its window (|isFirst|) or begins its text.
static void trimOffsets(const Tables &tables, uint32_t id, const TokenDetail &token, bool prefixSpace, bool isFirst, OriginalRange &range) {
  uint32_t leading = token.leading, trailing = token.trailing;
  if (leading == kNoId) {
    Bytes string = tables.strings.get(id);
    const uint8_t *begin = string.data, *end = begin + string.size;
    auto isSpace = [&](uint32_t c) { return c == 0x120 || (tables.characters(c) & kCharWhiteSpace); };
    leading = trailing = 0;
    for (const uint8_t *at = begin; at < end; ++leading) {
      Character c = decodeCharacter(at, end);
      if (!isSpace(c.value))
        break;
      at += c.bytes;
    }
    for (const uint8_t *at = end; at > begin; ++trailing) {
      Character c = decodeCharacterBefore(begin, at);
      if (!isSpace(c.value))
        break;
      at -= c.bytes;
    }
  }
  if (leading > 0) {
    if ((isFirst || range.begin == 0) && prefixSpace && leading == 1)
      leading = 0;
    range.begin = range.begin + leading < range.end ? range.begin + leading : range.end;
  }
  if (trailing > 0 && range.end >= trailing)
    range.end = range.end - trailing > range.begin ? range.end - trailing : range.begin;
}

void EncodingPlan::fillOne(const attune_text_input &input, const PlannedEncoding &plan, attune_encoding &encoding) {
  auto at = [](const int32_t *array) { return const_cast<int32_t *>(array); };
  int32_t *ids = at(encoding.ids), *types = at(encoding.type_ids), *attention = at(encoding.attention_mask),
          *special = at(encoding.special_tokens_mask), *sequences = at(encoding.sequence_ids), *offsets = at(encoding.offsets),
          *words = at(encoding.word_ids);
  const size_t padding = size_t(encoding.length - plan.length);
  size_t place = 0;
  // Fills |count| elements of all arrays but ids.
  auto fill = [&](size_t count, int32_t type, int32_t mask, int32_t isSpecial, int32_t sequence) {
    auto set = [&](int32_t *array, int32_t value) {
      for (size_t i = 0; i < count; ++i)
        array[place + i] = value;
    };
    set(types, type);
    set(attention, mask);
    set(special, isSpecial);
    set(sequences, sequence);
    if (!offsets)
      return;
    __builtin_memset(offsets + 2 * place, 0, 2 * count * sizeof(int32_t));
    set(words, -1);
  };
  auto put = [&](size_t count, uint32_t id, int32_t type, int32_t mask) {
    fill(count, type, mask, 1, -1);
    for (size_t i = 0; i < count; ++i)
      ids[place + i] = int32_t(id);
    place += count;
  };
  auto putText = [&](uint32_t sequence, int32_t type) {
    const TokenSpan span = plan.parts[sequence].span;
    fill(span.size(), type, 1, 0, int32_t(sequence));
    __builtin_memcpy(ids + place, tokens.ids.data + span.begin, span.size() * sizeof(int32_t));
    const uint8_t *text = reinterpret_cast<const uint8_t *>(sequence ? input.pair : input.text);
    CharacterCounter counter(text, sequence ? input.pair_bytes : input.bytes);
    for (uint32_t i = span.begin; offsets && i < span.end; ++i) {
      const TokenDetail &token = tokens.details[i];
      OriginalRange range = counter.convert(token.range);
      for (uint32_t k = 0; k < tables.numSteps[2]; ++k)
        if (const Step &step = tables.steps[tables.firstStep[2] + k].step; step.kind == StepKind::ProcessTrim)
          trimOffsets(tables, tokens.ids[i], token, step.a, i == span.begin, range);
      const size_t to = place + (i - span.begin);
      offsets[2 * to] = int32_t(range.begin);
      offsets[2 * to + 1] = int32_t(range.end);
      words[to] = int32_t(token.word);
    }
    place += span.size();
  };
  if (options.pad_left)
    put(padding, uint32_t(options.pad_id), int32_t(options.pad_type_id), 0);
  uint32_t count;
  const TemplatePiece *pieces = templateOf(plan.isPair, count);
  if (!pieces) {
    putText(0, 0);
    if (plan.isPair)
      putText(1, 1);
  }
  const CheckedStep *step = findTemplate(tables);
  bool keepTypes = step && (step->step.e & kTemplateTypesWithSpecial) && !options.add_special_tokens;
  for (uint32_t i = 0; i < count; ++i) {
    const TemplatePiece &piece = pieces[i];
    if (piece.kind >= 2) {
      if (addsToken(pieces, i, plan.parts))
        put(1, piece.id < tables.settings.vocabSize ? piece.id : 0, int32_t(piece.typeId), 1);
      continue;
    }
    if (piece.kind == 1 && !plan.isPair)
      continue;
    bool templated = plan.parts[piece.kind].isMain || (step->step.e & kTemplateTypesOfWindows && options.add_special_tokens);
    putText(piece.kind, keepTypes || !templated ? int32_t(piece.kind) : int32_t(piece.typeId));
  }
  if (!options.pad_left)
    put(padding, uint32_t(options.pad_id), int32_t(options.pad_type_id), 0);
}

attune_status EncodingPlan::fill(const attune_text_input *inputs, const Array<PlannedEncoding> &planned, Memory &memory,
                                 Array<attune_encoding> &out) {
  int64_t longest = 0;
  for (size_t i = 0; i < planned.size; ++i)
    longest = planned[i].length > longest ? planned[i].length : longest;
  // The arrays follow each other without gaps, as inputs may be many and short.
  Array<int32_t> room = memory.take<int32_t>(memory.left() / sizeof(int32_t));
  for (size_t i = 0; i < planned.size; ++i) {
    const PlannedEncoding &plan = planned[i];
    int64_t length = plan.length;
    bool pads = options.pad_to_longest || options.pad_length > 0;
    if (pads) {
      int64_t target = options.pad_to_longest ? longest : options.pad_length;
      if (options.pad_to_multiple_of > 1 && target % options.pad_to_multiple_of)
        target += options.pad_to_multiple_of - target % options.pad_to_multiple_of;
      length = target > length ? target : length;
    }
    attune_encoding encoding = {};
    encoding.input = plan.input;
    encoding.length = length;
    size_t wanted = size_t(length);
    bool fits = true;
    auto take = [&](size_t count) {
      int32_t *array = room.data + room.size;
      fits &= count <= room.capacity - room.size;
      room.size += fits ? count : 0;
      return array;
    };
    encoding.ids = take(wanted);
    encoding.type_ids = take(wanted);
    encoding.attention_mask = take(wanted);
    encoding.special_tokens_mask = take(wanted);
    encoding.sequence_ids = take(wanted);
    encoding.offsets = options.want_offsets ? take(wanted * 2) : nullptr;
    encoding.word_ids = options.want_offsets ? take(wanted) : nullptr;
    out.push(encoding);
    if (!fits || out.full)
      return fail(ATTUNE_LIMIT_EXCEEDED, "the encodings need more memory than the tokenizer has: raise max_call_bytes");
    fillOne(inputs[plan.input], plan, out[out.size - 1]);
  }
  return ATTUNE_OK;
}
