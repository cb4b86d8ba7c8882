//===- AlignedText.h - Texts that remember their origin -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A normalizer changes a text, but the offsets of tokens count characters of the original text. So each byte of a
// changed text has the range of original bytes from which it was made:
//
//     original    C  a  f  é(2 bytes)           bytes 0 … 4
//     NFD         C  a  f  e  ◌́(2 bytes)        ranges [0,1) [1,2) [2,3) [3,5) [3,5) [3,5)
//
// An unchanged text needs no ranges: byte i is original byte |origin| + i. A changed text has no ranges if nothing
// needs them: the caller does not ask for offsets, and no step depends on where a piece was in the original text
// (MetaspaceScheme::First).
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_ALIGNEDTEXT_H
#define ATTUNE_RUNTIME_TEXT_ALIGNEDTEXT_H

#include "runtime/text/Memory.h"
#include "runtime/text/Utf8.h"

namespace attune::text {

/// The bytes [begin, end) of the original text.
struct OriginalRange {
  uint32_t begin, end;
};

/// A text, or a piece of one, with the origin of its bytes.
struct AlignedText {
  const uint8_t *bytes = nullptr;
  size_t size = 0;
  const OriginalRange *ranges = nullptr; ///< of each byte; null if the text is unchanged or ranges are not wanted
  uint32_t origin = 0;                   ///< without ranges: the offset of the first byte in the original text

  /// Returns the original bytes from which byte |index| was made; without |ranges|, the original bytes of the character
  /// that contains it.
  OriginalRange rangeAt(size_t index) const {
    if (ranges)
      return ranges[index];
    size_t begin = index, end = index + 1;
    while (begin > 0 && (bytes[begin] & 0xC0) == 0x80)
      --begin;
    while (end < size && (bytes[end] & 0xC0) == 0x80)
      ++end;
    return {uint32_t(origin + begin), uint32_t(origin + end)};
  }
  AlignedText slice(size_t begin, size_t end) const {
    return {bytes + begin, end - begin, ranges ? ranges + begin : nullptr, uint32_t(origin + begin)};
  }
};

/// The output of a step that changes a text.
struct TextBuilder {
  Array<uint8_t> bytes;
  Array<OriginalRange> ranges;
  bool aligned = false; ///< ranges are wanted

  void begin(bool withRanges) {
    bytes.clear();
    ranges.clear();
    aligned = withRanges;
  }
  void add(uint32_t character, OriginalRange range) {
    uint8_t encoded[4];
    addBytes(encoded, encodeCharacter(character, encoded), range);
  }
  void addBytes(const uint8_t *data, size_t size, OriginalRange range) {
    if (bytes.capacity - bytes.size < size || (aligned && ranges.capacity - ranges.size < size)) {
      bytes.full = true;
      return;
    }
    for (size_t i = 0; i < size; ++i)
      bytes.data[bytes.size + i] = data[i];
    bytes.size += size;
    if (aligned) {
      for (size_t i = 0; i < size; ++i)
        ranges.data[ranges.size + i] = range;
      ranges.size += size;
    }
  }
  /// Appends bytes [begin, end) of |text|, with their ranges if |aligned|. Appends nothing and sets |bytes.full| if
  /// they do not fit.
  void copy(const AlignedText &text, size_t begin, size_t end) {
    if (bytes.capacity - bytes.size < end - begin || (aligned && ranges.capacity - ranges.size < end - begin)) {
      bytes.full = true;
      return;
    }
    __builtin_memcpy(bytes.data + bytes.size, text.bytes + begin, end - begin);
    bytes.size += end - begin;
    if (!aligned)
      return;
    for (size_t i = begin; i < end; ++i)
      ranges.data[ranges.size++] = text.rangeAt(i);
  }
  /// Returns the text that was built; |origin| is AlignedText::origin of the input of the step.
  AlignedText text(uint32_t origin) const { return {bytes.data, bytes.size, aligned ? ranges.data : nullptr, origin}; }
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_ALIGNEDTEXT_H
