//===- ShardVerification.h - Checks of tensors divided among ranks --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_SHARDVERIFICATION_H
#define ATTUNE_DIALECT_XFMR_IR_SHARDVERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace mlir::xfmr {

/// Succeeds if shards of |size| indices, which begin at |begins|, cover the indices 0 to |whole| - 1 and no others;
/// else emits an error by |emitError|. |begins| has an element for each rank: the first must be 0, and none may be less
/// than the one before. Shards may overlap.
LogicalResult verifyShards(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t whole, int64_t size, ArrayRef<int64_t> begins);

/// Succeeds if |axis| is a dimension of |whole| from 0 to |lastAxis|, if |shard| differs from |whole| only in the size
/// of this dimension, which is static in both, and if shards of type |shard| that begin at |begins| along |axis| cover
/// |whole| (verifyShards). Otherwise emits an error at |op|.
LogicalResult verifyShardTypes(Operation *op, ShapedType whole, ShapedType shard, int64_t axis, ArrayRef<int64_t> begins, int64_t lastAxis);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_SHARDVERIFICATION_H
