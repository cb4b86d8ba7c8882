//===- PieceModels.h - SentencePiece's own encoding and decoding ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some classes of transformers call the library SentencePiece and look its pieces up in a vocabulary of their own.
// SentencePiece and the package `tokenizers` differ in how they treat the same model: in the normalization, the
// rounding of scores, the order of merges and the decoding. The functions here make tables that follow SentencePiece.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_PIECEMODELS_H
#define ATTUNE_COMPILER_TEXT_PIECEMODELS_H

#include "compiler/Text/SentencePieceModel.h"
#include "compiler/Text/TokenizerSpec.h"

namespace attune::text {

/// Succeeds if |model| is supported: a Unigram or BPE model without a map for decoded texts. All pieces must be
/// different and not empty, exactly one must have the type Unknown, none the type UserDefined and, in BPE, none the
/// type Unused. |path| is the name of the model in messages.
Status checkPieceModel(const SentencePieceModel &model, const std::string &path);
/// Reads the SentencePiece model at |path|. Fails if the file is malformed or checkPieceModel refuses the model.
Result<SentencePieceModel> readPieceModel(const std::string &path);

/// Sets the model of |spec| to |model| and adds the normalizer of |model|. Requires that the vocabulary, the added
/// tokens and `decodedOnly` of |spec| are complete. A piece gets the id of the token with the same string in the
/// vocabulary or the added tokens. A piece that is no such token becomes |unknownId|, the id of the unknown token, in
/// the ids of a text. Fails for two pieces with the same id, a malformed character map, BPE pieces whose lengths in bytes have a
/// sum of squares above 2^32, and a BPE model with byte_fallback where a character is part of pieces, but no piece.
/// |path| is the model's name in messages.
Status usePieceModel(const SentencePieceModel &model, const std::string &path, uint32_t unknownId, TokenizerSpec &spec);

/// The decoding of tokens as SentencePiece decodes pieces: the decoded text of each token, and the step that joins
/// these texts.
class PieceDecoder {
public:
  explicit PieceDecoder(const SentencePieceModel &model);
  /// Sets the decoded text of |form| to that of the string |piece|, and adds its flags. |form| is the form of a token
  /// that is not special. A string that is no piece of the model is decoded as it is.
  void apply(const std::string &piece, TokenForm &form) const;
  /// Returns the step that joins the decoded texts.
  Step step() const;

private:
  std::unordered_map<std::string, uint32_t> types;
  std::string unknownText;
  uint32_t flags = 0;
};

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_PIECEMODELS_H
