//===- TokenBatch.h - Sequences of a batch as tokens ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Converts between padded tensors `[B, L, …]` of the caller and token tensors `[T, …]` of the model.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_TOKENBATCH_H
#define ATTUNE_IMPORT_TOKENBATCH_H

#include "compiler/Import/EntryScope.h"
#include "compiler/Import/LayerBody.h"

namespace attune {

/// Returns the reassociation that joins the first two of |rank| dimensions.
mlir::SmallVector<mlir::ReassociationIndices> joinFirstTwo(int64_t rank);

/// The sequences that one stack of an entry computes.
class TokenBatch {
public:
  /// Creates |batch| sequences of |length| tokens. |lengthDim| is the name of the length's dim, or a static length.
  /// |mask|, which may be null, hides tokens from attention or, if padding is skipped, from all operations.
  TokenBatch(EntryScope &scope, mlir::Value batch, mlir::Value length, std::string lengthDim, mlir::Value mask);

  /// Makes sequence b continue after |pastLengths|[b] earlier tokens: its positions are counted from there.
  void continueAfter(mlir::Value pastLengths) { past = pastLengths; }

  /// Hides all keys from the queries of masked tokens. Does nothing if there is no integer mask `[B, L]` or padding is
  /// skipped.
  void maskQueries();

  /// Returns the argument of continueAfter, or null.
  mlir::Value pastLengths() const { return past; }
  mlir::Value batch() const { return batchSize; }
  mlir::Value length() const { return paddedLength; }
  /// Returns the number of tokens of the padded batch.
  mlir::Value paddedTokens() const { return tokens; }
  const Sequences &sequences() const { return packed; }
  /// Returns the padded position of each packed token; null if nothing is packed.
  mlir::Value paddedPositions() const { return positions; }
  /// Returns the name of the length's dimension, or a static length as text.
  const std::string &lengthDim() const { return dim; }

  /// Returns |value| with zeros in the rows of hidden tokens that are computed; |value| itself if there is no integer
  /// mask `[B, L]` or padding is skipped.
  mlir::Value zeroHidden(mlir::Location loc, mlir::Value value);
  /// Returns each token of |value| `[T, H]` joined with its |taps| - 1 neighbors, half of them before it, as
  /// `[T, taps * H]`. Neighbors beyond the sequence, and skipped tokens, are zero.
  mlir::Value withNeighbors(mlir::Location loc, mlir::Value value, int64_t taps);

  /// Converts `[B, L, …]` to `[T, …]`: joins the dimensions, and packs tokens if padding is skipped.
  mlir::Value toTokens(mlir::Value padded);
  /// Converts `[T, …]` to `[B, L, …]`; with |squeeze|, without the last dimension, whose size is 1. Skipped tokens
  /// become zero.
  mlir::Value toPadded(mlir::Value tokens, bool squeeze = false);
  /// Moves probabilities `[B, heads, L, K]`, whose rows are tokens of this batch and whose columns are the K tokens of
  /// a sequence of |keys|, from packed to padded positions. |keys| is this batch or, for cross attention, another one;
  /// either may be packed. Rows and columns of padding become zero.
  mlir::Value toPaddedProbabilities(mlir::Value probabilities, TokenBatch &keys);
  /// Returns an id for each token, in place of an input: |first| or, if |counting|, |first| plus the position of the
  /// token: its index in the padded sequence or, after continueAfter, the number of earlier tokens plus its index among
  /// the tokens that are not skipped.
  mlir::Value generateIds(bool counting, int64_t first = 0);
  /// Returns for each sequence the row of its last token in |tokens| `[T, …]`, as `[B, …]`. Skipped padding does not
  /// count.
  mlir::Value lastTokens(mlir::Value tokens);

private:
  /// Returns, as `[B, L]`, for each padded position the number of its token among the packed tokens of its sequence,
  /// counted from 1, or 0 if the position is padding. Returns null if nothing is packed.
  mlir::Value packedNumbers();
  /// Returns ids of |count| tokens or sequences; |idOf| computes one from its number.
  mlir::Value computeIds(mlir::Location loc, mlir::Value count,
                         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value)> idOf);

  EntryScope &scope;
  mlir::Value batchSize, paddedLength, tokens, positions, past;
  /// The mask `[B, L]` of integers if its hidden tokens are computed, else null.
  mlir::Value visibility;
  /// The mask `[B, L]` by which tokens are packed, and the result of packedNumbers once it is computed; else null.
  mlir::Value packedMask, numbers;
  Sequences packed;
  std::string dim;
};

} // namespace attune

#endif // ATTUNE_IMPORT_TOKENBATCH_H
