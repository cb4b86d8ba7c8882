//===- Elementwise.h - Elementwise operations on tokens ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Elementwise operations on tokens `[T, N]` for which the dialect has no operation, as linalg.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ELEMENTWISE_H
#define ATTUNE_IMPORT_ELEMENTWISE_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attune {

/// A function that emits the value of one element of a result, with |inner| in the body of a linalg operation whose
/// arguments are |elements|.
using ElementBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &inner, mlir::Location loc, mlir::ValueRange elements)>;
/// Emits a tensor like |destination| whose elements |body| computes from one element of each of |inputs|. |maps| are
/// the indexing maps of the inputs; an input without one has the identity map.
mlir::Value emitElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value destination, mlir::ValueRange inputs, ElementBody body,
                         llvm::ArrayRef<mlir::AffineMap> maps = {});

/// Emits the product of each element of |tokens| and |factor|.
mlir::Value scaleTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, double factor);
/// Clamps each element of |tokens| to [-limit, limit].
mlir::Value clampTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, double limit);
/// Emits `limit * tanh(x / limit)` of each element x of |tokens|.
mlir::Value softcapTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, double limit);
/// Multiplies each row of |tokens| by |row| `[N]`, element by element.
mlir::Value multiplyByRow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value row);
/// Emits a tensor of i64 of the shape of |ids| `[B, L]`: 1 if the id compares with |other| as |predicate| says, else 0.
mlir::Value markTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ids, mlir::arith::CmpIPredicate predicate, int64_t other);

/// Joins the rows of |parts|, each `[T, N]`, side by side: `[T, parts * N]`.
mlir::Value joinColumns(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> parts);
/// Multiplies each row of |tokens| by its element of |factors|, `[T]` or `[T, 1]`.
mlir::Value multiplyRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value factors);

/// Sets the rows of |tokens| to zero for which |visible|, `[T]` of i64, is 0.
mlir::Value zeroHiddenTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value visible);

} // namespace attune

#endif // ATTUNE_IMPORT_ELEMENTWISE_H
