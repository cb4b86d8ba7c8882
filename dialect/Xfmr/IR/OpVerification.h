//===- OpVerification.h - Checks and types that model operations share ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_OPVERIFICATION_H
#define ATTUNE_DIALECT_XFMR_IR_OPVERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::xfmr {

/// Succeeds if the vector |vector| is absent or has |size| elements; else emits an error of |op| that calls the vector
/// |name| and the size |what|.
LogicalResult verifyVector(Operation *op, Value vector, StringRef name, int64_t size, StringRef what);

/// Succeeds if |operand| is absent or has a type that is compatible with |type|: the same element type, and in each
/// dimension the same size or a dynamic one. Else emits an error of |op| that calls the operand |name|.
LogicalResult verifySameType(Operation *op, Value operand, StringRef name, RankedTensorType type);

/// Calls verifySameType for the operand `residual`.
LogicalResult verifyResidual(Operation *op, Value residual, RankedTensorType type);

/// Succeeds if the matrix |weight| has |features| columns; else emits an error of |op| that calls the matrix |name| and
/// the number |what|.
LogicalResult verifyColumns(Operation *op, Value weight, StringRef name, int64_t features, StringRef what);

/// Returns the type of `input`, `[T, K]`, times the transposed matrix `weight`, `[N, K]`: `[T, N]`.
RankedTensorType getProjectedType(Value input, Value weight);

/// Returns |type| with a dynamic first dimension.
RankedTensorType getDynamicRowsType(RankedTensorType type);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_OPVERIFICATION_H
