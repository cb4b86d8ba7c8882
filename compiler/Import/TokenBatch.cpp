//===- TokenBatch.cpp - Sequences of a batch as tokens --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/TokenBatch.h"
#include "compiler/Import/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

TokenBatch::TokenBatch(EntryScope &scope, Value batch, Value length, std::string lengthDim, Value mask)
    : scope(scope), batchSize(batch), paddedLength(length), dim(std::move(lengthDim)) {
  OpBuilder &builder = scope.builder;
  tokens = arith::MulIOp::create(builder, scope.at("shape"), batch, length);
  packed.length = length;
  bool isVisibility = mask && getElementTypeOrSelf(mask).isInteger();
  if (isVisibility && scope.padding == Padding::Skip) {
    auto pack = xfmr::PackTokensOp::create(builder, scope.at("sequences"), mask);
    packed.offsets = pack.getOffsets();
    positions = pack.getPositions();
    packedMask = mask;
    return;
  }
  packed.offsets = xfmr::SequenceOffsetsOp::create(builder, scope.at("sequences"), batch, length);
  if (isVisibility && cast<RankedTensorType>(mask.getType()).getRank() == 2)
    visibility = mask;
  packed.mask = isVisibility ? Value(xfmr::AdditiveMaskOp::create(builder, scope.at("attention_mask"), mask)) : mask;
}

void TokenBatch::maskQueries() {
  if (!visibility)
    return;
  OpBuilder &builder = scope.builder;
  Location loc = scope.at("attention_mask");
  SmallVector<OpFoldResult> sizes = {batchSize, paddedLength, paddedLength};
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, builder.getF32Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    return arith::MinimumFOp::create(inner, loc, arguments[0], arguments[1]);
  };
  MLIRContext *context = builder.getContext();
  AffineExpr sequence = builder.getAffineDimExpr(0), query = builder.getAffineDimExpr(1), key = builder.getAffineDimExpr(2);
  AffineMap maps[] = {AffineMap::get(3, 0, {sequence, query}, context), AffineMap::get(3, 0, {sequence, key}, context)};
  packed.mask = emitElements(builder, loc, empty, {packed.mask, packed.mask}, body, maps);
}

Value TokenBatch::zeroHidden(Location loc, Value value) {
  if (!visibility)
    return value;
  Value flat = tensor::CollapseShapeOp::create(scope.builder, loc, visibility, joinFirstTwo(2));
  return zeroHiddenTokens(scope.builder, loc, value, flat);
}

Value TokenBatch::withNeighbors(Location loc, Value value, int64_t taps) {
  OpBuilder &builder = scope.builder;
  auto type = cast<RankedTensorType>(value.getType());
  int64_t features = type.getDimSize(1);
  Value padded = positions ? Value(xfmr::ScatterTokensOp::create(builder, loc, value, positions, tokens)) : value;
  SmallVector<OpFoldResult> sizes = {tensor::getMixedSize(builder, loc, value, 0), builder.getIndexAttr(taps),
                                     builder.getIndexAttr(features)};
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    auto index = [&](int64_t number) -> Value { return arith::ConstantIndexOp::create(inner, loc, number); };
    auto compare = [&](arith::CmpIPredicate predicate, Value left, Value right) -> Value {
      return arith::CmpIOp::create(inner, loc, predicate, left, right);
    };
    Value token = linalg::IndexOp::create(inner, loc, 0), tap = linalg::IndexOp::create(inner, loc, 1);
    Value row = token;
    if (positions) { // rows beyond the last token have a negative padded position
      Value position = tensor::ExtractOp::create(inner, loc, positions, token);
      row = arith::MaxSIOp::create(inner, loc, arith::IndexCastOp::create(inner, loc, inner.getIndexType(), position), index(0));
    }
    Value offset = arith::SubIOp::create(inner, loc, tap, index(taps / 2));
    Value number = arith::AddIOp::create(inner, loc, arith::RemUIOp::create(inner, loc, row, paddedLength), offset);
    // As unsigned, positions before the sequence are out of range, too.
    Value exists = compare(arith::CmpIPredicate::ult, number, paddedLength);
    Value neighbor = arith::SelectOp::create(inner, loc, exists, arith::AddIOp::create(inner, loc, row, offset), index(0));
    Value element = tensor::ExtractOp::create(inner, loc, padded, ValueRange{neighbor, linalg::IndexOp::create(inner, loc, 2)});
    Value zero = arith::ConstantOp::create(inner, loc, inner.getZeroAttr(type.getElementType()));
    return arith::SelectOp::create(inner, loc, exists, element, zero);
  };
  Value windows = emitElements(builder, loc, empty, {}, body);
  return tensor::CollapseShapeOp::create(builder, loc, windows, SmallVector<ReassociationIndices>{{0}, {1, 2}});
}

