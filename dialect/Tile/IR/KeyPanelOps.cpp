//===- KeyPanelOps.cpp - Verifiers of the layout of caches ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Tile/IR/TileVerification.h"

using namespace mlir;
using namespace mlir::tiles;

/// The largest width of a panel. Wider panels have no use, and the limit keeps sizes that are computed from the width
/// from overflowing.
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

/// Checks that elements of |given| may be stored in |stored|: both have the same floating-point type, or |given| has
/// f32 and |stored| bf16, f16 or i8.
static LogicalResult verifyStored(Operation *op, Value given, Value stored) {
  Type from = getElementTypeOrSelf(given.getType()), to = getElementTypeOrSelf(stored.getType());
  bool rounds = from.isF32() && (to.isBF16() || to.isF16() || to.isInteger(8));
  if (rounds || (from == to && isa<FloatType>(to)))
    return success();
  return op->emitOpError("cannot store ") << from << " as " << to << ", in " << stored.getType();
}

/// Returns the size of dimension |dim| of |value|.
static int64_t getSize(Value value, int64_t dim) { return cast<ShapedType>(value.getType()).getDimSize(dim); }

LogicalResult KeyPanelOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value panel = getDestinations()[0];
  if (failed(verifyPanel(*this, panel, getKeys(), "keys")))
    return failure();
  if (failed(verifyStored(*this, getKeys(), panel)))
    return failure();
  auto type = cast<ShapedType>(panel.getType());
  auto keys = cast<ShapedType>(getKeys().getType());
  if (failed(verifyStatic(*this, "the components of 'keys'", keys.getDimSize(1), keys)))
    return failure();
  if (type.getElementType().isInteger(8) && type.getDimSize(1) % 64 != 0)
    return emitOpError("expects a panel of i8 whose width is a multiple of 64, but got ") << type;
  return verifySize(*this, "the components of the panel", getSize(getKeys(), 1), xfmr::getHeadSize(type, 0));
}

LogicalResult CacheRowsOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value rows = getDestinations()[0];
  if (failed(verifyKinds(*this, {getValues(), rows})) || failed(verifyRank(*this, getValues(), "values", 2)) || // C1
      failed(verifyRank(*this, rows, "rows", 2)))
    return failure();
  auto type = cast<ShapedType>(rows.getType());
  auto values = cast<ShapedType>(getValues().getType());
  if (failed(verifyStatic(*this, "the columns of the rows", type.getDimSize(1), type)) ||
      failed(verifyStatic(*this, "the components of 'values'", values.getDimSize(1), values)) ||
      failed(verifyStored(*this, getValues(), rows)))
    return failure();
  if (type.getElementType().isF32())
    return emitOpError("expects rows of bf16, f16 or i8, but got ") << type;
  if (!values.getElementType().isF32())
    return emitOpError("expects values of f32, but got ") << values;
  if (failed(verifySize(*this, "the number of rows", getSize(getValues(), 0), getSize(rows, 0))))
    return failure();
  return verifySize(*this, "the components of the rows", getSize(getValues(), 1), xfmr::getHeadSize(type, 1));
}

LogicalResult UnpackKeysOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value rows = getDestinations()[0];
  if (failed(verifyPanel(*this, getPanel(), rows, "rows")))
    return failure();
  Type from = getElementTypeOrSelf(getPanel().getType()), to = getElementTypeOrSelf(rows.getType());
  if (from != to || !isa<FloatType>(to))
    return emitOpError("cannot store ") << from << " as " << to << ", in " << rows.getType();
  return verifySize(*this, "the columns of the rows", getSize(getPanel(), 0), getSize(rows, 1));
}
