//===- AttentionValues.h - Softmax and weighted values ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_ATTENTIONVALUES_H
#define ATTUNE_COMPILER_TARGET_CPU_ATTENTIONVALUES_H

#include "compiler/Target/CPU/AttentionGroup.h"

namespace attune {

/// Returns components of the value of key |key| of |op|, those of |lanes| from |column| on, as f32. Integers are
/// multiplied by the value's scale.
mlir::Value loadValue(VectorBuilder &b, mlir::tiles::AttentionTileOp op, mlir::Value key, mlir::Value column, Lanes lanes);

/// Emits the softmax of a group of rows, from scores in the scratch buffer, and the products with the values, for one
/// block of keys at a time.
class AttentionValues {
public:
  using Value = mlir::Value;
  using Values = VectorBuilder::Values;

  /// |softmaxRows| is the maximum number of rows whose exponentials are computed together. |maxVectors| is the maximum
  /// number of vectors of 16 columns of the result that are in registers at once, for each row.
  AttentionValues(mlir::tiles::AttentionTileOp op, VectorBuilder &b, const AttentionGroup &group, int64_t softmaxRows, int64_t maxVectors)
      : op(op), b(b), group(group), rows(group.rows), softmaxRows(softmaxRows), maxVectors(maxVectors), strip(op.getScratch()),
        result(op.getDestinations()[0]) {}

  /// Replaces each number s of the strip, a score times log2(e), by 2^(s - |base|). |base| has a vector of equal lanes
  /// for each row: the maximum of s in this block and all before it. |sums| has a vector of 16 partial sums for each
  /// row, those of the exponentials of all blocks before this one, relative to |base|. Returns |sums| plus the
  /// exponentials of this block.
  Values emitExponentials(const AttentionBlock &block, mlir::ValueRange base, mlir::ValueRange sums);
  /// Returns the factor that normalizes the result of each row, as a vector of equal lanes: the head scale (1 if there
  /// is none) divided by the sum of exponentials, which includes the attention sink if there is one. |maxima| has the
  /// maximum of each row, a scalar; |sums| has a vector of 16 partial sums for each row. The factor is 0 for rows
  /// without keys and, with `masked_rows = zero`, for fully masked rows.
  Values emitFactors(mlir::ValueRange maxima, mlir::ValueRange sums);
  /// Writes the exponentials of |block| times |factor| as probabilities, and multiplies the probabilities of earlier
  /// blocks, which are in memory, by |earlier|.
  void emitProbabilities(const AttentionBlock &block, mlir::ValueRange earlier, mlir::ValueRange factor);
  /// Emits result = (result * decay + exponentials * values) * factor, at most |maxVectors| vectors of columns at a
  /// time. In the first block the result counts as 0. For each row, |decay| is 2^(former maximum - new maximum), and
  /// |factor| is that of emitFactors in the last block, else 1.
  void emitValues(const AttentionBlock &block, mlir::ValueRange decay, mlir::ValueRange factor);

private:
  static constexpr int64_t kLanes = VectorBuilder::kLanes;

  Value factorWithSink(const AttentionGroup::Row &row, Value maximum, Value sum);
  void emitValueColumns(const AttentionBlock &block, mlir::ValueRange decay, mlir::ValueRange factor, int64_t column, int64_t vectors,
                        int64_t columns);

  mlir::tiles::AttentionTileOp op;
  VectorBuilder &b;
  const AttentionGroup &group;
  llvm::ArrayRef<AttentionGroup::Row> rows;
  int64_t softmaxRows, maxVectors;
  Value strip, result;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_ATTENTIONVALUES_H
