//===- Decoder.h - From tokens to text ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_DECODER_H
#define ATTUNE_RUNTIME_TEXT_DECODER_H

#include "runtime/text/Memory.h"
#include "runtime/text/Tables.h"

namespace attune::text {

/// Returns the byte that a token such as "<0x0A>" stands for, -1 if |token| has another form.
int parseByteToken(Bytes token);

/// Applies the decoder steps of a tokenizer to the strings of tokens.
class Decoder {
public:
  /// Sets |out| to the text of |ids|. The text is in |memory|, all of which this takes, and a zero byte follows it.
  /// Skips ids without a token and, if |skipSpecial|, tokens with kTokenSkipped. Returns false if the memory did not
  /// suffice.
  bool run(const Tables &tables, const int32_t *ids, size_t numIds, bool skipSpecial, Memory &memory, Bytes &out);

  /// Returns the number of bytes at the end of the text that a further token may change because of DecodeByteLevel (a
  /// replacement character for bytes that are not yet a character), DecodeByteFallback (a run of byte tokens) or
  /// DecodeContinued (the suffix of the last token).
  size_t unstableBytes() const { return unstable; }
  /// Returns true if the bytes of DecodeByteLevel end with a part of a character, which is left out or becomes U+FFFD.
  bool endsInCharacter() const { return incomplete; }

private:
  void apply(const CheckedStep &step);
  void applyByteLevel(bool drops);
  void applyPieces(uint32_t flags);
  void applyTrim();
  void applyContinued(Bytes suffix);
  void putByteTokens(size_t begin, size_t end);
  void applyByteFallback();
  void applyCtc(const CheckedStep &step);
  void applyStrip(const Step &step);
  void applyReplace(const CheckedStep &step);

  /// Begins the list of strings that a step makes.
  void beginStep() {
    other.clear();
    stringBegin = bytes.size;
  }
  void put(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; ++i)
      bytes.push(data[i]);
  }
  void put(Bytes string) { put(string.data, string.size); }
  /// Ends a string of the step's list: the bytes since the end of the string before it.
  void endToken() {
    other.push({bytes.data + stringBegin, bytes.size - stringBegin});
    stringBegin = bytes.size;
  }
  void endStep() {
    Array<Bytes> finished = other;
    other = tokens;
    tokens = finished;
  }
  /// Appends |text| with every |from| replaced by |to|.
  void putReplaced(Bytes text, Bytes from, Bytes to);
  /// Makes the current string |text| with the clean-up of WordPiece decoders, which removes spaces before punctuation
  /// and contractions. Drops the bytes that the current string had before.
  void putClean(Bytes text);
  /// Appends |raw|, in which U+FFFD replaces each maximal subpart of an ill-formed sequence (Unicode, section 3.9):
  /// each byte of FF FF, and the two bytes E2 82 together. With |drops| the subparts are left out. Sets |incomplete|
  /// and |unstable|.
  void putLossy(Bytes raw, bool drops);

  const Tables *tables = nullptr;
  Array<Bytes> tokens, other;
  Array<uint8_t> flags; ///< TokenFlags of the tokens that the first step gets
  Array<uint8_t> bytes;
  size_t stringBegin = 0;
  bool incomplete = false;
  size_t unstable = 0;       ///< bytes
  size_t unstableTokens = 0; ///< strings at the end of the current list that a further token may change
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_DECODER_H
