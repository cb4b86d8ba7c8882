//===- TileBuilder.cpp - Affine sizes and slices of tiles -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/TileBuilder.h"

using namespace mlir;
using namespace attune;

Value TileBuilder::affine(ValueRange operands, AffineExpr expr) {
  return index(affine::makeComposedFoldedAffineApply(*this, getLoc(), expr, getAsOpFoldResult(operands)));
}

Value TileBuilder::minimum(ValueRange operands, ArrayRef<AffineExpr> exprs) {
  return affine::AffineMinOp::create(*this, AffineMap::get(operands.size(), 0, exprs, getContext()), operands);
}

OpFoldResult TileBuilder::dim(Value tensor, int64_t dim) { return tensor::getMixedSize(*this, getLoc(), tensor, dim); }

TokenRange TileBuilder::tokensOf(Value offsets, Value sequence) {
  Value begin = extractIndex(offsets, sequence), end = extractIndex(offsets, affine({sequence}, d0 + 1));
  return {begin, affine({end, begin}, d0 - d1)};
}

Value TileBuilder::extractSlice(Value tensor, const TensorSlice &at, ArrayRef<bool> dropped) {
  SmallVector<OpFoldResult> strides(at.offsets.size(), fixed(1));
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(at.sizes))
    if (dropped.empty() || !dropped[dim])
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(tensor.getType()).getElementType());
  return tensor::ExtractSliceOp::create(*this, type, tensor, at.offsets, at.sizes, strides);
}

Value TileBuilder::insertSlice(Value value, Value target, const TensorSlice &at) {
  SmallVector<OpFoldResult> strides(at.offsets.size(), fixed(1));
  return tensor::InsertSliceOp::create(*this, value, target, at.offsets, at.sizes, strides);
}

void TileBuilder::insertInParallel(Value value, Value target, const TensorSlice &at) {
  SmallVector<OpFoldResult> strides(at.offsets.size(), fixed(1));
  tensor::ParallelInsertSliceOp::create(*this, value, target, at.offsets, at.sizes, strides);
}
