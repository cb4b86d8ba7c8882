//===- OpVerification.h - Checks and types that model operations share ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_OPVERIFICATION_H
#define ATTUNE_DIALECT_XFMR_IR_OPVERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::xfmr {

/// Succeeds if |vector|, a tensor of rank 1, is null or has |size| elements. Otherwise emits an error at |op|, in which
/// |name| is the name of the vector and |what| describes the size.
LogicalResult verifyVector(Operation *op, Value vector, StringRef name, int64_t size, StringRef what);

/// Succeeds if |operand| is null or its type is compatible with |type|: both have the same rank and element type, and
/// the same size in each dimension that is static in both. Otherwise emits an error at |op|, in which |name| is the
/// name of the operand.
LogicalResult verifySameType(Operation *op, Value operand, StringRef name, RankedTensorType type);

/// Calls verifySameType for the operand `residual`.
LogicalResult verifyResidual(Operation *op, Value residual, RankedTensorType type);

/// Succeeds if the matrix |weight| has |features| columns. Otherwise emits an error at |op|, in which |name| is the
/// name of the matrix and |what| describes the number of columns.
LogicalResult verifyColumns(Operation *op, Value weight, StringRef name, int64_t features, StringRef what);

/// Returns the type `[T, N]` of the product of |input|, `[T, K]`, and the transpose of |weight|, `[N, K]`. Its element
/// type is that of |input|.
RankedTensorType getProjectedType(Value input, Value weight);

/// Returns |type| with a dynamic first dimension.
RankedTensorType getDynamicRowsType(RankedTensorType type);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_OPVERIFICATION_H
