//===- KernelOps.cpp - Verifiers and effects of tile operations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

/// Reads of the inputs and writes (with |updates|, also reads) of the destinations, for operands that are buffers.
static void addEffects(DestinationStyleOpInterface op, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, 0, true, SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand, 0, true, SideEffects::DefaultResource::get());
  }
}

/// Checks that |value| (named |name|) has |rank| dimensions.
static LogicalResult verifyRank(Operation *op, Value value, StringRef name, int64_t rank) {
  auto type = cast<ShapedType>(value.getType());
  if (type.hasRank() && type.getRank() == rank)
    return success();
  return op->emitOpError("expects '") << name << "' of rank " << rank << ", but got " << type;
}

/// Checks that static sizes agree.
static LogicalResult verifySize(Operation *op, StringRef what, int64_t expected, int64_t got) {
  if (ShapedType::isDynamic(expected) || ShapedType::isDynamic(got) || expected == got)
    return success();
  return op->emitOpError("expects ") << what << " to be " << expected << ", but got " << got;
}

void KeyPanelOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) { addEffects(*this, effects); }

LogicalResult KeyPanelOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value panel = getDestinations()[0];
  if (failed(verifyRank(*this, getKeys(), "keys", 2)) || failed(verifyRank(*this, panel, "panel", 2))) // C1
    return failure();
  auto keys = cast<ShapedType>(getKeys().getType()), type = cast<ShapedType>(panel.getType());
  if (type.isDynamicDim(0) || type.isDynamicDim(1))
    return emitOpError("expects a panel of static shape, but got ") << type;
  if (!keys.isDynamicDim(0) && keys.getDimSize(0) > type.getDimSize(1))
    return emitOpError("expects at most ") << type.getDimSize(1) << " keys, the panel's width, but got " << keys.getDimSize(0);
  return verifySize(*this, "the rows of the panel", keys.getDimSize(1), type.getDimSize(0));
}

void AttentionTileOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(*this, effects); // reads the scratch, too
  if (getScratch())
    effects.emplace_back(MemoryEffects::Write::get(), &getScratchMutable()[0], 0, true, SideEffects::DefaultResource::get());
}

LogicalResult AttentionTileOp::verify() {
  size_t count = getDestinations().size();
  if (count != 1 && count != 2)
    return emitOpError("expects one or two destinations, but got ") << count;
  Value result = getDestinations()[0];
  if (failed(verifyRank(*this, getQuery(), "query", 2)) || failed(verifyRank(*this, getKey(), "key", 3)) ||
      failed(verifyRank(*this, getValue(), "value", 2)) || failed(verifyRank(*this, result, "result", 2)))
    return failure();
  auto query = cast<ShapedType>(getQuery().getType()), key = cast<ShapedType>(getKey().getType());
  auto value = cast<ShapedType>(getValue().getType()), type = cast<ShapedType>(result.getType());
  if (failed(verifySize(*this, "the head size of 'key'", query.getDimSize(1), key.getDimSize(1))) || // C1
      failed(verifySize(*this, "the columns of the result", value.getDimSize(1), type.getDimSize(1))) ||
      failed(verifySize(*this, "the rows of the result", query.getDimSize(0), type.getDimSize(0))))
    return failure();
  if (key.isDynamicDim(2) || key.getDimSize(2) % 16 != 0)
    return emitOpError("expects a panel width that is a multiple of 16, but got ") << key;
  if (getKeyBlock() <= 0 || getKeyBlock() % key.getDimSize(2) != 0)
    return emitOpError("expects 'key_block' to be a multiple of the panel width, ") << key.getDimSize(2) << ", but got " << getKeyBlock();
  if (Value mask = getMask(); mask && failed(verifyRank(*this, mask, "mask", 2))) // C2
    return failure();
  if (Value scratch = getScratch()) { // C3
    auto buffer = cast<MemRefType>(scratch.getType());
    if (failed(verifyRank(*this, scratch, "scratch", 2)))
      return failure();
    if (!buffer.hasStaticShape() || !buffer.getLayout().isIdentity())
      return emitOpError("expects a contiguous 'scratch' of static shape, but got ") << buffer;
    if (buffer.getDimSize(1) < static_cast<int64_t>(getKeyBlock()))
      return emitOpError("expects a 'scratch' of at least ") << getKeyBlock() << " columns, but got " << buffer.getDimSize(1);
  }
  if (Value probabilities = getProbabilities())
    return verifyRank(*this, probabilities, "probabilities", 2);
  return success();
}
