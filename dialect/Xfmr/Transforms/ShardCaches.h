//===- ShardCaches.h - Caches of the heads of one rank ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDCACHES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDCACHES_H

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::xfmr {

/// Gives the caches of keys and values of |module| the number of heads that a rank of |ranks| keeps: arguments and
/// results of entries, of the functions that they call, and of `kv_cache_update`. Other operands of the users of caches
/// keep their types, so the module is invalid until the caller has sharded them, too. Fails, with an error, as
/// CacheValues::collect does.
LogicalResult shardCaches(ModuleOp module, int64_t ranks);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDCACHES_H
