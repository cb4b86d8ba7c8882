//===- TokenTensors.cpp - Elements and rows of tensors of tokens ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

using namespace mlir;
using namespace attune;
using utils::IteratorType;

Value attune::extract(ImplicitLocOpBuilder &b, Value tensor, ValueRange indices) { return tensor::ExtractOp::create(b, tensor, indices); }
Value attune::insert(ImplicitLocOpBuilder &b, Value scalar, Value tensor, ValueRange indices) {
  return tensor::InsertOp::create(b, scalar, tensor, indices);
}

/// Returns offsets, sizes and strides of row |row| of a matrix of |columns| columns.
static std::array<SmallVector<OpFoldResult>, 3> rowSlice(OpBuilder &b, Value row, int64_t columns) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return {SmallVector<OpFoldResult>{row, zero}, {one, b.getIndexAttr(columns)}, {one, one}};
}

Value attune::extractRow(ImplicitLocOpBuilder &b, Value tensor, Value row, bool flat) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t columns = type.getDimSize(1);
  auto [offsets, sizes, strides] = rowSlice(b, row, columns);
  auto slice = flat ? type.clone({columns}) : type.clone({1, columns});
  return tensor::ExtractSliceOp::create(b, cast<RankedTensorType>(slice), tensor, offsets, sizes, strides);
}

Value attune::insertRow(ImplicitLocOpBuilder &b, Value source, Value tensor, Value row) {
  auto [offsets, sizes, strides] = rowSlice(b, row, cast<RankedTensorType>(tensor.getType()).getDimSize(1));
  return tensor::InsertSliceOp::create(b, source, tensor, offsets, sizes, strides);
}

SmallVector<Value> attune::dynamicSizes(IndexBuilder &b, Value tensor) {
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(tensor.getType()).getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(b.size(tensor, dim));
  return sizes;
}

Value attune::filled(ImplicitLocOpBuilder &b, RankedTensorType type, ValueRange sizes, double value) {
  Value element = arith::ConstantOp::create(b, b.getFloatAttr(type.getElementType(), value));
  return linalg::FillOp::create(b, element, tensor::EmptyOp::create(b, type, sizes).getResult()).getResult(0);
}

Value attune::generic(ImplicitLocOpBuilder &b, ValueRange inputs, ArrayRef<AffineMap> maps, Value destination, ElementBody body,
                      unsigned reduced) {
  auto type = cast<RankedTensorType>(destination.getType());
  unsigned loops = type.getRank() + reduced;
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(b.getMultiDimIdentityMap(loops).getMajorSubMap(type.getRank()));
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  std::fill(iterators.begin() + type.getRank(), iterators.end(), IteratorType::reduction);
  // linalg.generic moves the insertion point of this builder into its region.
  auto emit = [&](OpBuilder &, Location, ValueRange args) { linalg::YieldOp::create(b, body(args)); };
  return linalg::GenericOp::create(b, type, inputs, destination, allMaps, iterators, emit).getResult(0);
}

Value attune::gatherRows(IndexBuilder &b, RankedTensorType type, Value table, Value rows, bool someNegative) {
  Value destination = tensor::EmptyOp::create(b, type, b.size(rows, 0));
  AffineMap perRow = AffineMap::get(type.getRank(), 0, b.getAffineDimExpr(0));
  return generic(b, rows, perRow, destination, [&](ValueRange args) {
    SmallVector<Value> at{b.toIndex(args[0])};
    if (someNegative)
      at[0] = b.max(at[0], b.index(0));
    for (int64_t i = 1; i < type.getRank(); ++i)
      at.push_back(linalg::IndexOp::create(b, i));
    return extract(b, table, at);
  });
}
