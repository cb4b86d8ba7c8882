//===- PieceModels.h - SentencePiece's own encoding and decoding ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes that run in Python call the library SentencePiece, and look its pieces up in a vocabulary of their own. What
// it computes differs from the same model in the package `tokenizers`: in the normalization, the rounding of scores, the
// order of merges and the decoding.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_PIECEMODELS_H
#define ATTUNE_COMPILER_TEXT_PIECEMODELS_H

#include "compiler/Text/SentencePieceModel.h"
#include "compiler/Text/TokenizerSpec.h"

namespace attune::text {

/// Checks that |model| has nothing that is not supported.
Status checkPieceModel(const SentencePieceModel &model, const std::string &path);
/// Reads a SentencePiece model and checks it.
Result<SentencePieceModel> readPieceModel(const std::string &path);

/// Makes |model| the model and the normalizer of |spec|, whose vocabulary and added tokens give the ids of pieces;
/// |unknownId| is that of others. |path| is the model's name in messages.
Status usePieceModel(const SentencePieceModel &model, const std::string &path, uint32_t unknownId, TokenizerSpec &spec);

/// How SentencePiece decodes strings of pieces.
class PieceDecoder {
public:
  explicit PieceDecoder(const SentencePieceModel &model);
  /// Sets text and flags of |form|, a token that is not special, from the string |piece|.
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
