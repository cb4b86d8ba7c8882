//===- TokenBatch.h - Sequences of a batch as tokens ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Between padded tensors `[B, L, …]` of the caller and token tensors `[T, …]` of the model.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_TOKENBATCH_H
#define ATTUNE_IMPORT_TOKENBATCH_H

#include "compiler/Import/EntryScope.h"
#include "compiler/Import/LayerBody.h"

namespace attune {

/// The reassociation that joins the first two of |rank| dimensions.
mlir::SmallVector<mlir::ReassociationIndices> joinFirstTwo(int64_t rank);

/// The sequences that go through one stack of an entry.
class TokenBatch {
public:
  /// Sequences of |length| tokens, a dim called |lengthDim| or the number itself. |mask|, which may be null, hides some of them: from the
  /// keys or, if padding is skipped, from everything.
  TokenBatch(EntryScope &scope, mlir::Value batch, mlir::Value length, std::string lengthDim, mlir::Value mask);

  /// Sequence b goes on after |pastLengths|[b] tokens: positions begin there.
  void continueAfter(mlir::Value pastLengths) { past = pastLengths; }

  /// Hides all keys from the queries of tokens that the mask, one of tokens, hides.
  void maskQueries();

  /// What was given to continueAfter, or null.
  mlir::Value pastLengths() const { return past; }
  mlir::Value batch() const { return batchSize; }
  mlir::Value length() const { return paddedLength; }
  /// Number of tokens of the padded batch.
  mlir::Value paddedTokens() const { return tokens; }
  const Sequences &sequences() const { return packed; }
  /// Where packed tokens stand in the padded batch; null if nothing is packed.
  mlir::Value positions() const { return places; }
  /// The dim of the length.
  const std::string &lengthDim() const { return dim; }

  /// |value| with zeros in the rows of hidden tokens.
  mlir::Value zeroHidden(mlir::Location loc, mlir::Value value);
  /// Each token of |value|, `[T, H]`, and its |taps| - 1 neighbors, half of them before it, as `[T, taps * H]`: zeros where a sequence ends
  /// and where padding is skipped.
  mlir::Value withNeighbors(mlir::Location loc, mlir::Value value, int64_t taps);

  /// `[B, L, …]` as `[T, …]`: joined, and packed if padding is skipped.
  mlir::Value toTokens(mlir::Value padded);
  /// `[T, …]` as `[B, L, …]`; with |squeeze| without the last dimension, whose size is 1.
  mlir::Value toPadded(mlir::Value tokens, bool squeeze = false);
  /// Probabilities `[B, H, L, K]` of packed tokens at their padded places.
  mlir::Value toPaddedProbabilities(mlir::Value probabilities);
  /// Ids that no input gives, one for each token: 0, or |first| plus its place in its sequence.
  mlir::Value generateIds(bool counting, int64_t first = 0);
  /// The last token of each sequence, `[B, …]` of `[T, …]`.
  mlir::Value lastTokens(mlir::Value tokens);

private:
  /// Ids of |count| tokens or sequences; |idOf| makes one from its number.
  mlir::Value computeIds(mlir::Location loc, mlir::Value count,
                         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value)> idOf);

  EntryScope &scope;
  mlir::Value batchSize, paddedLength, tokens, places, past;
  /// The mask, `[B, L]` of integers, where its tokens are not left out; else null.
  mlir::Value visibility;
  Sequences packed;
  std::string dim;
};

} // namespace attune

#endif // ATTUNE_IMPORT_TOKENBATCH_H
