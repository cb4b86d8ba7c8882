//===- Elementwise.h - Elementwise operations on tokens ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations of models that are no operations of the dialect, as linalg on tokens `[T, N]`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_ELEMENTWISE_H
#define ATTUNE_IMPORT_ELEMENTWISE_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attune {

/// Emits each element of |tokens| times |factor|.
mlir::Value scaleTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, double factor);
/// Emits each element of |tokens| clamped to [-limit, limit].
mlir::Value clampTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, double limit);
/// Emits `limit * tanh(x / limit)` of each element x of |tokens|.
mlir::Value softcapTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, double limit);
/// Emits each row of |tokens| times |row|, `[N]`, element by element.
mlir::Value multiplyByRow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value row);
/// Emits for each of |ids| `[B, L]` 1 where it compares with |other| as |predicate| says, else 0.
mlir::Value markTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ids, mlir::arith::CmpIPredicate predicate, int64_t other);

/// Emits each row of |tokens| times its element of |factors|, `[T]` or `[T, 1]`.
mlir::Value multiplyRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value factors);

/// Emits |tokens| with zeros in the rows where |visible|, `[T]` of i64, is 0.
mlir::Value zeroHiddenTokens(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value visible);

} // namespace attune

#endif // ATTUNE_IMPORT_ELEMENTWISE_H
