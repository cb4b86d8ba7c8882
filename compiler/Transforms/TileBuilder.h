//===- TileBuilder.h - Index arithmetic and slices of tiles ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the tilings of attention and of caches share: sizes as affine expressions, where the tokens of a sequence are, slices.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_TILEBUILDER_H
#define ATTUNE_COMPILER_TRANSFORMS_TILEBUILDER_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attune {

/// Where the tokens of one sequence are.
struct Span {
  mlir::Value begin, length;
};

/// Offsets and sizes of a slice, dimension by dimension.
struct Box {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;

  void add(mlir::OpFoldResult offset, mlir::OpFoldResult size) {
    offsets.push_back(offset);
    sizes.push_back(size);
  }
};

/// Creates ops at the insertion point of its builder.
class TileBuilder {
public:
  TileBuilder(mlir::Operation *op) : builder(op), loc(op->getLoc()) { mlir::bindDims(builder.getContext(), d0, d1); }

  mlir::Value constant(int64_t value);
  mlir::OpFoldResult fixed(int64_t value) { return builder.getIndexAttr(value); }
  mlir::Value affine(mlir::ValueRange operands, mlir::AffineExpr expr);
  /// The smallest of |exprs| of |operands|.
  mlir::Value minimum(mlir::ValueRange operands, llvm::ArrayRef<mlir::AffineExpr> exprs);
  mlir::AffineExpr expr(int64_t value) { return builder.getAffineConstantExpr(value); }
  /// Size of a dimension, folded where it is static.
  mlir::OpFoldResult dim(mlir::Value tensor, int64_t dim);
  /// `values[index]` of a `tensor<?xi64>`, as an index.
  mlir::Value extractIndex(mlir::Value values, mlir::Value index);
  /// The tokens of |sequence|.
  Span span(mlir::Value offsets, mlir::Value sequence);

  /// The slice |box| of |tensor|, without the dimensions where |dropped| says so (each of size 1).
  mlir::Value slice(mlir::Value tensor, const Box &box, llvm::ArrayRef<bool> dropped = {});
  /// Writes |value| to the slice |box| of the destination |target| of an scf.forall, whose terminator is the insertion point.
  void insertInParallel(mlir::Value value, mlir::Value target, const Box &box);
  mlir::Value insert(mlir::Value value, mlir::Value target, const Box &box);

  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::AffineExpr d0, d1;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_TILEBUILDER_H
