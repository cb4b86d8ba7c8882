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

LogicalResult tiles::verifyKinds(Operation *op, ValueRange operands) {
  bool areBuffers = isa<MemRefType>(operands.front().getType());
  for (Value operand : operands)
    if (!(areBuffers ? isa<MemRefType>(operand.getType()) : isa<RankedTensorType>(operand.getType())))
      return op->emitOpError("expects ranked tensors only or ranked buffers only, but got ")
             << operands.front().getType() << " and " << operand.getType();
  return success();
}

LogicalResult tiles::verifyStatic(Operation *op, StringRef what, int64_t got, Type type) {
  if (!ShapedType::isDynamic(got) && got > 0)
    return success();
  return op->emitOpError("expects ") << what << " to be static and positive, but got " << type;
}
