//===- TileBuilder.cpp - Index arithmetic and slices of tiles -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/TileBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace attune;

Value TileBuilder::constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value TileBuilder::affine(ValueRange operands, AffineExpr expr) {
  SmallVector<OpFoldResult> folded = getAsOpFoldResult(operands);
  return getValueOrCreateConstantIndexOp(builder, loc, affine::makeComposedFoldedAffineApply(builder, loc, expr, folded));
}

Value TileBuilder::minimum(ValueRange operands, ArrayRef<AffineExpr> exprs) {
  AffineMap map = AffineMap::get(operands.size(), 0, exprs, builder.getContext());
  return affine::AffineMinOp::create(builder, loc, map, operands);
}

OpFoldResult TileBuilder::dim(Value tensor, int64_t dim) { return tensor::getMixedSize(builder, loc, tensor, dim); }

Value TileBuilder::extractIndex(Value values, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), tensor::ExtractOp::create(builder, loc, values, index));
}

Span TileBuilder::span(Value offsets, Value sequence) {
  Value begin = extractIndex(offsets, sequence), end = extractIndex(offsets, affine({sequence}, d0 + 1));
  return {begin, affine({end, begin}, d0 - d1)};
}

Value TileBuilder::slice(Value tensor, const Box &box, ArrayRef<bool> dropped) {
  SmallVector<OpFoldResult> strides(box.offsets.size(), fixed(1));
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(box.sizes))
    if (dropped.empty() || !dropped[dim])
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(tensor.getType()).getElementType());
  return tensor::ExtractSliceOp::create(builder, loc, type, tensor, box.offsets, box.sizes, strides);
}

void TileBuilder::insertInParallel(Value value, Value target, const Box &box) {
  SmallVector<OpFoldResult> strides(box.offsets.size(), fixed(1));
  tensor::ParallelInsertSliceOp::create(builder, loc, value, target, box.offsets, box.sizes, strides);
}

Value TileBuilder::insert(Value value, Value target, const Box &box) {
  SmallVector<OpFoldResult> strides(box.offsets.size(), fixed(1));
  return tensor::InsertSliceOp::create(builder, loc, value, target, box.offsets, box.sizes, strides);
}
