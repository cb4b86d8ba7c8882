//===- KeyPanelOps.cpp - Verifiers of packed panels of keys ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Tile/IR/TileVerification.h"

using namespace mlir;
using namespace mlir::tiles;

void KeyPanelOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  detail::getTileEffects(*this, effects);
}

LogicalResult KeyPanelOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value panel = getDestinations()[0];
  if (failed(verifyKinds(*this, {getKeys(), panel})) || failed(verifyRank(*this, getKeys(), "keys", 2)) ||
      failed(verifyRank(*this, panel, "panel", 2))) // C1
    return failure();
  auto keys = cast<ShapedType>(getKeys().getType()), type = cast<ShapedType>(panel.getType());
  if (failed(verifyStatic(*this, "the rows of the panel", type.getDimSize(0), type)) ||
      failed(verifyStatic(*this, "the columns of the panel", type.getDimSize(1), type)))
    return failure();
  if (!keys.isDynamicDim(0) && keys.getDimSize(0) > type.getDimSize(1))
    return emitOpError("expects at most ") << type.getDimSize(1) << " keys, the panel's width, but got " << keys.getDimSize(0);
  return verifySize(*this, "the rows of the panel", keys.getDimSize(1), type.getDimSize(0));
}

void UnpackKeysOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  detail::getTileEffects(*this, effects);
}

LogicalResult UnpackKeysOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value rows = getDestinations()[0];
  if (failed(verifyKinds(*this, {getPanel(), rows})) || failed(verifyRank(*this, getPanel(), "panel", 2)) ||
      failed(verifyRank(*this, rows, "rows", 2))) // C1
    return failure();
  auto panel = cast<ShapedType>(getPanel().getType()), type = cast<ShapedType>(rows.getType());
  if (failed(verifyStatic(*this, "the rows of the panel", panel.getDimSize(0), panel)) ||
      failed(verifyStatic(*this, "the columns of the panel", panel.getDimSize(1), panel)))
    return failure();
  if (!type.isDynamicDim(0) && type.getDimSize(0) > panel.getDimSize(1))
    return emitOpError("expects at most ") << panel.getDimSize(1) << " keys, the panel's width, but got " << type.getDimSize(0);
  return verifySize(*this, "the columns of the rows", panel.getDimSize(0), type.getDimSize(1));
}
