//===- PieceModels.h - SentencePiece's own encoding and decoding ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some classes of transformers call the library SentencePiece and look its pieces up in a vocabulary of their own.
// SentencePiece and the package `tokenizers` differ in how they treat the same model: in the normalization, the
// rounding of scores, the order of merges and the decoding.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_PIECEMODELS_H
#define ATTUNE_COMPILER_TEXT_PIECEMODELS_H

#include "compiler/Text/SentencePieceModel.h"
#include "compiler/Text/TokenizerSpec.h"

namespace attune::text {

/// Succeeds if |model| is supported: a Unigram or BPE model without a map for decoded texts, whose pieces are different
/// and not empty, with exactly one unknown piece, none of the type UserDefined and, in BPE, none of the type Unused.
/// |path| is the name of the model in messages.
Status checkPieceModel(const SentencePieceModel &model, const std::string &path);
/// Reads the SentencePiece model at |path| and checks it.
Result<SentencePieceModel> readPieceModel(const std::string &path);

/// Sets model and normalizer of |spec| to those of |model|. A piece gets the id of the token with the same string in
/// the vocabulary or the added tokens of |spec|; a piece that is no such token becomes the token |unknownId| in the ids
/// of a text. |path| is the model's name in messages.
Status usePieceModel(const SentencePieceModel &model, const std::string &path, uint32_t unknownId, TokenizerSpec &spec);

/// Prepares the decoding of tokens as SentencePiece decodes pieces: the decoded text of each token, and the step that
/// joins them.
class PieceDecoder {
public:
  explicit PieceDecoder(const SentencePieceModel &model);
  /// Sets decoded text and flags of |form|, the form of a token that is not special, to those of the string |piece|.
  void apply(const std::string &piece, TokenForm &form) const;
  /// Returns the step that joins the pieces.
  Step step() const;

private:
  std::unordered_map<std::string, uint32_t> types;
  std::string unknownText;
  uint32_t flags = 0;
};

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_PIECEMODELS_H
