//===- AttentionTileOps.cpp - Verifier and effects of attention tiles -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Tile/IR/TileVerification.h"

using namespace mlir;
using namespace mlir::tiles;

void AttentionTileOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  detail::getTileEffects(*this, effects); // includes the reads of scratch and state, which are inputs
  for (MutableOperandRange range : {getScratchMutable(), getStateMutable()})
    for (OpOperand &operand : range)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, 0, true, SideEffects::DefaultResource::get());
}

/// Checks that |value| (named |name|), if present, is a contiguous f32 buffer of static shape with at least |columns|
/// columns.
static LogicalResult verifyScratch(Operation *op, Value value, StringRef name, int64_t columns) {
  if (!value)
    return success();
  auto type = cast<MemRefType>(value.getType());
  if (failed(verifyRank(op, value, name, 2)))
    return failure();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !type.getElementType().isF32())
    return op->emitOpError("expects a contiguous f32 '") << name << "' of static shape, but got " << type;
  if (type.getDimSize(1) < columns)
    return op->emitOpError("expects a '") << name << "' of at least " << columns << " columns, but got " << type.getDimSize(1);
  return success();
}

/// Checks the constraints C2, C3 and C6 of the operation's description: the optional operands and the destination of
/// probabilities.
static LogicalResult verifyTerms(AttentionTileOp op) {
  auto rankOf = [](Value value) { return cast<ShapedType>(value.getType()).getRank(); };
  std::pair<Value, StringRef> added[] = {{op.getMask(), "mask"},
                                         {op.getHeadScale(), "head_scale"},
                                         {op.getDistanceBias(), "distance_bias"},
                                         {op.getRelativeKey(), "relative_key"},
                                         {op.getRelativeQuery(), "relative_query"},
                                         {op.getSinks(), "sinks"},
                                         {op.getProbabilities(), "probabilities"}};
  for (auto [value, name] : added)
    if (value && !cast<ShapedType>(value.getType()).getElementType().isF32())
      return op.emitOpError("expects '") << name << "' of f32, but got " << value.getType();
  if (Value mask = op.getMask(); mask && (rankOf(mask) < 1 || rankOf(mask) > 3)) // C2
    return op.emitOpError("expects 'mask' of rank 1 to 3, but got ") << mask.getType();
  std::pair<StringRef, Value> tables[] = {{"relative_key", op.getRelativeKey()}, {"relative_query", op.getRelativeQuery()}};
  std::tuple<Value, StringRef, int64_t> terms[] = {{op.getHeadScale(), "head_scale", 1},
                                                   {op.getDistanceBias(), "distance_bias", 2},
                                                   {op.getRelativeKey(), "relative_key", 3},
                                                   {op.getRelativeQuery(), "relative_query", 3},
                                                   {op.getSinks(), "sinks", 1}};
  for (auto [value, name, rank] : terms)
    if (value && failed(verifyRank(op, value, name, rank)))
      return failure();
  int64_t headDim = cast<ShapedType>(op.getQuery().getType()).getDimSize(2);
  for (auto [name, table] : tables) {
    auto type = table ? cast<ShapedType>(table.getType()) : ShapedType();
    if (!type)
      continue;
    if (type.isDynamicDim(2) || type.getDimSize(2) <= 2 * xfmr::kDistancePadding || type.getDimSize(2) % 2 == 0)
      return op.emitOpError("expects '") << name << "' to have a static odd number of columns, more than " << 2 * xfmr::kDistancePadding
                                         << ", but got " << type;
    if (failed(verifySize(op, ("the rows of '" + name + "'").str(), headDim, type.getDimSize(1))))
      return failure();
  }
  if (!op.getPosition() && (op.hidesByPosition() || op.getDistanceBias() || op.hasRelativeTables())) // C3
    return op.emitOpError("expects 'position' for what depends on positions");
  if (op.getMaskFill() && !op.getMask())
    return op.emitOpError("expects 'mask' for 'mask_fill'");
  if (op.getMaskFill() && !(op.getMaskFill()->convertToDouble() > xfmr::kHiddenScore))
    return op.emitOpError("expects 'mask_fill' above ")
           << xfmr::kHiddenScore << ", below which scores are hidden, but got " << op.getMaskFillAttr();
  if (op.getSinks() && op.getMaskedRows() != xfmr::MaskedRows::Zero) // C6
    return op.emitOpError("expects masked_rows = zero for 'sinks', but got ") << xfmr::stringifyMaskedRows(op.getMaskedRows());
  return success();
}

