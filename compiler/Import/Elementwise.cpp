//===- Elementwise.cpp - Elementwise operations on tokens -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/Elementwise.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace attune;
using namespace mlir;

using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// Applies |body| to the elements of |tokens| and, if |other| is not null, the elements of |other| that |otherMap|
/// selects.
static Value mapElements(OpBuilder &builder, Location loc, Value tokens, Value other, AffineMap otherMap, Body body) {
  auto type = cast<RankedTensorType>(tokens.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, tokens), type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  SmallVector<Value> inputs = {tokens};
  SmallVector<AffineMap> maps = {identity, identity};
  if (other) {
    inputs.push_back(other);
    maps.insert(maps.begin() + 1, otherMap);
  }
  auto emit = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    linalg::YieldOp::create(inner, loc, body(inner, loc, arguments));
  };
  return linalg::GenericOp::create(builder, loc, type, inputs, empty, maps,
                                   SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel), emit)
      .getResult(0);
}

static Value mapElements(OpBuilder &builder, Location loc, Value tokens, Body body) {
  return mapElements(builder, loc, tokens, {}, {}, body);
}

/// Applies |body| to the elements of |tokens| and the element of |perRow|, `[T]` or `[T, 1]`, of the same row.
static Value mapRows(OpBuilder &builder, Location loc, Value tokens, Value perRow, Body body) {
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
