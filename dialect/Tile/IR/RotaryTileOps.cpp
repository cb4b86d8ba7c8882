//===- RotaryTileOps.cpp - Verifier of rotary embeddings of tiles ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Tile/IR/TileVerification.h"

using namespace mlir;
using namespace mlir::tiles;

LogicalResult RotaryTileOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value result = getDestinations()[0];
  if (failed(verifyKinds(*this, getOperands())) || failed(verifyRank(*this, getInput(), "input", 3)) ||
      failed(verifyRank(*this, result, "result", 3)) || // C1
      failed(verifyRank(*this, getPositions(), "positions", 1)) || failed(verifyRank(*this, getTable(), "table", 2)))
    return failure();
  auto input = cast<ShapedType>(getInput().getType()), table = cast<ShapedType>(getTable().getType());
  if (!cast<ShapedType>(getPositions().getType()).getElementType().isInteger(64))
    return emitOpError("expects 'positions' of i64, but got ") << getPositions().getType();
  for (ShapedType type : {input, table, cast<ShapedType>(result.getType())})
    if (!isa<FloatType>(type.getElementType()))
      return emitOpError("expects 'input', 'table' and the result of floats, but got ") << type;
  int64_t columns = table.getDimSize(1), headDim = input.getDimSize(2);
  if (ShapedType::isDynamic(columns) || ShapedType::isDynamic(headDim) || columns % 2 != 0 || columns > headDim)
    return emitOpError("expects a table with an even number of columns, at most the head size, but got ") << table << " for " << input;
  for (int64_t dim = 0; dim < 3; ++dim)
    if (failed(verifySize(*this, "each size of the result", input.getDimSize(dim), cast<ShapedType>(result.getType()).getDimSize(dim))))
      return failure();
  return success();
}
