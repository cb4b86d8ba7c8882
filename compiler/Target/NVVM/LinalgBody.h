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

/// A sum of a projection and its row and column in the result. |exists| is the condition that the element belongs to
/// the result; where it is false, row and column are those of another element, so that an epilogue can load its
/// operands. A null |exists| means true, and then no branch is around the store. This is faster: the compiler may sink
/// the epilogue into such a branch and then compute one element after the other.
struct SumAtElement {
  mlir::Value exists, row, column, value;
};

/// Applies |epilogue|, which reads |buffer| for the sums, to |sums| instead and stores its results. All loads of the
/// epilogue come before the first store.
void storeByEpilogue(mlir::linalg::LinalgOp epilogue, mlir::Value buffer, llvm::ArrayRef<SumAtElement> sums, ThreadBuilder &e);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_LINALGBODY_H
