//===- GroupedTile.cpp - Register tiles of grouped products ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/GroupedTile.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

GroupedTile::GroupedTile(VectorBuilder &builder, tiles::GroupedProductOp op, linalg::LinalgOp epilogue, int64_t rows, PrefetchPlan plan)
    : ProductTile(builder, op, op.getDestination(), epilogue, rows, plan), op(op), format(op.getFormat().getValue()) {
  panels = op.getPanels();
  width = op.getWidth();
}

const char *GroupedTile::check() {
  for (Value operand : op.getRowInputs())
    if (!cast<MemRefType>(operand.getType()).isLastDimUnitStride())
      return "its rows are not contiguous";
  auto type = cast<MemRefType>(panels.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides[2] != 1 || strides[1] != type.getDimSize(2) ||
      ShapedType::isDynamic(strides[0]))
    return "its panels have no known layout";
  return checkOutput();
}

Value GroupedTile::load(Value panel, Value group, Value byte, int64_t bytes) {
  return vector::LoadOp::create(builder, VectorType::get({bytes}, builder.getI8Type()), panels, ValueRange{panel, group, byte});
}

Value GroupedTile::loadNumbers(Value panel, Value group, int64_t index, int64_t lanes, bool convertsHalves) {
  int64_t bytes = format.scaleBytes();
  auto vectorOf = [&](Type type) { return VectorType::get({lanes}, type); };
  Value raw = load(panel, group, builder.index(index * lanes * bytes), lanes * bytes);
  if (format.wideScales)
    return vector::BitCastOp::create(builder, vectorOf(builder.getF32Type()), raw);
  if (convertsHalves) {
    Value halves = vector::BitCastOp::create(builder, vectorOf(builder.getF16Type()), raw);
    return arith::ExtFOp::create(builder, vectorOf(builder.getF32Type()), halves);
  }
  Value halves = vector::BitCastOp::create(builder, vectorOf(builder.getI16Type()), raw);
  return builder.widenHalf(arith::ExtSIOp::create(builder, vectorOf(builder.getI32Type()), halves));
}

Value GroupedTile::splatOf(VectorType type, int64_t value) {
  APInt bits(type.getElementType().getIntOrFloatBitWidth(), static_cast<uint64_t>(value), /*isSigned=*/false, /*implicitTrunc=*/true);
  return arith::ConstantOp::create(builder, DenseElementsAttr::get(type, bits));
}
