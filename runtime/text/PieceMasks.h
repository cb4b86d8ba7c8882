//===- PieceMasks.h - Splitting by bit masks ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_PIECEMASKS_H
#define ATTUNE_RUNTIME_TEXT_PIECEMASKS_H

#include "runtime/text/Automaton.h"

namespace attune::text {

/// Splits a text as the regular expression of an automaton does, 64 bytes at a time, for expressions that the compiler
/// recognizes (MaskScheme). The matches of these expressions cover the text without gaps.
class PieceMasks {
public:
  PieceMasks(const Automaton &automaton, const uint8_t *begin, const uint8_t *end);

  /// The most pieces that one call of |next| finds.
  static constexpr size_t kMostPieces = 64;
  /// Sets |ends| to the ends of the next pieces, in bytes from the beginning of the text; the first piece begins where
  /// the last piece of the call before ended. Returns the number of pieces, 0 at the end of the text.
  size_t next(uint32_t *ends);

private:
  /// The next 64 bytes of the text, or fewer at its end: for each class of characters, a mask with a bit for each byte.
  /// |whites| is the white space of ASCII, |spaces| only U+0020; |others| are neither letters, digits nor white space.
  struct Window {
    uint64_t letters, digits, others, spaces, whites, newlines, apostrophes;
    uint64_t continuations; ///< bytes of a character after its first
    uint64_t unknown;       ///< characters that are in no mask of a class; the automaton decides near them
    unsigned size;
    bool isLast; ///< the text ends with the window
  };
  Window classify() const;
  void classifyWide(Window &window, uint64_t wide) const;
  uint64_t findStarts(const Window &window) const;
  uint64_t findStartsGpt2(const Window &window) const;
  uint64_t findStartsPrefixed(const Window &window) const;
  uint64_t cutContractions(const Window &window, uint64_t starts) const;

  const Automaton &automaton;
  MaskScheme scheme;
  uint8_t letterClass, digitClass, otherClass;
  const uint8_t *begin, *at, *end;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_PIECEMASKS_H
