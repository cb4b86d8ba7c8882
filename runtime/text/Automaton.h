//===- Automaton.h - Running compiled regular expressions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the automata of regular expressions; compiler/Text/RegexCompiler.cpp describes the tables. The runner reads one
// entry of the table for each character. The row is the current state, the column the class of the character. The entry
// says whether the text from the beginning of the match up to this character (exclusive) is a match, and which state is
// next. State 0 is dead: no match follows from it.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_AUTOMATON_H
#define ATTUNE_RUNTIME_TEXT_AUTOMATON_H

#include "runtime/text/TextFile.h"
#include "runtime/text/TextTables.h"
#include "runtime/text/Utf8.h"

namespace attune::text {

/// A checked view of an automaton. |open| checks sizes and the other functions mask indices, so a damaged automaton
/// splits texts wrongly, but reads nothing outside its tables.
class Automaton {
public:
  /// Opens the automaton at |offset| of the section |pool|. Returns false if its header is invalid or its
  /// tables do not fit into the section. The automaton refers to the bytes of the section.
  bool open(Section pool, uint32_t offset) {
    if (offset % 4 || offset > pool.bytes || pool.bytes - offset < sizeof(AutomatonHeader))
      return false;
    const AutomatonHeader &header = *reinterpret_cast<const AutomatonHeader *>(pool.data + offset);
    auto isPower = [](uint32_t n) { return n && (n & (n - 1)) == 0; };
    if (!isPower(header.numStates) || header.numStates > 32768 || !isPower(header.stride) || header.stride > 256 ||
        header.numClasses >= header.stride || !isPower(header.numBlocks) || header.numBlocks > 65536)
      return false;
    size_t size = sizeof(AutomatonHeader) + 128 + kMapStage * 2 + size_t(header.numBlocks) * kMapBlock + header.stride * 2 +
                  size_t(header.numStates) * header.stride * 2;
    if (header.bytes != size || size > pool.bytes - offset)
      return false;
    ascii = pool.data + offset + sizeof(AutomatonHeader);
    stage1 = reinterpret_cast<const uint16_t *>(ascii + 128);
    stage2 = reinterpret_cast<const uint8_t *>(stage1 + kMapStage);
    starts = reinterpret_cast<const uint16_t *>(stage2 + size_t(header.numBlocks) * kMapBlock);
    table = starts + header.stride;
    columnMask = header.stride - 1;
    stride = header.stride;
    stateMask = header.numStates - 1;
    blockMask = header.numBlocks - 1;
    endClass = header.numClasses;
    startsByClass = header.startsByClass;
    maskScheme = header.scheme <= MaskScheme::PrefixedDigits1 ? header.scheme : MaskScheme::None;
    return true;
  }

  /// Finds the match that begins at |at| in the text [begin, end). Sets |matchEnd| to its end, which is |at| for an
  /// empty match, and returns true; without a match sets |matchEnd| to null and returns false.
  bool match(const uint8_t *begin, const uint8_t *at, const uint8_t *end, const uint8_t *&matchEnd) const {
    uint32_t state = (startsByClass ? starts[classBefore(begin, at)] : starts[0]) & stateMask;
    const uint8_t *last = nullptr;
    while (at < end) {
      uint32_t length, symbol = classAt(at, end, length);
      uint32_t entry = table[state * stride + symbol];
      last = entry & kAcceptBefore ? at : last;
      state = entry & stateMask;
      if (state == 0) {
        matchEnd = last;
        return last;
      }
      at += length;
    }
    if (table[state * stride + endClass] & kAcceptBefore)
      last = end;
    matchEnd = last;
    return last;
  }

  MaskScheme scheme() const { return maskScheme; }
  uint32_t classOf(uint32_t character) const {
    return stage2[(stage1[character / kMapBlock] & blockMask) * kMapBlock + character % kMapBlock] & columnMask;
  }

  /// Returns a position p of [at, end] such that no match begins in [at, p).
  const uint8_t *skip(const uint8_t *at, const uint8_t *end) const {
    if (startsByClass)
      return at;
    const uint16_t *row = table + (starts[0] & stateMask) * stride;
    while (at < end && *at < 0x80 && row[ascii[*at] & columnMask] == 0)
      ++at;
    return at;
  }

private:
  uint32_t classAt(const uint8_t *at, const uint8_t *end, uint32_t &length) const {
    if (*at < 0x80) {
      length = 1;
      return ascii[*at] & columnMask;
    }
    Character c = decodeCharacter(at, end);
    length = c.bytes;
    return classOf(c.value);
  }
  uint32_t classBefore(const uint8_t *begin, const uint8_t *at) const {
    return at == begin ? endClass : classOf(decodeCharacterBefore(begin, at).value);
  }

  const uint8_t *ascii = nullptr, *stage2 = nullptr;
  const uint16_t *stage1 = nullptr, *starts = nullptr, *table = nullptr;
  uint32_t columnMask = 0, stride = 0, stateMask = 0, blockMask = 0, endClass = 0;
  bool startsByClass = false;
  MaskScheme maskScheme = MaskScheme::None;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_AUTOMATON_H
