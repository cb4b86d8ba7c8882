//===- Elementwise.cpp - Elementwise operations on tokens -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/Elementwise.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

Value attune::emitElements(OpBuilder &builder, Location loc, Value destination, ValueRange inputs, ElementBody body,
                           ArrayRef<AffineMap> maps) {
  int64_t rank = cast<RankedTensorType>(destination.getType()).getRank();
  SmallVector<AffineMap> all(maps);
  all.resize(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
  auto emit = [&](OpBuilder &inner, Location loc, ValueRange elements) { linalg::YieldOp::create(inner, loc, body(inner, loc, elements)); };
  return linalg::GenericOp::create(builder, loc, destination.getType(), inputs, destination, all, parallel, emit).getResult(0);
}

/// Applies |body| to the elements of |tokens| and, if |other| is not null, the elements of |other| that |otherMap|
/// selects.
static Value mapElements(OpBuilder &builder, Location loc, Value tokens, Value other, AffineMap otherMap, ElementBody body) {
  Type element = getElementTypeOrSelf(tokens.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, tokens), element);
  if (!other)
    return emitElements(builder, loc, empty, tokens, body);
  return emitElements(builder, loc, empty, {tokens, other}, body, {builder.getMultiDimIdentityMap(2), otherMap});
}

static Value mapElements(OpBuilder &builder, Location loc, Value tokens, ElementBody body) {
  return mapElements(builder, loc, tokens, {}, {}, body);
}

/// Applies |body| to the elements of |tokens| and the element of |perRow|, `[T]` or `[T, 1]`, of the same row.
static Value mapRows(OpBuilder &builder, Location loc, Value tokens, Value perRow, ElementBody body) {
  SmallVector<AffineExpr> row = {builder.getAffineDimExpr(0)};
  if (cast<RankedTensorType>(perRow.getType()).getRank() == 2)
    row.push_back(builder.getAffineConstantExpr(0));
  return mapElements(builder, loc, tokens, perRow, AffineMap::get(2, 0, row, builder.getContext()), body);
}

static Value constant(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
}

Value attune::scaleTokens(OpBuilder &builder, Location loc, Value tokens, double factor) {
  return mapElements(builder, loc, tokens, [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    return arith::MulFOp::create(inner, loc, arguments[0], constant(inner, loc, factor));
  });
}

Value attune::clampTokens(OpBuilder &builder, Location loc, Value tokens, double limit) {
  return mapElements(builder, loc, tokens, [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value atLeast = arith::MaximumFOp::create(inner, loc, arguments[0], constant(inner, loc, -limit));
    return arith::MinimumFOp::create(inner, loc, atLeast, constant(inner, loc, limit));
  });
}

Value attune::softcapTokens(OpBuilder &builder, Location loc, Value tokens, double limit) {
  return mapElements(builder, loc, tokens, [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value most = constant(inner, loc, limit);
    Value ratio = arith::DivFOp::create(inner, loc, arguments[0], most);
    return arith::MulFOp::create(inner, loc, math::TanhOp::create(inner, loc, ratio), most);
  });
}

static Value multiply(OpBuilder &inner, Location loc, ValueRange arguments) {
  return arith::MulFOp::create(inner, loc, arguments[0], arguments[1]);
}

Value attune::multiplyByRow(OpBuilder &builder, Location loc, Value tokens, Value row) {
  return mapElements(builder, loc, tokens, row, AffineMap::get(2, 0, builder.getAffineDimExpr(1)), multiply);
}

Value attune::multiplyRows(OpBuilder &builder, Location loc, Value tokens, Value factors) {
  return mapRows(builder, loc, tokens, factors, multiply);
}

Value attune::joinColumns(OpBuilder &builder, Location loc, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  auto type = cast<RankedTensorType>(parts.front().getType());
  const int64_t width = type.getDimSize(1);
  SmallVector<OpFoldResult> sizes = {tensor::getMixedSize(builder, loc, parts.front(), 0),
                                     builder.getIndexAttr(width * int64_t(parts.size()))};
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return emitElements(builder, loc, empty, {}, [&](OpBuilder &inner, Location loc, ValueRange) -> Value {
    Value row = linalg::IndexOp::create(inner, loc, 0), column = linalg::IndexOp::create(inner, loc, 1);
    Value size = arith::ConstantIndexOp::create(inner, loc, width);
    Value part = arith::DivUIOp::create(inner, loc, column, size), columnOfPart = arith::RemUIOp::create(inner, loc, column, size), result;
    for (auto [number, values] : llvm::enumerate(parts)) {
      Value element = tensor::ExtractOp::create(inner, loc, values, ValueRange{row, columnOfPart});
      Value isPart = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, part, arith::ConstantIndexOp::create(inner, loc, number));
      result = result ? Value(arith::SelectOp::create(inner, loc, isPart, element, result)) : element;
    }
    return result;
  });
}

Value attune::markTokens(OpBuilder &builder, Location loc, Value ids, arith::CmpIPredicate predicate, int64_t other) {
  return mapElements(builder, loc, ids, [&](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value id = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(other));
    Value isToken = arith::CmpIOp::create(inner, loc, predicate, arguments[0], id);
    return arith::ExtUIOp::create(inner, loc, inner.getI64Type(), isToken);
  });
}

Value attune::zeroHiddenTokens(OpBuilder &builder, Location loc, Value tokens, Value visible) {
  return mapRows(builder, loc, tokens, visible, [](OpBuilder &inner, Location loc, ValueRange arguments) -> Value {
    Value none = arith::ConstantOp::create(inner, loc, inner.getI64IntegerAttr(0));
    Value isVisible = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne, arguments[1], none);
    return arith::SelectOp::create(inner, loc, isVisible, arguments[0], constant(inner, loc, 0));
  });
}