SmallVector<ReassociationIndices> attune::joinFirstTwo(int64_t rank) {
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t dim = 2; dim < rank; ++dim)
    groups.push_back({dim});
  return groups;
}

Value TokenBatch::toTokens(Value padded) {
  auto type = cast<RankedTensorType>(padded.getType());
  Location loc = padded.getLoc();
  Value flat = tensor::CollapseShapeOp::create(scope.builder, loc, padded, joinFirstTwo(type.getRank()));
  return positions ? Value(xfmr::GatherTokensOp::create(scope.builder, loc, flat, positions)) : flat;
}

Value TokenBatch::toPadded(Value value, bool squeeze) {
  OpBuilder &builder = scope.builder;
  Location loc = value.getLoc();
  if (positions)
    value = xfmr::ScatterTokensOp::create(builder, loc, value, positions, tokens);
  if (squeeze)
    value = tensor::CollapseShapeOp::create(builder, loc, value, SmallVector<ReassociationIndices>{{0, 1}});
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<int64_t> staticLength = getConstantIntValue(paddedLength);
  SmallVector<int64_t> shape = {ShapedType::kDynamic, staticLength.value_or(ShapedType::kDynamic)};
  SmallVector<OpFoldResult> sizes = {batchSize, getAsOpFoldResult(paddedLength)};
  for (int64_t extent : type.getShape().drop_front()) {
    shape.push_back(extent);
    sizes.push_back(builder.getIndexAttr(extent));
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), value, joinFirstTwo(int64_t(shape.size())), sizes);
}

Value TokenBatch::packedNumbers() {
  if (packedMask && !numbers)
    numbers = xfmr::CountedPositionsOp::create(scope.builder, scope.at("sequences"), packedMask, /*padding=*/int64_t(0));
  return numbers;
}

Value TokenBatch::toPaddedProbabilities(Value probabilities, TokenBatch &keys) {
  OpBuilder &builder = scope.builder;
  Location loc = probabilities.getLoc();
  if (&keys == this && positions)
    return xfmr::ScatterProbabilitiesOp::create(builder, loc, probabilities.getType(), probabilities, packed.offsets, positions);
  Value rows = packedNumbers(), columns = keys.packedNumbers();
  if (!rows && !columns)
    return probabilities;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [numbers, dim] : {std::pair(rows, 2u), std::pair(columns, 3u)}) {
    if (!numbers)
      continue;
    inputs.push_back(numbers);
    maps.push_back(AffineMap::get(4, 0, {builder.getAffineDimExpr(0), builder.getAffineDimExpr(dim)}, builder.getContext()));
  }
  auto body = [&](OpBuilder &inner, Location loc, ValueRange elements) -> Value {
    SmallVector<Value> indices;
    for (uint64_t dim = 0; dim < 4; ++dim)
      indices.push_back(linalg::IndexOp::create(inner, loc, dim));
    Value zero = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(0)), visible;
    auto look = [&](Value number, Value &index) {
      Value one = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(1));
      Value before = arith::MaxSIOp::create(inner, loc, arith::SubIOp::create(inner, loc, number, one), zero);
      index = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), before);
      Value isToken = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne, number, zero);
      visible = visible ? Value(arith::AndIOp::create(inner, loc, visible, isToken)) : isToken;
    };
    if (rows)
      look(elements.front(), indices[2]);
    if (columns)
      look(elements[rows ? 1 : 0], indices[3]); // not elements.back(), which is an element of the destination
    Value element = tensor::ExtractOp::create(inner, loc, probabilities, indices);
    Value none = arith::ConstantOp::create(inner, loc, inner.getZeroAttr(element.getType()));
    return arith::SelectOp::create(inner, loc, visible, element, none);
  };
  auto type = cast<RankedTensorType>(probabilities.getType());
  SmallVector<OpFoldResult> sizes = {batchSize, builder.getIndexAttr(type.getDimSize(1)), getAsOpFoldResult(paddedLength),
                                     getAsOpFoldResult(keys.paddedLength)};
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return emitElements(builder, loc, empty, inputs, body, maps);
}

