//===- PatternMatches.h - Matches of a pattern in a text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_PATTERNMATCHES_H
#define ATTUNE_RUNTIME_TEXT_PATTERNMATCHES_H

#include "runtime/text/Tables.h"

namespace attune::text {

/// Finds the first match of a pattern step (an automaton or a literal) at or after |at| in the text [begin, end). Sets
/// |matchBegin| and |matchEnd|, which are equal for an empty match, and returns true; returns false if there is no
/// match.
inline bool findPattern(const CheckedStep &step, const uint8_t *begin, const uint8_t *at, const uint8_t *end, const uint8_t *&matchBegin,
                        const uint8_t *&matchEnd) {
  if (step.hasAutomaton) {
    for (; at <= end; at += at < end ? decodeCharacter(at, end).bytes : 1) {
      at = step.automaton.skip(at, end);
      if (step.automaton.match(begin, at, end, matchEnd)) {
        matchBegin = at;
        return true;
      }
    }
    return false;
  }
  size_t size = step.literal.size;
  if (size == 0) {
    matchBegin = matchEnd = at;
    return true;
  }
  for (; size_t(end - at) >= size; ++at) {
    at = static_cast<const uint8_t *>(__builtin_memchr(at, step.literal.data[0], size_t(end - at) - size + 1));
    if (!at)
      return false;
    if (__builtin_memcmp(at, step.literal.data, size) == 0) {
      matchBegin = at;
      matchEnd = at + size;
      return true;
    }
  }
  return false;
}

/// Enumerates the matches of a pattern in a text as the regex engine of Hugging Face's tokenizers does: an empty match
/// directly after a match does not count.
class PatternMatches {
public:
  PatternMatches(const CheckedStep &step, const uint8_t *begin, const uint8_t *end) : step(step), begin(begin), at(begin), end(end) {}
  bool next(const uint8_t *&matchBegin, const uint8_t *&matchEnd) {
    while (at <= end && findPattern(step, begin, at, end, matchBegin, matchEnd)) {
      if (matchBegin == matchEnd && matchEnd == last) {
        if (at >= end)
          return false;
        at += decodeCharacter(at, end).bytes;
        continue;
      }
      at = last = matchEnd;
      return true;
    }
    return false;
  }

private:
  const CheckedStep &step;
  const uint8_t *begin, *at, *end, *last = nullptr;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_PATTERNMATCHES_H
