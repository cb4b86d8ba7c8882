//===- ShardVerification.h - Checks of tensors divided among ranks --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_SHARDVERIFICATION_H
#define ATTUNE_DIALECT_XFMR_IR_SHARDVERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace mlir::xfmr {

/// Succeeds if shards of |size| indices that begin at |begins|, one for each rank in ascending order, cover the indices
/// 0 … |whole| - 1 and no others; else emits an error. Shards may overlap.
LogicalResult verifyShards(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t whole, int64_t size, ArrayRef<int64_t> begins);

/// Succeeds if shards of type |shard|, which begin at the indices |begins| of dimension |axis|, cover a tensor of type
/// |whole|, and if |axis| is from 0 to |lastAxis|; else emits an error of |op|.
LogicalResult verifyShardTypes(Operation *op, ShapedType whole, ShapedType shard, int64_t axis, ArrayRef<int64_t> begins, int64_t lastAxis);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_SHARDVERIFICATION_H
