//===- ExpandMathFunctions.h - Functions as polynomials -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions of f32 and of vectors of f32 as arithmetic with explicit fused multiply-adds: the same bits on every machine
// and for every position in a vector, and no library at run time. Errors are the largest measured against the C library in double
// (test/Target/CPU/expand-math-accuracy.mlir keeps them): 1 ulp is the spacing of f32 at the exact result.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_EXPANDMATHFUNCTIONS_H
#define ATTUNE_COMPILER_TRANSFORMS_EXPANDMATHFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace attune {

/// 2^x, at most 0.8 ulp. 2^0 = 1; exactly 0 below 2^-126; infinite from 2^128; NaN stays NaN.
mlir::Value emitExp2(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// 2^x for x <= 0 (or NaN), equal to `emitExp2` there and cheaper: what softmax needs.
mlir::Value emitExp2NonPositive(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// e^x, at most 0.9 ulp; exactly 0 below 2^-126, infinite where f32 overflows.
mlir::Value emitExp(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// The error function, at most 1.2 ulp.
mlir::Value emitErf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// The hyperbolic tangent, at most 1.7 ulp.
mlir::Value emitTanh(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// The natural logarithm, at most 0.9 ulp, denormals included; -infinity at 0, NaN below.
mlir::Value emitLog(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// 1 / sqrt(x), both rounded, at most 1.5 ulp.
mlir::Value emitRsqrt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_EXPANDMATHFUNCTIONS_H