/// Emits a linalg operation, not one of the dialect, since no pass needs to know these ids.
Value TokenBatch::computeIds(Location loc, Value count, llvm::function_ref<Value(OpBuilder &, Location, Value)> idOf) {
  OpBuilder &builder = scope.builder;
  Value ids = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(count), builder.getI64Type());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    Value number = linalg::IndexOp::create(inner, loc, 0);
    return idOf(inner, loc, number);
  };
  return emitElements(builder, loc, ids, {}, body);
}

Value TokenBatch::generateIds(bool counting, int64_t first) {
  Location loc = scope.at(counting ? "position_ids" : "token_type_ids");
  auto constant = [&](OpBuilder &inner, Location loc) -> Value {
    return arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(first));
  };
  if (counting && past) {
    // Skipped padding has no position: tokens are counted from the beginning of their sequence.
    Value count = positions ? Value(tensor::DimOp::create(scope.builder, loc, positions, 0)) : tokens;
    return computeIds(loc, count, [&](OpBuilder &inner, Location loc, Value token) -> Value {
      auto toIndex = [&](Value id) { return arith::IndexCastOp::create(inner, loc, inner.getIndexType(), id); };
      auto at = [&](Value values, Value index) -> Value { return tensor::ExtractOp::create(inner, loc, values, index); };
      Value none = arith::ConstantIndexOp::create(inner, loc, 0);
      Value given = positions ? toIndex(at(positions, token)) : token;
      Value position = positions ? Value(arith::MaxSIOp::create(inner, loc, given, none)) : token;
      Value sequence = arith::DivUIOp::create(inner, loc, position, paddedLength);
      Value number = arith::IndexCastOp::create(inner, loc, inner.getI64Type(), token);
      Value own = arith::SubIOp::create(inner, loc, number, at(packed.offsets, sequence));
      Value later = arith::AddIOp::create(inner, loc, own, at(past, sequence));
      if (positions) {
        // Rows past the last token have a negative padded position. They get position 0, since they read the tables of
        // positions, too, and the first sequence may have no positions left after its earlier tokens.
        Value isToken = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sge, given, none);
        Value zero = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(0));
        later = arith::SelectOp::create(inner, loc, isToken, later, zero);
      }
      return arith::AddIOp::create(inner, loc, later, constant(inner, loc));
    });
  }
  Value generated = computeIds(loc, tokens, [&](OpBuilder &inner, Location loc, Value token) -> Value {
    Value id = constant(inner, loc);
    if (!counting)
      return id;
    Value position = arith::IndexCastOp::create(inner, loc, inner.getI64Type(), arith::RemUIOp::create(inner, loc, token, paddedLength));
    return first == 0 ? position : Value(arith::AddIOp::create(inner, loc, position, id));
  });
  return positions ? Value(xfmr::GatherTokensOp::create(scope.builder, loc, generated, positions)) : generated;
}

Value TokenBatch::lastTokens(Value values) {
  Location loc = scope.at("last");
  Value last = computeIds(loc, batchSize, [&](OpBuilder &inner, Location loc, Value sequence) -> Value {
    Value one = arith::ConstantIndexOp::create(inner, loc, 1);
    Value end = tensor::ExtractOp::create(inner, loc, packed.offsets, ValueRange{arith::AddIOp::create(inner, loc, sequence, one)});
    return arith::SubIOp::create(inner, loc, end, arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(1)));
  });
  return xfmr::GatherTokensOp::create(scope.builder, loc, values, last);
}
