//===- Normalizer.h - Normalizer steps ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_NORMALIZER_H
#define ATTUNE_RUNTIME_TEXT_NORMALIZER_H

#include "runtime/text/AlignedText.h"
#include "runtime/text/Tables.h"

namespace attune::text {

/// A character between decomposition and composition.
struct FormCharacter {
  uint32_t character;
  uint8_t combining;
  int32_t change; ///< how it changes the text: see Transform in Normalizer.cpp
};

/// Applies the normalizer steps of a tokenizer, one after the other, in two buffers.
class Normalizer {
public:
  /// Allocates the buffers. |capacity| is the largest number of bytes of a text after any step.
  void open(const Tables &tables, Memory &memory, size_t capacity);
  /// Returns |text| after all steps, with ranges if |aligned|; it is valid until the next call.
  AlignedText run(AlignedText text, bool aligned);
  /// Returns true if a text exceeded the capacity.
  bool full() const { return overflow; }

private:
  AlignedText apply(const CheckedStep &step, const AlignedText &text);
  AlignedText applyBert(uint32_t flags, AlignedText text);
  AlignedText clean(const AlignedText &text, uint32_t dropped, uint32_t spaces);
  AlignedText isolateChinese(const AlignedText &text);
  AlignedText applyForm(uint32_t flags, const AlignedText &text);
  void formPart(uint32_t flags, const AlignedText &text, size_t partBegin, size_t partEnd, TextBuilder &out);
  AlignedText dropMarks(const AlignedText &text, uint32_t flag);
  AlignedText lowercase(const AlignedText &text);
  AlignedText strip(const AlignedText &text, uint32_t sides);
  AlignedText prepend(const AlignedText &text, Bytes prefix);
  AlignedText replace(const CheckedStep &step, const AlignedText &text);
  AlignedText applyPieces(const CheckedStep &step, const AlignedText &text);
  AlignedText applyPrecompiled(const CheckedStep &step, const AlignedText &text);
  AlignedText mapBytes(const AlignedText &text);

  TextBuilder &nextBuilder(bool aligned) {
    current ^= 1;
    builders[current].begin(aligned);
    return builders[current];
  }
  /// Returns the union of the flags of all characters of |text|.
  uint32_t collectFlags(const AlignedText &text) const;

  const Tables *tables = nullptr;
  TextBuilder builders[2];
  int current = 0;
  bool wantRanges = false, overflow = false;
  Array<FormCharacter> form;
};

/// Finds the next match of a pattern step (an automaton, or a literal) in [at, end) of the text that begins at |begin|.
bool findPattern(const CheckedStep &step, const uint8_t *begin, const uint8_t *at, const uint8_t *end, const uint8_t *&matchBegin,
                 const uint8_t *&matchEnd);

/// Enumerates the matches of a pattern in a text as the reference's engine does: an empty match directly after a match
/// does not count.
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

/// Returns the character for |byte| in byte-level vocabularies.
uint32_t byteToCharacter(uint8_t byte);
/// Returns the byte for |character| in byte-level vocabularies, or -1.
int characterToByte(uint32_t character);

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_NORMALIZER_H
