//===- LowPrecisionContraction.cpp - Low-precision products ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LowPrecisionContraction.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <functional>

using namespace mlir;
using namespace attune;

LowPrecisionTile::LowPrecisionTile(VectorBuilder &builder, ContractionTile tile, int64_t rows, PrefetchPlan plan)
    : builder(builder), input(tile.contraction.getDpsInputs()[0]), panels(tile.contraction.getDpsInputs()[1]),
      output((tile.epilogue ? tile.epilogue : tile.contraction).getDpsInits()[0]), inputType(cast<MemRefType>(input.getType())),
      panelType(cast<MemRefType>(panels.getType())), rows(rows), plan(plan), tile(tile) {
  auto loop = tile.contraction->getParentOfType<scf::ForOp>();
  if (!loop)
    return;
  Value before = builder.sub(loop.getInductionVar(), loop.getLowerBound()), all = builder.sub(loop.getUpperBound(), loop.getLowerBound());
  rowTile = builder.div(before, loop.getStep());
  rowTiles = builder.ceilDiv(all, loop.getStep());
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
  if (width % VectorBuilder::kLanes != 0 || !inputType.isLastDimUnitStride() || depth % group != 0)
    return "its panel width is not a known multiple of 16";
  MLIRContext *context = inputType.getContext();
  AffineExpr n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  AffineMap map = tile.contraction.getMatchingIndexingMap(tile.contraction.getDpsInputOperand(1));
  if (map != AffineMap::get(3, 0, {n.floorDiv(width), k.floorDiv(group), n % width, k % group}, context))
    return "its panels are not as wide as their rows are apart";
  if (!cast<MemRefType>(output.getType()).isLastDimUnitStride())
    return "its output rows are not contiguous";
  if (!tile.epilogue && getElementTypeOrSelf(output) != getElementTypeOrSelf(tile.contraction.getDpsInits()[0]))
    return "its sums are stored as another type";
  // The panel has columns past those of the matrix; a tile of fewer columns is a view of it.
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
  if (tile.epilogue) {
    body.emplace(builder, tile.epilogue);
    for (OpOperand *operand : tile.epilogue.getDpsInputOperands())
      if (operand->get() == tile.contraction.getDpsInits()[0])
        accumulatorOperand = operand->getOperandNumber();
  }
  return nullptr;
}

/// Returns true if dimension |dim| of the output is known to be at most |limit|.
bool LowPrecisionTile::isAtMost(int64_t dim, int64_t limit) {
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {output, dim},
                                                                            /*stopCondition=*/nullptr, /*closedUB=*/true);
  return succeeded(bound) && *bound <= limit;
}

void LowPrecisionTile::forEachGroup(llvm::function_ref<void(Value, Value, Value, Value, Value)> emitGroup) {
  Value columns = builder.size(output, 1), count = builder.size(output, 0), zero = builder.index(0);
  auto emitPanel = [&](Value panel, Value first, Value columns) {
    if (isAtMost(0, rows))
      return emitGroup(panel, first, columns, zero, count);
    builder.loop(zero, count, rows,
                 [&](Value row) { emitGroup(panel, first, columns, row, builder.min(builder.sub(count, row), builder.index(rows))); });
  };
  if (isAtMost(1, width))
    return emitPanel(zero, zero, columns);
  builder.loop(zero, columns, width, [&](Value first) { emitPanel(builder.div(first, width), first, builder.sub(columns, first)); });
}

void LowPrecisionTile::prepareRow(Value row) {
  if (body)
    body->prepare({row});
}

void LowPrecisionTile::finish(Value sums, Value row, Value firstColumn, int64_t chunk, Value columns) {
  int64_t column = chunk * VectorBuilder::kLanes;
  std::optional<int64_t> known = getConstantIntValue(columns);
  if (known && *known <= column)
    return;
  Lanes lanes = known ? Lanes::first(*known - column) : Lanes::first(builder.sub(columns, builder.index(column)));
  LanePoint point{{row}, builder.add(firstColumn, column), lanes};
  if (body)
    body->store(body->evaluate(point, llvm::DenseMap<unsigned, Value>{{accumulatorOperand, sums}}), point);
  else
    builder.store(sums, output, {row, point.inner}, lanes);
}

void LowPrecisionTile::forShares(int64_t most, llvm::function_ref<void(int64_t)> emit) {
  if (!rowTile)
    return emit(0);
  auto side = [&](int64_t shares) {
    emit(shares);
    return VectorBuilder::Values();
  };
  std::function<VectorBuilder::Values(int64_t)> from = [&](int64_t shares) -> VectorBuilder::Values {
    if (shares >= most)
      return side(shares);
    Value few = builder.compare(arith::CmpIPredicate::ult, rowTiles, 2 * shares);
    if (std::optional<int64_t> known = getConstantIntValue(few))
      return *known ? side(shares) : from(2 * shares);
    return builder.choose(few, [&] { return side(shares); }, [&] { return from(2 * shares); });
  };
  (void)from(1);
}

void LowPrecisionTile::prefetch(int64_t shares, Value panel, Value iteration, int64_t iterations) {
  if (shares != 0)
    emitPanelPrefetch(builder, plan, panels, panel, rowTile, shares, iteration, iterations);
}
