//===- SentencePieceModel.h - Reading .model and .spm files ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SentencePiece model is a protocol buffer of a few fields. The reader knows these fields, skips others, and checks
// every length.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_SENTENCEPIECEMODEL_H
#define ATTUNE_COMPILER_TEXT_SENTENCEPIECEMODEL_H

#include "compiler/Support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune::text {

/// The contents of a SentencePiece model.
struct SentencePieceModel {
  enum Type : uint32_t { Normal = 1, Unknown = 2, Control = 3, UserDefined = 4, Unused = 5, Byte = 6 };
  enum Kind : uint32_t { Unigram = 1, Bpe = 2, Word = 3, Char = 4 };
  struct Piece {
    std::string text;
    float score = 0;
    uint32_t type = Normal;
  };
  std::vector<Piece> pieces;

  uint32_t kind = Unigram;
  bool byteFallback = false, whiteSpaceIsSuffix = false;
  int32_t unknownId = 0, bosId = 1, eosId = 2; ///< negative: no such piece
  std::string unknownPiece = "<unk>", bosPiece = "<s>", eosPiece = "</s>";
  std::string unknownText = " \xE2\x81\x87 "; ///< the decoded text of the unknown piece

  std::string characterMap; ///< normalizer_spec.precompiled_charsmap (Precompiled.h); "" for none
  bool addsDummyPrefix = true, removesExtraSpaces = true, escapesSpaces = true;
  bool denormalizes = false; ///< true if denormalizer_spec has a map
};

/// Parses the bytes of a model; |file| is its name in messages. Fails if the bytes are malformed or have no pieces.
Result<SentencePieceModel> parseSentencePiece(std::string_view bytes, const std::string &file);
/// Reads and parses the file |path|.
Result<SentencePieceModel> readSentencePiece(const std::string &path);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_SENTENCEPIECEMODEL_H
