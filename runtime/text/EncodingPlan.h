//===- EncodingPlan.h - Truncation, templates, padding --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_TEXT_ENCODINGPLAN_H
#define ATTUNE_RUNTIME_TEXT_ENCODINGPLAN_H

#include "runtime/text/Tokenizer.h"

namespace attune::text {

/// A window of the tokens of a text.
struct Window {
  TokenSpan span;
  bool isMain; ///< the first window; further ones have the template's type ids only with kTemplateTypesOfWindows
};

/// An encoding whose arrays are not made yet.
struct PlannedEncoding {
  uint32_t input;
  bool isPair;
  Window parts[2];
  int64_t length; ///< number of tokens, those of the template included, padding excluded
};

/// Makes encodings from the tokens of inputs: cuts windows, adds the tokens of the template, pads.
class EncodingPlan {
public:
  EncodingPlan(const Tables &tables, const attune_encode_options &options, const TokenList &tokens)
      : tables(tables), options(options), tokens(tokens) {}

  /// The number of bytes that the arrays of an encoding have for one token, offsets and word ids included.
  static constexpr size_t kTokenBytes = 8 * sizeof(int32_t);
  /// Returns an upper bound of the bytes that an input of one window needs besides the tokens of its texts: for its
  /// PlannedEncoding, its attune_encoding and the tokens of the template. Each token of the texts needs kTokenBytes
  /// more.
  static size_t inputBytes(const Tables &tables);

  /// Adds the encodings of input number |input| to |planned|; sets planned.full if there is no room for all. The tokens
  /// of the input are |first| and, if |isPair|, |second|. Fails with INVALID_ARGUMENT if the texts cannot be truncated
  /// as the options say.
  attune_status add(uint32_t input, TokenSpan first, TokenSpan second, bool isPair, Array<PlannedEncoding> &planned);
  /// Appends the encodings of |planned| to |out|, with their arrays in |memory|. Fails with LIMIT_EXCEEDED if |memory|
  /// or |out| has too little room.
  attune_status fill(const attune_text_input *inputs, const Array<PlannedEncoding> &planned, Memory &memory, Array<attune_encoding> &out);

private:
  /// Returns the template for one text or a pair, null if there is none. Sets |count| to the number of its pieces.
  const TemplatePiece *templateOf(bool isPair, uint32_t &count) const;
  /// Returns the number of tokens that fillOne writes for these windows, without padding.
  int64_t lengthOf(bool isPair, Window first, Window second) const;
  int64_t lengthAtStop(TokenSpan span) const;
  /// Returns true if piece |index| of the template |pieces| adds a token to an encoding of the two |windows|.
  bool addsToken(const TemplatePiece *pieces, uint32_t index, const Window *windows) const;
  attune_status truncate(uint32_t input, TokenSpan *spans, bool isPair, uint32_t *limits);
  /// Sets |window| to number |index| of the windows of at most |limit| tokens into which |span| is cut. Returns false
  /// if there are fewer windows. A |limit| of 0 makes an empty window and then one with all tokens.
  bool windowAt(TokenSpan span, uint32_t limit, uint32_t index, Window &window) const;
  void fillOne(const attune_text_input &input, const PlannedEncoding &plan, attune_encoding &encoding);

  const Tables &tables;
  const attune_encode_options &options;
  const TokenList &tokens;
};

} // namespace attune::text

#endif // ATTUNE_RUNTIME_TEXT_ENCODINGPLAN_H
