//===- TileVerification.h - Checks that operations of the tile dialect share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_TILE_IR_TILEVERIFICATION_H
#define ATTUNE_DIALECT_TILE_IR_TILEVERIFICATION_H

#include "mlir/IR/Operation.h"

namespace mlir::tiles {

/// Succeeds if |value|, a tensor or buffer, has |rank| dimensions; else emits an error of |op| that calls the value
/// |name|.
LogicalResult verifyRank(Operation *op, Value value, StringRef name, int64_t rank);

/// Succeeds if |expected| and |got| are equal or one of them is dynamic; else emits an error of |op| that names the
/// size |what|.
LogicalResult verifySize(Operation *op, StringRef what, int64_t expected, int64_t got);

/// Succeeds if |operands| are all ranked tensors or all ranked buffers; else emits an error of |op|. Expects at least
/// one operand.
LogicalResult verifyKinds(Operation *op, ValueRange operands);

/// Succeeds if |got|, a size of |type|, is static and positive; else emits an error of |op| that calls the size |what|.
LogicalResult verifyStatic(Operation *op, StringRef what, int64_t got, Type type);

} // namespace mlir::tiles

#endif // ATTUNE_DIALECT_TILE_IR_TILEVERIFICATION_H
