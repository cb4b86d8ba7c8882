//===- Activations.h - Activation functions as scalar arithmetic -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_ACTIVATIONS_H
#define ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_ACTIVATIONS_H

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// Returns |activation| of the f32 scalar or vector |x|, computed with arith and math operations.
mlir::Value emitActivation(mlir::OpBuilder &builder, mlir::Location loc, mlir::xfmr::Activation activation, mlir::Value x);

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_ACTIVATIONS_H
