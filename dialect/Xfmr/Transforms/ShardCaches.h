//===- ShardCaches.h - Caches of the heads of one rank ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDCACHES_H
#define ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDCACHES_H

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::xfmr {

/// Changes the types of all caches of keys and values of |module| (CacheValues): each gets the number of heads that one
/// of |ranks| ranks keeps. Other operands of the users of caches keep their types, so the module is invalid until the
/// caller has sharded these operands, too. Fails, with an error, if CacheValues::collect fails.
LogicalResult shardCaches(ModuleOp module, int64_t ranks);

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_TRANSFORMS_SHARDCACHES_H
