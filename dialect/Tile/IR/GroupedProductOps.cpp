//===- GroupedProductOps.cpp - Verifier and tiling of grouped products ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Tile/IR/TileVerification.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tiles;

/// Returns the size of dimension |dim| of |value|.
static int64_t sizeOf(Value value, int64_t dim) { return cast<ShapedType>(value.getType()).getDimSize(dim); }

int64_t GroupedProductOp::getGroupColumns() { return getFormat().getValue().groupColumns(sizeOf(getRows(), 1)); }

LogicalResult GroupedProductOp::verify() {
  if (getDestinations().size() != 1)
    return emitOpError("expects one destination, but got ") << getDestinations().size();
  Value destination = getDestination();
  if (getInputs().size() != 2 && getInputs().size() != 4) // C1
    return emitOpError("expects rows and panels, or rows, scales, sums and panels, but got ") << getInputs().size() << " inputs";
  bool quantized = hasQuantizedRows();
  Type rowsElement = getElementTypeOrSelf(getRows());
  bool rounded = rowsElement.isBF16() || rowsElement.isF16();
  if (failed(verifyKinds(*this, getOperands())) || failed(verifyRank(*this, getRows(), "rows", 2)) ||
      (quantized && (failed(verifyRank(*this, getScales(), "scales", 2)) || failed(verifyRank(*this, getSums(), "sums", 2)))) ||
      failed(verifyRank(*this, getPanels(), "panels", 3)) || failed(verifyRank(*this, destination, "the destination", 2)))
    return failure();
  auto verifyElement = [&](Value value, StringRef name, Type type) -> LogicalResult {
    auto shaped = cast<ShapedType>(value.getType());
    if (shaped.getElementType() != type)
      return emitOpError("expects ") << name << " of " << type << ", but got " << shaped;
    return success();
  };
  Builder b(getContext());
  Type rowElement = quantized ? Type(b.getI8Type()) : rounded ? rowsElement : Type(b.getF32Type());
  if (failed(verifyElement(getRows(), "rows", rowElement)) ||
      (quantized &&
       (failed(verifyElement(getScales(), "scales", b.getF32Type())) || failed(verifyElement(getSums(), "sums", b.getI32Type())))) ||
      failed(verifyElement(getPanels(), "panels", b.getI8Type())) || failed(verifyElement(destination, "a destination", b.getF32Type())))
    return failure();
  SmallVector<std::pair<Value, StringRef>> scalesAndSums;
  if (quantized)
    scalesAndSums = {{getScales(), "the columns of scales"}, {getSums(), "the columns of sums"}};
  if (failed(verifySize(*this, "rows", sizeOf(getRows(), 0), sizeOf(destination, 0))))
    return failure();
  for (auto [numbers, what] : scalesAndSums)
    if (failed(verifySize(*this, "rows", sizeOf(getRows(), 0), sizeOf(numbers, 0))) ||
        failed(verifyStatic(*this, what, sizeOf(numbers, 1), numbers.getType())))
      return failure();
  for (auto [value, dim, what] : {std::tuple(getRows(), 1, "the columns of rows"), std::tuple(getPanels(), 1, "the groups of panels"),
                                  std::tuple(getPanels(), 2, "the bytes of a group")})
    if (failed(verifyStatic(*this, what, sizeOf(value, dim), value.getType())))
      return failure();
  int64_t width = getWidth(), groups = sizeOf(getPanels(), 1);
  if (width <= 0 || width % 16 != 0) // C3
    return emitOpError("expects a width that is a positive multiple of 16, but got ") << width;
  xfmr::WeightFormat format = getFormat().getValue();
  if (format.isFloat()) // C4
    return emitOpError("expects a format with groups, but got ") << format.str();
  int64_t depth = sizeOf(getRows(), 1);
  if (width > format.kMostWidth || depth > format.kMostColumns) // C3
    return emitOpError("expects a width of at most ") << format.kMostWidth << " and rows of at most " << format.kMostColumns
                                                      << " columns, but got " << width << " and " << getRows().getType();
  if (quantized && format.paddedColumns(depth) != depth) // C2
    return emitOpError("expects rows of whole groups of '")
           << format.str() << "', such as " << format.paddedColumns(depth) << " columns, but got " << getRows().getType();
  if (rounded && depth % 2 != 0) // C2
    return emitOpError("expects an even number of columns of 16-bit rows, but got ") << getRows().getType();
  if (format.groups(depth) != groups) // C2
    return emitOpError("expects rows of ") << groups << " groups of '" << format.str() << "', but got " << getRows().getType();
  for (auto [numbers, what] : scalesAndSums)
    if (failed(verifySize(*this, what, groups, sizeOf(numbers, 1))))
      return failure();
  if (failed(verifySize(*this, "the bytes of a group", format.groupBytes(width, depth), sizeOf(getPanels(), 2))))
    return failure();
  int64_t columns = sizeOf(destination, 1), panels = sizeOf(getPanels(), 0), needed = llvm::divideCeil(columns, width);
  if (!ShapedType::isDynamic(columns) && !ShapedType::isDynamic(panels) && needed != panels) // C3
    return emitOpError("expects ") << needed << " panels for " << columns << " columns, but got " << panels;
  return success();
}

