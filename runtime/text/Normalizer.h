//===- Normalizer.h - Normalizer steps ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_NORMALIZER_H
#define ATTUNE_RUNTIME_TEXT_NORMALIZER_H

#include "runtime/text/NormalizationForm.h"

namespace attune::text {

/// Applies the normalizer steps of a tokenizer, one after the other. They write to two buffers in turn.
class Normalizer {
public:
  /// Allocates the buffers. |capacity| is the largest number of bytes of a text after any step.
  void open(const Tables &tables, Memory &memory, size_t capacity);
  /// Returns |text| after all steps: |text| itself if none changed it, else a text with ranges if |aligned|, which is
  /// valid until the next call.
  AlignedText run(AlignedText text, bool aligned);
  /// Returns true if a text exceeded the capacity since |open|.
  bool full() const { return overflow; }

private:
  AlignedText apply(const CheckedStep &step, const AlignedText &text);
  AlignedText applyBert(uint32_t flags, AlignedText text);
  AlignedText clean(const AlignedText &text, uint32_t dropped, uint32_t spaces);
  AlignedText isolateChinese(const AlignedText &text);
  AlignedText applyForm(uint32_t flags, const AlignedText &text);
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

  const Tables *tables = nullptr;
  TextBuilder builders[2];
  int current = 0;
  bool wantRanges = false, overflow = false;
  NormalizationForm form;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_NORMALIZER_H
