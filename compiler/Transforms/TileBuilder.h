//===- TileBuilder.h - Affine sizes and slices of tiles ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_TILEBUILDER_H
#define ATTUNE_COMPILER_TRANSFORMS_TILEBUILDER_H

#include "compiler/Transforms/IndexBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attune {

/// The tokens of one sequence: its first token and its length.
struct TokenRange {
  mlir::Value begin, length;
};

/// Offsets and sizes of a slice, dimension by dimension.
struct TensorSlice {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;

  void add(mlir::OpFoldResult offset, mlir::OpFoldResult size) {
    offsets.push_back(offset);
    sizes.push_back(size);
  }
};

/// A builder of slices and of affine index arithmetic, which MLIR can compose with the affine operations that tiling
/// creates.
class TileBuilder : public IndexBuilder {
public:
  explicit TileBuilder(mlir::Operation *op) : IndexBuilder(op->getLoc(), op) { mlir::bindDims(getContext(), d0, d1); }

  mlir::OpFoldResult fixed(int64_t value) { return getIndexAttr(value); }
  mlir::AffineExpr expr(int64_t value) { return getAffineConstantExpr(value); }
  /// Returns the value of |expr|, whose dims stand for |operands|.
  Value affine(mlir::ValueRange operands, mlir::AffineExpr expr);
  /// Returns the smallest value of |exprs|, whose dims stand for |operands|.
  Value minimum(mlir::ValueRange operands, llvm::ArrayRef<mlir::AffineExpr> exprs);
  /// Returns the size of a dimension, as an attribute if it is static.
  mlir::OpFoldResult dim(Value tensor, int64_t dim);
  /// Returns the tokens of |sequence|, which begin at `offsets[sequence]`.
  TokenRange tokensOf(Value offsets, Value sequence);

  /// Returns the slice |at| of |tensor|, without the dimensions that |dropped| marks, each of size 1; an empty
  /// |dropped| marks none.
  Value extractSlice(Value tensor, const TensorSlice &at, llvm::ArrayRef<bool> dropped = {});
  Value insertSlice(Value value, Value target, const TensorSlice &at);
  /// Writes |value| to the slice |at| of the destination |target| of an scf.forall. Expects the insertion point in the
  /// terminator of the loop.
  void insertInParallel(Value value, Value target, const TensorSlice &at);

  mlir::AffineExpr d0, d1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_TILEBUILDER_H
