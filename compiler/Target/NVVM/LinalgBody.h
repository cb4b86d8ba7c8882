//===- LinalgBody.h - One element of a linalg operation ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_LINALGBODY_H
#define ATTUNE_COMPILER_TARGET_NVVM_LINALGBODY_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Emits the scalar code of a linalg operation on buffers for one point of its iteration space, the current point.
class LinalgBody {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  LinalgBody(mlir::linalg::LinalgOp op, ThreadBuilder &e);

  /// Returns the values that the body yields at the current point; |outputs| are the values of its output arguments.
  Values evaluate(mlir::ValueRange outputs);
  /// Loads the elements of the outputs at the current point; null for outputs that the body does not read, if the
  /// operation has no reductions.
  Values loadOutputs();
  void storeOutputs(mlir::ValueRange values);

  /// The current point: the index of each dimension.
  llvm::SmallDenseMap<unsigned, Value> at;
  /// Elements at the current point that need not be loaded, by the operand's number.
  llvm::SmallDenseMap<unsigned, Value> known;

private:
  llvm::SmallVector<Value> indicesOf(mlir::OpOperand &operand);
  Value load(mlir::OpOperand &operand);

  mlir::linalg::LinalgOp op;
  ThreadBuilder &e;
  llvm::SmallVector<mlir::AffineMap> maps;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_LINALGBODY_H
