//===- LinearEpilogue.h - Epilogues of projections --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_LINEAREPILOGUE_H
#define ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_LINEAREPILOGUE_H

#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune {

/// Returns true if |op| has an epilogue: a bias, an activation, a multiplier or a residual.
bool hasEpilogue(mlir::xfmr::LinearOp op);

/// Returns the description of the kernel of |op|, such as "linear 48 -> 144, bias, gelu".
std::string describeLinear(mlir::xfmr::LinearOp op);

/// Appends the bias, the multiplier and the residual of |op|, if it has them, to the inputs of an elementwise
/// linalg.generic over the rows and columns of the result, and their indexing maps to |maps|.
void addEpilogueOperands(mlir::xfmr::LinearOp op, mlir::xfmr::LinearOp::Adaptor adaptor, llvm::SmallVectorImpl<mlir::Value> &inputs,
                         llvm::SmallVectorImpl<mlir::AffineMap> &maps);

/// Emits and returns `activation(x + bias) * multiplier + residual`, without the parts that |op| does not have, in the
/// body of the linalg.generic whose inputs addEpilogueOperands appended. |operands| begin with the elements of these
/// inputs.
mlir::Value emitEpilogue(mlir::OpBuilder &builder, mlir::Location loc, mlir::xfmr::LinearOp op, mlir::Value x, mlir::ValueRange operands);

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_LINEAREPILOGUE_H
