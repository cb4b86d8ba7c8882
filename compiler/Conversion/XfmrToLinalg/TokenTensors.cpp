//===- TokenTensors.cpp - Short forms for conversion patterns -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

using namespace mlir;
using namespace attune;
using utils::IteratorType;

Value TokenEmitter::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value TokenEmitter::real(Type type, double value) { return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value)); }
Value TokenEmitter::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value TokenEmitter::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value TokenEmitter::mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value TokenEmitter::toIndex(Value value) { return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value); }
Value TokenEmitter::toI64(Value value) { return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value); }

Value TokenEmitter::dim(Value tensor, int64_t dim) { return builder.createOrFold<tensor::DimOp>(loc, tensor, dim); }
Value TokenEmitter::extract(Value tensor, ValueRange indices) { return tensor::ExtractOp::create(builder, loc, tensor, indices); }
Value TokenEmitter::insert(Value scalar, Value tensor, ValueRange indices) {
  return tensor::InsertOp::create(builder, loc, scalar, tensor, indices);
}

/// Offsets, sizes and strides of row |row| of a matrix of |columns| columns.
static std::array<SmallVector<OpFoldResult>, 3> rowSlice(OpBuilder &builder, Value row, int64_t columns) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  return {SmallVector<OpFoldResult>{row, zero}, {one, builder.getIndexAttr(columns)}, {one, one}};
}

Value TokenEmitter::extractRow(Value tensor, Value row, bool flat) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t columns = type.getDimSize(1);
  auto [offsets, sizes, strides] = rowSlice(builder, row, columns);
  auto slice = flat ? type.clone({columns}) : type.clone({1, columns});
  return tensor::ExtractSliceOp::create(builder, loc, cast<RankedTensorType>(slice), tensor, offsets, sizes, strides);
}

Value TokenEmitter::insertRow(Value source, Value tensor, Value row) {
  auto [offsets, sizes, strides] = rowSlice(builder, row, cast<RankedTensorType>(tensor.getType()).getDimSize(1));
  return tensor::InsertSliceOp::create(builder, loc, source, tensor, offsets, sizes, strides);
}

Value TokenEmitter::empty(Type type, ValueRange sizes) {
  return tensor::EmptyOp::create(builder, loc, cast<RankedTensorType>(type), sizes);
}

Value TokenEmitter::filled(Type type, ValueRange sizes, double value) {
  Value element = real(getElementTypeOrSelf(type), value);
  return linalg::FillOp::create(builder, loc, element, empty(type, sizes)).getResult(0);
}

TokenEmitter::Values TokenEmitter::dynamicSizes(Value tensor) {
  Values sizes;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(dim(tensor, i));
  return sizes;
}

Value TokenEmitter::generic(ValueRange inputs, ArrayRef<AffineMap> maps, Value destination, Body body, unsigned reduced) {
  auto type = cast<RankedTensorType>(destination.getType());
  unsigned loops = type.getRank() + reduced;
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(builder.getMultiDimIdentityMap(loops).getMajorSubMap(type.getRank()));
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  std::fill(iterators.begin() + type.getRank(), iterators.end(), IteratorType::reduction);
  auto op = linalg::GenericOp::create(builder, loc, type, inputs, destination, allMaps, iterators,
                                      [&](OpBuilder &nested, Location loc, ValueRange args) {
                                        TokenEmitter emit(nested, loc);
                                        linalg::YieldOp::create(nested, loc, body(emit, args));
                                      });
  return op.getResult(0);
}

TokenEmitter::Values TokenEmitter::loop(Value begin, Value end, ValueRange inits, LoopBody body) {
  auto op =
      scf::ForOp::create(builder, loc, begin, end, index(1), inits, [&](OpBuilder &nested, Location loc, Value iv, ValueRange carried) {
        TokenEmitter emit(nested, loc);
        scf::YieldOp::create(nested, loc, body(emit, iv, carried));
      });
  return Values(op.getResults());
}

Value TokenEmitter::gatherRows(RankedTensorType type, Value table, Value rows, bool someNegative) {
  Value destination = empty(type, dim(rows, 0));
  AffineMap perRow = AffineMap::get(type.getRank(), 0, builder.getAffineDimExpr(0));
  return generic(rows, perRow, destination, [&](TokenEmitter &body, ValueRange args) {
    SmallVector<Value> at{body.toIndex(args[0])};
    if (someNegative)
      at[0] = arith::MaxSIOp::create(body.builder, body.loc, at[0], body.index(0));
    for (int64_t i = 1; i < type.getRank(); ++i)
      at.push_back(linalg::IndexOp::create(body.builder, body.loc, i));
    return body.extract(table, at);
  });
}
