//===- Elementwise.h - Elementwise operations on tokens ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Elementwise operations on tokens `[T, N]` (T tokens of N features) for which the dialect has no operation, emitted as
// linalg.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ELEMENTWISE_H
#define ATTUNE_IMPORT_ELEMENTWISE_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attune {

/// A function that emits, with |inner|, the value of one element of a result in the body of a linalg operation.
/// |elements| are the arguments of the body: an element of each input, then one of the destination.
using ElementBody = llvm::function_ref<mlir::Value(mlir::OpBuilder &inner, mlir::Location loc, mlir::ValueRange elements)>;
/// Emits a tensor of the type and sizes of |destination|, whose elements |body| computes from one element of each of
/// |inputs|. |maps| are the indexing maps of the first inputs; the other inputs have the identity map.
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
/// Emits a tensor of i64 of the shape of |ids| `[B, L]`: 1 where the comparison |predicate| of the id, as the left
/// operand, with |other| is true, else 0.
mlir::Value markTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ids, mlir::arith::CmpIPredicate predicate, int64_t other);

/// Joins the rows of |parts|, each `[T, N]`, side by side: `[T, parts * N]`.
mlir::Value joinColumns(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> parts);
/// Multiplies each row of |tokens| by its element of |factors|, `[T]` or `[T, 1]`.
mlir::Value multiplyRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value factors);

/// Emits |tokens| with zeros in the rows for which |visible|, `[T]` of i64, is 0.
mlir::Value zeroHiddenTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value visible);

} // namespace attune

#endif // ATTUNE_IMPORT_ELEMENTWISE_H
