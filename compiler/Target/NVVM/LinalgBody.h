//===- LinalgBody.h - One element of a linalg operation ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_LINALGBODY_H
#define ATTUNE_COMPILER_TARGET_NVVM_LINALGBODY_H

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace attune {

/// Emits the scalar code of a linalg operation on buffers for one point of its iterations, the current one.
class LinalgBody {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  LinalgBody(mlir::linalg::LinalgOp op, ThreadBuilder &e);

  /// Returns the values that the body yields if the outputs' elements are |outputs|.
  Values evaluate(mlir::ValueRange outputs);
  /// Loads the outputs' elements that the body uses; null for the others.
  Values loadOutputs();
  void storeOutputs(mlir::ValueRange values);

  /// The current point, by dimension.
  llvm::SmallDenseMap<unsigned, Value> at;
  /// Elements of operands, by number, that need not be loaded.
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
