//===- ProjectionForms.h - Variants of an f32 projection --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A block of 128 threads computes a tile of f32 results in one of two variants, between which it chooses at run time by
// the tile's number of rows:
//
//   many rows       two stages of both operands in shared memory: one is filled while the other is multiplied
//   up to 16 rows   (decoding) limited by the time to read weights: a group of four threads reads 16 columns of a row
//                   of the panel; 32 groups split K, and their sums are added in shared memory
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONFORMS_H
#define ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONFORMS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// The variant for few rows: the rows and columns that are computed at once, and the groups of threads that split K.
inline constexpr int64_t kFewAtOnce = 4, kFewColumns = 16, kFewGroups = kBlockThreads / (kFewColumns / 4);
/// Words of shared memory for the sums of few rows.
inline constexpr int64_t kFewShared = kFewGroups * kFewAtOnce * kFewColumns;

/// The emitter of one f32 projection: the parts that its two variants share.
class Projection {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  virtual ~Projection() = default;
  /// Emits both variants and the choice between them.
  void emit();

protected:
  /// |thread| is the thread's number in the block. Allocates |sharedWords| elements, at least kFewShared, of shared
  /// memory; their type is |word|, f32 or i32.
  Projection(mlir::linalg::LinalgOp op, Value thread, mlir::Type word, int64_t sharedWords);

  /// Emit the steps of the variant for many rows. loadNext loads this thread's share of both operands to registers, for
  /// stageDepth() components of K from |at| on. storeNext stores this share, |next|, to stage |stage|, 0 or 1, of
  /// shared memory. multiply returns |sums| plus the products of stage |stage|. storeSums adds |sums| to the output.
  virtual Values loadNext(Value at) = 0;
  virtual void storeNext(Value stage, mlir::ValueRange next) = 0;
  virtual Values multiply(Value stage, mlir::ValueRange sums) = 0;
  virtual void storeSums(mlir::ValueRange sums) = 0;
  /// Return the sums before the first stage, the size of K, and the number of components of K in one stage.
  virtual Values noSums() = 0;
  virtual Value depth() = 0;
  virtual int64_t stageDepth() = 0;
  /// Returns group |group|'s part of the sums of kFewAtOnce rows from |row| on, for each row a vector of 4 columns from
  /// |column| on. The sums of rows past the last one are unspecified.
  virtual Values sumFew(Value row, Value column, Value group) = 0;

  ThreadBuilder e;
  Value input, panel, output, thread, shared, rows, columns;

private:
  void emitTile();
  void emitFewRows();
  void emitFewColumns(Value row, Value column);
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONFORMS_H
