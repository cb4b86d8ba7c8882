//===- QuantizeOps.cpp - Verifier, effects and tiling of quantize_rows ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::tiles;

/// Without sums, the number of columns of padding must be less than this limit: passes emit the padding of a row
/// without a loop, so more columns would need much code.
static constexpr int64_t kMostPadding = 256;

LogicalResult QuantizeRowsOp::verify() {
  size_t count = getDestinations().size();
  if (count < 1 || count > 3)
    return emitOpError("expects one to three destinations, but got ") << count;
  auto input = cast<ShapedType>(getInput().getType()), quantized = cast<ShapedType>(getQuantized().getType());
  if (!input.hasRank() || input.getRank() != 2 || !input.getElementType().isF32() || input.isDynamicDim(1)) // C1
    return emitOpError("expects 'input' to be f32 rows of static size, but got ") << input;
  if (!quantized.hasRank() || quantized.getRank() != 2 || quantized.isDynamicDim(1) || quantized.getDimSize(1) < input.getDimSize(1))
    return emitOpError("expects a destination of at least ") << input.getDimSize(1) << " columns, but got " << quantized;
  if (count != 3 && quantized.getDimSize(1) - input.getDimSize(1) >= kMostPadding)
    return emitOpError("expects fewer than ") << kMostPadding << " columns more than the " << input.getDimSize(1) << " of 'input', but got "
                                              << quantized;
  auto verifyRows = [&](StringRef what, ShapedType type) -> LogicalResult {
    if (type.isDynamicDim(0) || input.isDynamicDim(0) || type.getDimSize(0) == input.getDimSize(0))
      return success();
    return emitOpError("expects ") << what << " of " << input.getDimSize(0) << " rows, but got " << type;
  };
  if (failed(verifyRows("a destination", quantized)))
    return failure();
  Type element = quantized.getElementType();
  if (count == 1 ? !element.isBF16() && !element.isF16() && !element.isF32() : !element.isInteger(8) && !element.isInteger(16)) // C2
    return emitOpError("expects a destination of ") << (count == 1 ? "bf16, f16 or f32" : "i8 or i16") << ", but got " << quantized;
  if (count == 1)
    return getGroup() ? emitOpError("expects no group without sums, but got ") << *getGroup() : success();
  if (count == 3)
    return verifyGroups();
  if (getGroup()) // C3
    return emitOpError("expects no group without sums, but got ") << *getGroup();
  auto scales = cast<ShapedType>(getScales().getType());
  if (!scales.hasRank() || scales.getRank() != 1 || !scales.getElementType().isF32())
    return emitOpError("expects 'scales' to be f32 of rank 1, but got ") << scales;
  return verifyRows("'scales'", scales);
}

LogicalResult QuantizeRowsOp::verifyGroups() {
  auto input = cast<ShapedType>(getInput().getType()), quantized = cast<ShapedType>(getQuantized().getType());
  int64_t group = getGroup().value_or(0), columns = input.getDimSize(1), padded = quantized.getDimSize(1);
  if (group <= 0 || group % 16 != 0) // C3
    return emitOpError("expects a group that is a positive multiple of 16, but got ") << group;
  if (!quantized.getElementType().isInteger(8) || padded % group != 0 || padded - group >= columns)
    return emitOpError("expects i8 of ") << columns << " columns in whole groups of " << group << ", but got " << quantized;
  auto verifyNumbers = [&](StringRef name, Value value, bool isElement) -> LogicalResult {
    auto type = cast<ShapedType>(value.getType());
    bool isShape = type.hasRank() && type.getRank() == 2 && type.getDimSize(1) == padded / group &&
                   (type.isDynamicDim(0) || input.isDynamicDim(0) || type.getDimSize(0) == input.getDimSize(0));
    if (!isElement || !isShape)
      return emitOpError("expects '") << name << "' to have " << padded / group << " columns of " << (name == "scales" ? "f32" : "i32")
                                      << " and the rows of 'input', but got " << type;
    return success();
  };
  return failure(failed(verifyNumbers("scales", getScales(), getElementTypeOrSelf(getScales()).isF32())) ||
                 failed(verifyNumbers("sums", getSums(), getElementTypeOrSelf(getSums()).isInteger(32))));
}

//===----------------------------------------------------------------------===//
// TilingInterface: rows are independent and are never split
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> QuantizeRowsOp::getLoopIteratorTypes() { return {utils::IteratorType::parallel}; }

SmallVector<Range> QuantizeRowsOp::getIterationDomain(OpBuilder &builder) {
  OpFoldResult rows = tensor::getMixedSize(builder, getLoc(), getInput(), 0);
  return {Range{builder.getIndexAttr(0), rows, builder.getIndexAttr(1)}};
}

/// Returns the rows |offset| … |offset| + |size| - 1 of |tensor|.
static Value sliceRows(OpBuilder &builder, Location loc, Value tensor, OpFoldResult offset, OpFoldResult size) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  offsets[0] = offset;
  sizes[0] = size;
  return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, strides);
}

FailureOr<TilingResult> QuantizeRowsOp::getTiledImplementation(OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
                                                               ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> operands;
  SmallVector<Operation *> slices;
  for (Value operand : getOperands()) {
    operands.push_back(sliceRows(builder, getLoc(), operand, offsets[0], sizes[0]));
    slices.push_back(operands.back().getDefiningOp());
  }
  SmallVector<Type> types;
  for (Value operand : ArrayRef<Value>(operands).drop_front())
    types.push_back(operand.getType());
  Operation *tiled = mlir::clone(builder, *this, types, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult QuantizeRowsOp::getResultTilePosition(OpBuilder &builder, unsigned number, ArrayRef<OpFoldResult> offsets,
                                                    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
                                                    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets = {offsets[0]};
  resultSizes = {sizes[0]};
  Value result = getDestinations()[number];
  if (cast<ShapedType>(result.getType()).getRank() > 1) {
    resultOffsets.push_back(builder.getIndexAttr(0));
    resultSizes.push_back(tensor::getMixedSize(builder, getLoc(), result, 1));
  }
  return success();
}

LogicalResult QuantizeRowsOp::getIterationDomainTileFromOperandTiles(OpBuilder &, ArrayRef<unsigned> numbers,
                                                                     ArrayRef<SmallVector<OpFoldResult>> offsets,
                                                                     ArrayRef<SmallVector<OpFoldResult>> sizes,
                                                                     SmallVectorImpl<OpFoldResult> &domainOffsets,
                                                                     SmallVectorImpl<OpFoldResult> &domainSizes) {
  // Only whole rows of the input can be fused.
  if (numbers.size() != 1 || numbers[0] != 0 || !isConstantIntValue(offsets[0][1], 0) ||
      !isConstantIntValue(sizes[0][1], cast<ShapedType>(getInput().getType()).getDimSize(1)))
    return failure();
  domainOffsets.assign(1, offsets[0][0]);
  domainSizes.assign(1, sizes[0][0]);
  return success();
}

FailureOr<TilingResult> QuantizeRowsOp::getTiledImplementationFromOperandTiles(OpBuilder &builder, ArrayRef<unsigned> numbers,
                                                                               ArrayRef<SmallVector<OpFoldResult>> offsets,
                                                                               ArrayRef<SmallVector<OpFoldResult>> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromOperandTiles(builder, numbers, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  return getTiledImplementation(builder, domainOffsets, domainSizes);
}
