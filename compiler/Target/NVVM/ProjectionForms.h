//===- ProjectionForms.h - What projections of all types share --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A block of 128 threads makes a tile of results in one of two forms, by the number of rows it has:
//
//   many rows       stages of both operands in shared memory, of two one is filled while the other is multiplied
//   up to 16 rows   (decoding) wait for weights alone: four threads read 16 columns of a row of the panel and 32 such groups share K; their
//                   sums meet in shared memory
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONFORMS_H
#define ATTUNE_COMPILER_TARGET_NVVM_PROJECTIONFORMS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Few rows: as many at once, of as many columns, by groups of threads along K.
inline constexpr int64_t kFewAtOnce = 4, kFewColumns = 16, kFewGroups = kBlockThreads / (kFewColumns / 4);
/// Words of shared memory that the sums of few rows take.
inline constexpr int64_t kFewShared = kFewGroups * kFewAtOnce * kFewColumns;

/// One projection, as the two forms see it.
class Projection {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  virtual ~Projection() = default;
  /// Emits both forms, and which one a block takes.
  void emit();

protected:
  /// For |op| by threads of which this is |thread|, with |sharedWords| words of |word|, f32 or i32, as shared memory.
  Projection(mlir::linalg::LinalgOp op, Value thread, mlir::Type word, int64_t sharedWords);

  /// The parts of a tile: copies of the stage that begins at |at| of K to registers, and from there to shared memory; |sums| and the
  /// products of a stage; the end.
  virtual Values loadNext(Value at) = 0;
  virtual void storeNext(Value stage, mlir::ValueRange next) = 0;
  virtual Values multiply(Value stage, mlir::ValueRange sums) = 0;
  virtual void storeSums(mlir::ValueRange sums) = 0;
  /// Sums before the first stage; the size of K and of a stage, in the units of loadNext.
  virtual Values noSums() = 0;
  virtual Value depth() = 0;
  virtual int64_t stageDepth() = 0;
  /// The part of group |group| of the sums of kFewAtOnce rows from |row| on, each a vector of the 4 columns from |column| on. Rows beyond
  /// the last may be anything.
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
