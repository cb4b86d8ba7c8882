//===- Transform.h - Changes of a text and the origins of characters ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets of tokens must be those of Hugging Face's tokenizers, even where those offsets are unexpected. So changes are
// tracked as that library does (NormalizedString::transform). A step emits characters, each with a change:
//
//     0    the character replaces the next character of the old text and takes its origin
//     1    the character is inserted; its origin is that of the byte before the current position of the old text, or
//          the empty range at the beginning of the text
//    -n    as 0, and the n characters after the replaced one are dropped
//
// The class Transform implements this rule.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TRANSFORM_H
#define ATTUNE_RUNTIME_TEXT_TRANSFORM_H

#include "runtime/text/AlignedText.h"

namespace attune::text {

/// A writer of the characters of a step to |out|, with the origins that follow from their changes.
class Transform {
public:
  /// Sets the current position to byte |at| of the old text, |text|.
  Transform(const AlignedText &text, TextBuilder &out, size_t at = 0) : text(text), out(out), at(at) {}

  size_t position() const { return at; }
  /// Copies the next |size| bytes of the old text with their origins.
  void copy(size_t size) {
    out.copy(text, at, at + size);
    at += size;
  }

  /// Drops the next |count| characters of the old text, or those that are left if there are fewer.
  void skip(size_t count) {
    for (; count > 0 && at < text.size; --count)
      at += decodeCharacter(text.bytes + at, text.bytes + text.size).bytes;
  }
  void emit(uint32_t character, int32_t change) {
    OriginalRange range = {};
    if (out.aligned) {
      if (change > 0)
        range = at == 0 || text.size == 0 ? OriginalRange{text.origin, text.origin} : text.rangeAt(at - 1);
      else
        range = text.size == 0 ? OriginalRange{text.origin, text.origin} : text.rangeAt(at < text.size ? at : text.size - 1);
    }
    out.add(character, range);
    if (change <= 0)
      skip(size_t(1 - change));
  }

private:
  const AlignedText &text;
  TextBuilder &out;
  size_t at;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_TRANSFORM_H
