//===- KeyPanelOps.cpp - Verifiers of packed panels of keys ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Tile/IR/TileVerification.h"

using namespace mlir;
using namespace mlir::tiles;

/// The largest width of a panel. Passes emit the transposition of a panel without a loop over its columns.
static constexpr int64_t kMostColumns = 1024;

/// Checks that |panel| has a static size and at most kMostColumns columns, and that |keys|, which |op| calls |name|, is
/// a matrix with at most as many rows as |panel| has columns.
static LogicalResult verifyPanel(Operation *op, Value panel, Value keys, StringRef name) {
  if (failed(verifyKinds(op, {panel, keys})) || failed(verifyRank(op, panel, "panel", 2)) || failed(verifyRank(op, keys, name, 2))) // C1
    return failure();
  auto type = cast<ShapedType>(panel.getType()), rows = cast<ShapedType>(keys.getType());
  if (failed(verifyStatic(op, "the rows of the panel", type.getDimSize(0), type)) ||
      failed(verifyStatic(op, "the columns of the panel", type.getDimSize(1), type)))
    return failure();
  if (type.getDimSize(1) > kMostColumns)
    return op->emitOpError("expects a panel of at most ") << kMostColumns << " columns, but got " << type;
  if (!rows.isDynamicDim(0) && rows.getDimSize(0) > type.getDimSize(1))
    return op->emitOpError("expects at most ") << type.getDimSize(1) << " keys, the panel's width, but got " << rows.getDimSize(0);
  return success();
}

/// Returns the size of dimension |dim| of |value|.
static int64_t getSize(Value value, int64_t dim) { return cast<ShapedType>(value.getType()).getDimSize(dim); }

LogicalResult KeyPanelOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value panel = getDestinations()[0];
  if (failed(verifyPanel(*this, panel, getKeys(), "keys")))
    return failure();
  return verifySize(*this, "the rows of the panel", getSize(getKeys(), 1), getSize(panel, 0));
}

LogicalResult UnpackKeysOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value rows = getDestinations()[0];
  if (failed(verifyPanel(*this, getPanel(), rows, "rows")))
    return failure();
  return verifySize(*this, "the columns of the rows", getSize(getPanel(), 0), getSize(rows, 1));
}
