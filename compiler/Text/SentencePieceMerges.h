//===- SentencePieceMerges.h - Merges of SentencePiece's BPE models -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_SENTENCEPIECEMERGES_H
#define ATTUNE_COMPILER_TEXT_SENTENCEPIECEMERGES_H

#include "compiler/Text/SentencePieceModel.h"
#include "compiler/Text/TokenizerSpec.h"

namespace attune::text {

/// Derives the merges of |spec| from its vocabulary, the pieces of |model|, as transformers does: every split of a
/// piece into two pieces is a merge. The merges of the piece with the lowest id come first. Fails if the pieces are too
/// long. |file| is the model's name in messages.
Status deriveMerges(const SentencePieceModel &model, const std::string &file, TokenizerSpec &spec);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_SENTENCEPIECEMERGES_H
