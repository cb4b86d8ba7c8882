//===- KeyBias.cpp - ALiBi by the number of visible keys ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/KeyBias.h"
#include "compiler/Import/Elementwise.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace attune;
using namespace mlir;

/// Rounds the f32 |value| to bf16.
static Value roundToBF16(OpBuilder &inner, Location loc, Value value) {
  Value rounded = arith::TruncFOp::create(inner, loc, inner.getBF16Type(), value);
  return arith::ExtFOp::create(inner, loc, inner.getF32Type(), rounded);
}

Value KeyBias::combine(Value mask, Value numbers, TermBody term) {
  OpFoldResult one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes = {tensor::getMixedSize(b, b.getLoc(), numbers, 0), tensor::getMixedSize(b, b.getLoc(), slopes, 0), one,
                                     tensor::getMixedSize(b, b.getLoc(), numbers, 1)};
  Value empty = tensor::EmptyOp::create(b, sizes, b.getF32Type());
  AffineMap ofKey = AffineMap::get(4, 0, {b.getAffineDimExpr(0), b.getAffineDimExpr(3)}, b.getContext());
  AffineMap ofHead = AffineMap::get(4, 0, {b.getAffineDimExpr(1)}, b.getContext());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange elements) -> Value {
    Value number = arith::SIToFPOp::create(inner, loc, inner.getF32Type(), elements[0]);
    Value added = term(inner, loc, number, elements[1]);
    return mask ? arith::AddFOp::create(inner, loc, elements[2], added).getResult() : added;
  };
  SmallVector<Value> inputs = {numbers, slopes};
  SmallVector<AffineMap> maps = {ofKey, ofHead};
  if (mask)
    inputs.push_back(mask), maps.push_back(ofKey);
  return emitElements(b, b.getLoc(), empty, inputs, body, maps);
}

Value KeyBias::addSkipped(Value mask) {
  // Key k, with n visible keys before it, has k - n hidden keys before it. Among the visible keys of a sequence, the
  // first has the fewest: |leading|, the number of hidden keys before all visible ones.
  Value visible = xfmr::VisibleBeforeOp::create(b, mask);
  Value most = arith::ConstantIntOp::create(b, std::numeric_limits<int64_t>::max(), 64);
  Value threshold = arith::ConstantOp::create(b, b.getF32FloatAttr(std::numeric_limits<float>::lowest() / 2));
  auto hiddenBefore = [](OpBuilder &inner, Location loc, Value counted) -> Value {
    Value key = arith::IndexCastOp::create(inner, loc, inner.getI64Type(), linalg::IndexOp::create(inner, loc, 1));
    return arith::SubIOp::create(inner, loc, key, counted);
  };
  AffineMap pairs = b.getMultiDimIdentityMap(2), ofSequence = AffineMap::get(2, 0, b.getAffineDimExpr(0));
  Value empty = tensor::EmptyOp::create(b, ArrayRef<OpFoldResult>{tensor::getMixedSize(b, b.getLoc(), mask, 0)}, b.getI64Type());
  Value none = linalg::FillOp::create(b, most, empty).getResult(0);
  auto least = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    Value isHidden = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OLE, elements[1], threshold);
    Value before = arith::SelectOp::create(inner, loc, isHidden, most, hiddenBefore(inner, loc, elements[0]));
    linalg::YieldOp::create(inner, loc, arith::MinSIOp::create(inner, loc, before, elements[2]).getResult());
  };
  Value leading =
      linalg::GenericOp::create(b, none.getType(), ValueRange{visible, mask}, none, ArrayRef<AffineMap>{pairs, pairs, ofSequence},
                                ArrayRef{utils::IteratorType::parallel, utils::IteratorType::reduction}, least)
          .getResult(0);
  Value sizes = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), visible), b.getI64Type());
  auto between = [&](OpBuilder &inner, Location loc, ValueRange elements) -> Value {
    Value skipped = arith::SubIOp::create(inner, loc, hiddenBefore(inner, loc, elements[0]), elements[1]);
    Value zero = arith::ConstantIntOp::create(inner, loc, 0, 64);
    return arith::MaxSIOp::create(inner, loc, skipped, zero);
  };
  Value skipped = emitElements(b, b.getLoc(), sizes, {visible, leading}, between, {pairs, ofSequence});
  return combine(mask, skipped, [](OpBuilder &inner, Location loc, Value number, Value slope) -> Value {
    return arith::MulFOp::create(inner, loc, arith::NegFOp::create(inner, loc, slope), number);
  });
}

Value KeyBias::addRounded(Value mask, Value length, double factor) {
  Value visible;
  if (mask) {
    visible = xfmr::VisibleBeforeOp::create(b, mask);
  } else {
    Value empty = tensor::EmptyOp::create(b, ArrayRef<OpFoldResult>{b.getIndexAttr(1), length}, b.getI64Type());
    visible = emitElements(b, b.getLoc(), empty, {}, [](OpBuilder &inner, Location loc, ValueRange) -> Value {
      return arith::IndexCastOp::create(inner, loc, inner.getI64Type(), linalg::IndexOp::create(inner, loc, 1));
    });
  }
  return combine(mask, visible, [factor](OpBuilder &inner, Location loc, Value number, Value slope) -> Value {
    Value product = arith::MulFOp::create(inner, loc, slope, roundToBF16(inner, loc, number));
    Value scale = arith::ConstantOp::create(inner, loc, inner.getF32FloatAttr(float(factor)));
    return arith::MulFOp::create(inner, loc, roundToBF16(inner, loc, product), scale);
  });
}