//===----------------------------------------------------------------------===//
// TilingInterface: rows and panels are independent, groups are never split
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> GroupedProductOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel);
}

SmallVector<Range> GroupedProductOp::getIterationDomain(OpBuilder &builder) {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, 2), [&](int64_t dim) {
    return Range{builder.getIndexAttr(0), tensor::getMixedSize(builder, getLoc(), getDestination(), dim), builder.getIndexAttr(1)};
  });
}

FailureOr<TilingResult> GroupedProductOp::getTiledImplementation(OpBuilder &builder, ArrayRef<OpFoldResult> offsets,
                                                                 ArrayRef<OpFoldResult> sizes) {
  Location loc = getLoc();
  SmallVector<Operation *> slices;
  auto slice = [&](Value tensor, ArrayRef<OpFoldResult> begin, ArrayRef<OpFoldResult> size) -> Value {
    SmallVector<OpFoldResult> strides(begin.size(), builder.getIndexAttr(1));
    slices.push_back(tensor::ExtractSliceOp::create(builder, loc, tensor, begin, size, strides));
    return slices.back()->getResult(0);
  };
  OpFoldResult zero = builder.getIndexAttr(0);
  auto rowsOf = [&](Value tensor) { return slice(tensor, {offsets[0], zero}, {sizes[0], builder.getIndexAttr(sizeOf(tensor, 1))}); };
  // Tiles begin at columns that are multiples of the width. A last tile that ends within a panel gets the whole panel.
  AffineExpr n = builder.getAffineDimExpr(0);
  OpFoldResult panel = affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(1, 0, n.floorDiv(getWidth())), {offsets[1]});
  OpFoldResult count = affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(1, 0, n.ceilDiv(getWidth())), {sizes[1]});
  SmallVector<Value> operands = llvm::map_to_vector(getRowInputs(), rowsOf);
  operands.push_back(slice(getPanels(), {panel, zero, zero},
                           {count, builder.getIndexAttr(sizeOf(getPanels(), 1)), builder.getIndexAttr(sizeOf(getPanels(), 2))}));
  operands.push_back(slice(getDestination(), offsets, sizes));
  Operation *tiled = mlir::clone(builder, *this, {operands.back().getType()}, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult GroupedProductOp::getResultTilePosition(OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                                      SmallVector<OpFoldResult> &resultOffsets, SmallVector<OpFoldResult> &resultSizes) {
  llvm::append_range(resultOffsets, offsets);
  llvm::append_range(resultSizes, sizes);
  return success();
}

FailureOr<TilingResult> GroupedProductOp::generateResultTileValue(OpBuilder &builder, unsigned, ArrayRef<OpFoldResult> offsets,
                                                                  ArrayRef<OpFoldResult> sizes) {
  return getTiledImplementation(builder, offsets, sizes);
}
