//===- TextEncoder.cpp - From a text to tokens ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Added tokens cut the text first, then each segment between them is normalized and cut at the added tokens that match
// normalized text:
//
//     "Hello <s>Wörld"     added tokens of the text       [Hello ] <s> [Wörld]
//                          normalizer                     [hello ]     [world]
//                          added tokens, pre-tokenizer    [hello]      [world]
//===----------------------------------------------------------------------===//

#include "runtime/text/Tokenizer.h"

using namespace attune::text;

void TextEncoder::openCaches(const Tables &source, Memory &memory) {
  tables = &source;
  first.open(tables->added);
  firstNormal.open(tables->addedNormal);
  model.openCache(memory);
  asksForOrigin = false;
  for (uint32_t i = 0; i < tables->numSteps[1]; ++i) {
    const Step &step = tables->steps[tables->firstStep[1] + i].step;
    asksForOrigin |= step.kind == StepKind::SplitMetaspace && MetaspaceScheme(step.c) == MetaspaceScheme::First;
  }
}

void TextEncoder::open(const Tables &source, Memory &memory, size_t bytes) {
  size_t capacity = room(bytes);
  model.open(source, memory, capacity);
  normalizer.open(source, memory, capacity);
  preTokenizer.open(source, memory, capacity, model);
}

/// If |segment| begins with a code such as ">>fra<<", from codeBegin to codeEnd (Rules), removes the code from
/// |segment| and appends its token, or the unknown token if the code has none.
void TextEncoder::encodeCode(AlignedText &segment) {
  const Bytes begin = tables->codeBegin, end = tables->codeEnd;
  if (end.size == 0 || segment.size < begin.size + end.size || __builtin_memcmp(segment.bytes, begin.data, begin.size) != 0)
    return;
  for (size_t at = 0; at + end.size <= segment.size; ++at) {
    if (__builtin_memcmp(segment.bytes + at, end.data, end.size) != 0)
      continue;
    const size_t size = at + end.size;
    const uint32_t id = tables->lookup.find(tables->strings, segment.bytes, size);
    model.addWhole(id == kNoId ? tables->settings.unknownId : id, segment.slice(0, size));
    segment = segment.slice(size, segment.size);
    return;
  }
}

void TextEncoder::encodeSegment(AlignedText segment, bool splitSpecial, bool aligned) {
  encodeCode(segment);
  if (segment.size == 0)
    return;
  AlignedText normalized = tables->numSteps[0] ? normalizer.run(segment, aligned) : segment;
  if (!firstNormal.any)
    return preTokenizer.run(normalized, aligned);
  AddedTokenMatches matches(*tables, tables->addedNormal, firstNormal, splitSpecial, normalized.bytes, normalized.size);
  size_t begin, end;
  for (uint32_t id; matches.next(begin, end, id);) {
    if (id == kNoId)
      preTokenizer.run(normalized.slice(begin, end), aligned);
    else
      model.addWhole(id, normalized.slice(begin, end));
  }
}

void TextEncoder::encode(const uint8_t *text, size_t size, bool splitSpecial, bool wantRanges, TokenList &tokens) {
  bool aligned = wantRanges || asksForOrigin;
  model.begin(&tokens, wantRanges);
  AlignedText whole = {text, size, nullptr, 0};
  if (size == 0)
    return;
  if (!first.any)
    return encodeSegment(whole, splitSpecial, aligned);
  AddedTokenMatches matches(*tables, tables->added, first, splitSpecial, text, size);
  size_t begin, end;
  for (uint32_t id; matches.next(begin, end, id);) {
    if (id == kNoId)
      encodeSegment(whole.slice(begin, end), splitSpecial, aligned);
    else
      model.addWhole(id, whole.slice(begin, end));
  }
}
