//===- TextHandle.h - Tokenizers for Python ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_TEXTHANDLE_H
#define ATTUNE_PYTHON_TEXTHANDLE_H

#include "attune/text_generation.hpp"
#include "Errors.h"

namespace attune::python {

/// The tokens of an input, or of one window of it: a copy of an attune_encoding, `EncodingData` of _attune.pyi.
/// |offsets| has two numbers for each token; |offsets| and |wordIds| are empty unless they were wanted.
struct Encoding {
  int64_t input = 0;
  std::vector<int32_t> ids, typeIds, attentionMask, specialTokensMask, sequenceIds, offsets, wordIds;
};

/// A tokenizer in use, which returns to its TextHandle.
class TokenizerUse;

/// A mapped .text file, and tokenizers for the threads that use it. All members are called with the GIL.
class TextHandle {
public:
  explicit TextHandle(const std::string &path) : text(path) {}
  TextHandle(const TextHandle &) = delete;
  TextHandle &operator=(const TextHandle &) = delete;
  ~TextHandle();

  const TextFile &file() const { return text; }
  const attune_text *get() const { return text.get(); }

  /// Encodes |inputs|, a list of texts and of pairs of texts. |options| are fields of attune_encode_options by name.
  /// Returns the encodings in the order of the inputs; the further windows of an input follow its first one.
  std::vector<Encoding> encode(nb::sequence inputs, nb::dict options);
  /// Encodes |inputs| as encode does and returns three NumPy arrays [encodings, length] of I64: ids, attention mask,
  /// type ids. Throws INVALID_ARGUMENT if the encodings have different lengths.
  nb::tuple encodeArrays(nb::sequence inputs, nb::dict options);
  nb::str decode(const std::vector<int32_t> &ids, bool skipSpecialTokens);

private:
  friend class TokenizerUse;
  /// A tokenizer and its max_call_bytes.
  struct Sized {
    size_t callBytes;
    attune_tokenizer *tokenizer;
  };

  TextFile text;
  std::vector<Sized> idle;
};

/// Text that is decoded token by token.
class DecodeStream {
public:
  DecodeStream(std::shared_ptr<TextHandle> text, bool skipSpecialTokens);
  DecodeStream(const DecodeStream &) = delete;
  DecodeStream &operator=(const DecodeStream &) = delete;
  ~DecodeStream() { attune_decode_stream_destroy(stream); }
  /// Adds a token; returns the text that is now complete.
  nb::str push(int32_t id);
  nb::str finish();

private:
  std::shared_ptr<TextHandle> text;
  attune_decode_stream *stream = nullptr;
};

/// Adds the classes TextHandle, EncodingData and DecodeStream to |module|.
void bindText(nb::module_ &module);

} // namespace attune::python

#endif // ATTUNE_PYTHON_TEXTHANDLE_H
