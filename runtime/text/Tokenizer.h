//===- Tokenizer.h - Open files and tokenizers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_TOKENIZER_H
#define ATTUNE_RUNTIME_TEXT_TOKENIZER_H

#include "attune/text.h"
#include "runtime/text/AddedTokens.h"
#include "runtime/text/Decoder.h"
#include "runtime/text/Normalizer.h"
#include "runtime/text/PreTokenizer.h"

/// An open .text file.
struct attune_text {
  attune::text::TextFile file;
  attune::text::Tables tables;
  bool hasTokenizer;
  char name[256];
};

namespace attune::text {

/// The tokens [begin, end) of a TokenList, which are those of one text.
struct TokenSpan {
  uint32_t begin, end;
  uint32_t size() const { return end - begin; }
};

/// Converts texts to tokens by the steps of a tokenizer.
class TextEncoder {
public:
  /// Allocates the caches, which are kept between calls.
  void openCaches(const Tables &tables, Memory &memory);
  /// Allocates the buffers for a call with texts of |bytes| bytes in all.
  void open(const Tables &tables, Memory &memory, size_t bytes);
  /// Appends to |tokens| the tokens of |text|, |size| bytes of UTF-8. If |splitSpecial|, special tokens in |text| stay
  /// text. If |wantRanges|, the details of the tokens have their original ranges; |tokens| must then keep details.
  /// Reports errors by full() and missedUnknown(), and by full() of |tokens|.
  void encode(const uint8_t *text, size_t size, bool splitSpecial, bool wantRanges, TokenList &tokens);

  bool full() const { return normalizer.full() || preTokenizer.full() || model.full(); }
  bool missedUnknown() const { return model.missedUnknown(); }
  /// Returns the capacity, in bytes or tokens, of the buffers of a call whose texts have |bytes| bytes in all. Steps
  /// may make these texts longer up to this size.
  static constexpr size_t room(size_t bytes) { return bytes * 4 + 65536; }

private:
  void encodeCode(AlignedText &segment);
  void encodeSegment(AlignedText segment, bool splitSpecial, bool aligned);

  const Tables *tables = nullptr;
  FirstBytes first, firstNormal;
  Normalizer normalizer;
  PreTokenizer preTokenizer;
  Model model;
  bool asksForOrigin = false; ///< a step depends on where a piece was in the original text
};

} // namespace attune::text

/// A tokenizer: its memory and its caches. The caller must make one call at a time.
struct attune_tokenizer {
  const attune_text *text;
  attune::text::Memory memory;
  size_t callMark; ///< the mark of |memory| at which the memory of a call begins
  size_t maxBytes;
  void *block; ///< the memory of this object, of its caches and of its calls
  size_t blockBytes;
  bool ownsBlock;
  attune::text::TextEncoder encoder;
};

#endif // ATTUNE_RUNTIME_TEXT_TOKENIZER_H
