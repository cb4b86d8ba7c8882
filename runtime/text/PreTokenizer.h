//===- PreTokenizer.h - Pre-tokenizer steps -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_PRETOKENIZER_H
#define ATTUNE_RUNTIME_TEXT_PRETOKENIZER_H

#include "runtime/text/Model.h"

namespace attune::text {

/// Splits texts into pieces and passes the pieces to the model. The steps work depth first: a piece of one step goes
/// through all later steps before the next piece is found. So at most kMostPieces pieces wait for the model, and they
/// are in the CPU's cache when the model reads them.
class PreTokenizer {
public:
  /// Allocates the buffers. |capacity| is the largest number of bytes of a text after a step that changes it.
  void open(const Tables &tables, Memory &memory, size_t capacity, Model &model);
  /// Splits |text| and passes its pieces to the model. Texts that steps change get ranges if |aligned|.
  void run(const AlignedText &text, bool aligned);
  bool full() const { return overflow; }

  /// The number of buffers for texts that steps change. The compiler refuses tokenizers whose steps need more.
  static constexpr size_t kMostBuffers = 6;
  /// Returns the number of buffers that a step needs.
  static size_t countBuffers(StepKind kind) { return kind == StepKind::SplitByteLevel ? 2 : kind == StepKind::SplitMetaspace ? 1 : 0; }

private:
  void step(uint32_t index, const AlignedText &text);
  /// Passes a piece to the step after |index|, or collects it for the model if there is none. Drops an empty piece.
  void forward(uint32_t index, const AlignedText &text, size_t begin, size_t end) {
    if (begin == end)
      return;
    if (index + 1 < numSteps)
      return step(index + 1, text.slice(begin, end));
    const size_t place = size_t(text.bytes - whole.bytes);
    pieces[numPieces++] = {uint32_t(place + begin), uint32_t(place + end)};
    if (numPieces == kMostPieces)
      flush();
  }
  /// Passes the collected pieces to the model.
  void flush() {
    if (numPieces)
      model->tokenize(whole, pieces, numPieces);
    numPieces = 0;
  }
  /// Passes the collected pieces to the model, makes |text| the text of the next pieces, and returns the one before.
  AlignedText enter(const AlignedText &text) {
    flush();
    const AlignedText outer = whole;
    whole = text;
    return outer;
  }
  template <typename Matches>
  void split(uint32_t index, const AlignedText &text, SplitBehavior behavior, bool inverted, Matches matches);
  void splitByMasks(uint32_t index, const Automaton &automaton, const AlignedText &text);
  void splitWords(uint32_t index, const AlignedText &text);
  void splitBert(uint32_t index, const AlignedText &text);
  void splitScripts(uint32_t index, const AlignedText &text);
  void splitByteLevel(uint32_t index, const CheckedStep &step, AlignedText text);
  void splitMetaspace(uint32_t index, const CheckedStep &step, AlignedText text);

  const Tables *tables = nullptr;
  Model *model = nullptr;
  bool wantRanges = false, overflow = false;
  TextBuilder builders[kMostBuffers];
  uint8_t builderOf[kMaxSteps];
  /// The steps of the tokenizer, without those that change nothing.
  const CheckedStep *steps[kMaxSteps];
  uint32_t numSteps = 0;
  /// Pieces of |whole| that the model has not seen yet.
  static constexpr size_t kMostPieces = 256;
  AlignedText whole;
  PieceSpan pieces[kMostPieces];
  size_t numPieces = 0;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_PRETOKENIZER_H