/// Checks the constraint C5 of the operation's description: the element types of queries, keys, values and the result.
static LogicalResult verifyElements(AttentionTileOp op) {
  Builder builder(op.getContext());
  Type code = op.getPrecision() == xfmr::Precision::BF16  ? Type(builder.getBF16Type())
              : op.getPrecision() == xfmr::Precision::F16 ? Type(builder.getF16Type())
                                                          : Type();
  auto elementOf = [](Value value) { return cast<ShapedType>(value.getType()).getElementType(); };
  Type expected = op.hasKeyRows() ? code : Type(builder.getF32Type());
  if (!expected)
    return op.emitOpError("expects 'precision' to be bf16 or f16 for keys in rows, but got ")
           << xfmr::stringifyPrecision(op.getPrecision());
  if (Type query = elementOf(op.getQuery()); !query.isF32() && query != expected)
    return op.emitOpError("expects 'query' of f32 or as keys are, but got ") << op.getQuery().getType();
  if (Type cached = elementOf(op.getKey()); !op.hasKeyRows() && (cached.isBF16() || cached.isF16() || cached.isInteger(8)))
    expected = cached;
  for (auto [name, value] : {std::pair<StringRef, Value>("key", op.getKey()), std::pair<StringRef, Value>("value", op.getValue())})
    if (elementOf(value) != expected)
      return op.emitOpError("expects '") << name << "' of " << expected << ", but got " << value.getType();
  if (Value result = op.getDestinations()[0]; !isa<FloatType>(elementOf(result)))
    return op.emitOpError("expects a result of floats, but got ") << result.getType();
  return success();
}

LogicalResult AttentionTileOp::verify() {
  size_t count = getDestinations().size();
  if (count != 1 && count != 2)
    return emitOpError("expects one or two destinations, but got ") << count;
  Value result = getDestinations()[0];
  SmallVector<Value> tensors = {getQuery(), getKey(), getValue()};
  llvm::append_range(tensors, getDestinations());
  for (Value value : {getMask(), getHeadScale(), getDistanceBias(), getRelativeKey(), getRelativeQuery(), getSinks()})
    if (value)
      tensors.push_back(value);
  if (failed(verifyKinds(*this, tensors)) || failed(verifyRank(*this, getQuery(), "query", 3)) ||
      failed(verifyRank(*this, getKey(), "key", hasKeyRows() ? 2 : 3)) || failed(verifyRank(*this, getValue(), "value", 2)) ||
      failed(verifyRank(*this, result, "result", 3)))
    return failure();
  auto query = cast<ShapedType>(getQuery().getType()), key = cast<ShapedType>(getKey().getType());
  auto value = cast<ShapedType>(getValue().getType()), type = cast<ShapedType>(result.getType());
  if (failed(verifySize(*this, "the head size of 'key'", query.getDimSize(2), xfmr::getHeadSize(key, 1))) || // C1
      failed(verifySize(*this, "the columns of the result", xfmr::getHeadSize(value, 1), type.getDimSize(2))) ||
      failed(verifySize(*this, "the heads of the result", query.getDimSize(1), type.getDimSize(1))) ||
      failed(verifySize(*this, "the rows of the result", query.getDimSize(0), type.getDimSize(0))))
    return failure();
  if (failed(verifyStatic(*this, "the head size of 'query'", query.getDimSize(2), query)) ||
      failed(verifyStatic(*this, "the head size of 'value'", value.getDimSize(1), value)))
    return failure();
  if (!hasKeyRows() && (key.isDynamicDim(2) || key.getDimSize(2) <= 0 || key.getDimSize(2) % 16 != 0))
    return emitOpError("expects a panel width that is a positive multiple of 16, but got ") << key;
  int64_t width = hasKeyRows() ? 1 : key.getDimSize(2);
  if (key.getElementType().isInteger(8) && width % 64 != 0)
    return emitOpError("expects a panel width that is a multiple of 64 for i8, but got ") << key;
  if (!ShapedType::isDynamic(key.getDimSize(1)) && xfmr::getHeadSize(key, 1) < 1)
    return emitOpError("expects keys of at least one component, but got ") << key;
  if (getValueDim() < 1)
    return emitOpError("expects values of at least one component, but got ") << value;
  if (getKeyBlock() <= 0 || getKeyBlock() % width != 0)
    return emitOpError("expects 'key_block' to be a multiple of the panel width, ") << width << ", but got " << getKeyBlock();
  if (failed(verifyElements(*this)) || failed(verifyTerms(*this)))
    return failure();
  if (bool(getScratch()) != bool(getState())) // C4
    return emitOpError("expects 'scratch' and 'state' together");
  if (failed(verifyScratch(*this, getScratch(), "scratch", getKeyBlock())) || failed(verifyScratch(*this, getState(), "state", 32)))
    return failure();
  if (Value probabilities = getProbabilities())
    return verifyRank(*this, probabilities, "probabilities", 3);
  return success();
}
