//===- LowPrecisionContraction.cpp - Low-precision products ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LowPrecisionContraction.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

LowPrecisionTile::LowPrecisionTile(VectorBuilder &builder, ContractionTile tile, int64_t rows, PrefetchPlan plan)
    : ProductTile(builder, tile.contraction, tile.contraction.getDpsInits()[0], tile.epilogue, rows, plan),
      input(tile.contraction.getDpsInputs()[0]), inputType(cast<MemRefType>(input.getType())),
      panelType(cast<MemRefType>(tile.contraction.getDpsInputs()[1].getType())), tile(tile) {
  panels = tile.contraction.getDpsInputs()[1];
}

const char *LowPrecisionTile::check() {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (inputType.getRank() != 2 || panelType.getRank() != 4 || failed(panelType.getStridesAndOffset(strides, offset)))
    return "its operands are not low-precision rows and a grouped weight panel";
  group = panelType.getDimSize(3);
  if (inputType.isDynamicDim(1) || ShapedType::isDynamic(group) || ShapedType::isDynamic(strides[1]) || strides[3] != 1 ||
      strides[2] != group)
    return "its panels have no known layout";
  depth = inputType.getDimSize(1);
  width = strides[1] / group;
  if (width % VectorBuilder::kLanes != 0)
    return "its panel width is not a multiple of 16";
  if (!inputType.isLastDimUnitStride())
    return "its rows are not contiguous";
  if (depth % group != 0)
    return "its depth is not a multiple of the panels' groups";
  MLIRContext *context = inputType.getContext();
  AffineExpr n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  AffineMap map = tile.contraction.getMatchingIndexingMap(tile.contraction.getDpsInputOperand(1));
  if (map != AffineMap::get(3, 0, {n.floorDiv(width), k.floorDiv(group), n % width, k % group}, context))
    return "its panels are not as wide as their rows are apart";
  if (!tile.epilogue && getElementTypeOrSelf(output) != getElementTypeOrSelf(tile.contraction.getDpsInits()[0]))
    return "its sums are stored as another type";
  // The operand of a tile of fewer than |width| columns is a view of the first columns of a panel. In memory the panel
  // has all |width| columns, so the code reads them all, through a view of the whole panel.
  auto whole =
      MemRefType::get({panelType.getDimSize(0), panelType.getDimSize(1), width, group}, panelType.getElementType(), panelType.getLayout());
  if (whole != panelType) {
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, panels);
    SmallVector<OpFoldResult> sizes = metadata.getConstifiedMixedSizes();
    sizes[2] = builder.getIndexAttr(width);
    panels = memref::ReinterpretCastOp::create(builder, whole, metadata.getBaseBuffer(), metadata.getConstifiedMixedOffset(), sizes,
                                               metadata.getConstifiedMixedStrides());
  }
  panels = memref::CollapseShapeOp::create(builder, panels, SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  return checkOutput();
}
