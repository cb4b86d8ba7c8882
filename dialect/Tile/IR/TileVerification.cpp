//===- TileVerification.cpp - Checks that operations of the tile dialect share -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileVerification.h"
#include "dialect/Tile/IR/TileOps.h"

using namespace mlir;
using namespace mlir::tiles;

LogicalResult tiles::verifyRank(Operation *op, Value value, StringRef name, int64_t rank) {
  auto type = cast<ShapedType>(value.getType());
  if (type.hasRank() && type.getRank() == rank)
    return success();
  return op->emitOpError("expects '") << name << "' of rank " << rank << ", but got " << type;
}

LogicalResult tiles::verifySize(Operation *op, StringRef what, int64_t expected, int64_t got) {
  if (ShapedType::isDynamic(expected) || ShapedType::isDynamic(got) || expected == got)
    return success();
  return op->emitOpError("expects ") << what << " to be " << expected << ", but got " << got;
}
