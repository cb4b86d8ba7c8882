//===- ExpandMathFunctions.h - Transcendentals as polynomials ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transcendental functions of f32 and of vectors of f32 as arithmetic with explicit fused multiply-adds. They have the
// same bits on every machine and at every position in a vector, and need no library at run time. Errors are the largest
// ones measured against the C library in double precision (checked by test/Transforms/expand-math-accuracy.mlir). 1 ulp
// is the spacing of f32 at the exact result.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_EXPANDMATHFUNCTIONS_H
#define ATTUNE_COMPILER_TRANSFORMS_EXPANDMATHFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace attune {

/// Returns 2^x, with an error of at most 0.8 ulp. 2^0 is exactly 1. A result below 2^-126 is 0, one from 2^128 on
/// infinite; NaN stays NaN.
mlir::Value emitExp2(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Returns 2^x for x <= 0 (or NaN), with the bits of `emitExp2` but at a lower cost. For softmax.
mlir::Value emitExp2NonPositive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Returns e^x, with an error of at most 0.9 ulp. A result below 2^-126 is 0, one from 2^128 on infinite; NaN stays
/// NaN.
mlir::Value emitExp(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Returns the error function of x, with an error of at most 1.2 ulp.
mlir::Value emitErf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Returns the hyperbolic tangent of x, with an error of at most 1.7 ulp.
mlir::Value emitTanh(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Returns the natural logarithm of x, with an error of at most 0.9 ulp, also for subnormal x; -infinity for 0, NaN for
/// negative x.
mlir::Value emitLog(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// Returns 1 / sqrt(x), the root and the quotient each rounded, with an error of at most 1.5 ulp.
mlir::Value emitRsqrt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_EXPANDMATHFUNCTIONS_H
