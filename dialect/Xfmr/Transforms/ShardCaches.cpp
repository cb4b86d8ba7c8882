//===- ShardCaches.cpp - Caches of the heads of one rank ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cache has one number of heads everywhere: in the entry, in the functions of layers and in the results that they
// return. The number for a rank depends only on the number of all heads and the number of ranks (`divideHeads`), so the
// new type of a value that is a cache follows from its old type.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/ShardCaches.h"
#include "dialect/Xfmr/Transforms/CacheValues.h"
#include "dialect/Xfmr/Transforms/Division.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult mlir::xfmr::shardCaches(ModuleOp module, int64_t ranks) {
  CacheValues caches(module);
  if (failed(caches.collect("divided among ranks")))
    return failure();
  caches.setTypes([&](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = divideHeads(shape[1], shape[1], ranks).keyValue.size;
    return type.clone(shape);
  });
  return success();
}
