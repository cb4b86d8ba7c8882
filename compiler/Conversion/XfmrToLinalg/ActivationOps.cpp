//===- ActivationOps.cpp - Activations and softmax as linalg --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/Activations.h"
#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

#include <limits>

using namespace mlir;
using namespace attune;

namespace {

Values convertActivation(IndexBuilder &b, xfmr::ActivationOp op, xfmr::ActivationOp::Adaptor adaptor, KernelGroups &groups) {
  auto type = cast<RankedTensorType>(op.getType());
  Value input = adaptor.getInput(), destination = tensor::EmptyOp::create(b, type, dynamicSizes(b, input));
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  Value result =
      generic(b, input, identity, destination, [&](ValueRange args) { return emitActivation(b, b.getLoc(), op.getKind(), args[0]); });
  groups.mark(result.getDefiningOp(), "activation " + Twine(xfmr::stringifyActivation(op.getKind())));
  return {result};
}

Values convertClampedGlu(IndexBuilder &b, xfmr::ClampedGluOp op, xfmr::ClampedGluOp::Adaptor adaptor, KernelGroups &groups) {
  auto type = cast<RankedTensorType>(op.getType());
  AffineMap identity = b.getMultiDimIdentityMap(2);
  Value destination = tensor::EmptyOp::create(b, type, dynamicSizes(b, adaptor.getGate()));
  Value result = generic(b, {adaptor.getGate(), adaptor.getUp()}, {identity, identity}, destination, [&](ValueRange args) -> Value {
    auto constant = [&](double value) -> Value { return arith::ConstantOp::create(b, b.getFloatAttr(type.getElementType(), value)); };
    double limit = op.getLimit().convertToDouble();
    Value gate = arith::MinimumFOp::create(b, args[0], constant(limit));
    Value up = arith::MaximumFOp::create(b, arith::MinimumFOp::create(b, args[1], constant(limit)), constant(-limit));
    // If exp overflows to infinity, the quotient is 0 or -0, to which the exact quotient tends.
    Value exponential = math::ExpOp::create(b, b.mulf(gate, constant(-op.getAlpha().convertToDouble())));
    Value gated = b.divf(gate, b.addf(constant(1), exponential));
    return b.mulf(b.addf(up, constant(1)), gated);
  });
  groups.mark(result.getDefiningOp(), "clamped glu");
  return {result};
}

AffineMap fullMap(IndexBuilder &b) { return b.getMultiDimIdentityMap(2); }
AffineMap rowMap(IndexBuilder &b) { return fullMap(b).getMajorSubMap(1); }

/// Reduces |inputs|, with their |maps|, over the columns of |type|, `[T, N]`, to a tensor `[T]`. The accumulator of
/// each row begins with |init|; |body| gets the accumulator as its last argument and returns the new one.
Value reduceRows(IndexBuilder &b, RankedTensorType type, ValueRange inputs, ArrayRef<AffineMap> maps, double init, ElementBody body) {
  Value rows = b.size(inputs[0], 0);
  RankedTensorType perRow = RankedTensorType::get(type.getShape().take_front(), type.getElementType());
  Value destination = filled(b, perRow, type.isDynamicDim(0) ? ValueRange(rows) : ValueRange(), init);
  return generic(b, inputs, maps, destination, body, /*reduced=*/1);
}
Value rowMaximum(IndexBuilder &b, RankedTensorType type, Value x) {
  return reduceRows(b, type, x, fullMap(b), -std::numeric_limits<double>::infinity(),
                    [&](ValueRange args) -> Value { return arith::MaximumFOp::create(b, args[1], args[0]); });
}
Value emitSoftmax(IndexBuilder &b, RankedTensorType type, Value x) {
  SmallVector<AffineMap> fullAndRow{fullMap(b), rowMap(b)};
  auto destination = [&] { return tensor::EmptyOp::create(b, type, dynamicSizes(b, x)); };
  Value maximum = rowMaximum(b, type, x);
  Value exps = generic(b, {x, maximum}, fullAndRow, destination(),
                       [&](ValueRange args) { return math::ExpOp::create(b, b.subf(args[0], args[1])); });
  Value sum = reduceRows(b, type, exps, fullMap(b), 0.0, [&](ValueRange args) { return b.addf(args[1], args[0]); });
  return generic(b, {exps, sum}, fullAndRow, destination(), [&](ValueRange args) -> Value { return b.divf(args[0], args[1]); });
}

Value emitLogSoftmax(IndexBuilder &b, RankedTensorType type, Value x) {
  AffineMap perRow = rowMap(b);
  Value maximum = rowMaximum(b, type, x);
  Value sum = reduceRows(b, type, {x, maximum}, {fullMap(b), perRow}, 0.0,
                         [&](ValueRange args) { return b.addf(args[2], math::ExpOp::create(b, b.subf(args[0], args[1]))); });
  Value destination = tensor::EmptyOp::create(b, type, dynamicSizes(b, x));
  return generic(b, {x, maximum, sum}, {fullMap(b), perRow, perRow}, destination, [&](ValueRange args) {
    Value log = math::LogOp::create(b, args[2]);
    return b.subf(b.subf(args[0], args[1]), log);
  });
}

/// Converts softmax to the maximum of each row, exponentials, their sum over the row, and quotients; with `log`, to the
/// maximum, the sum of the exponentials, and `x - maximum - log(sum)`.
Values convertSoftmax(IndexBuilder &b, xfmr::SoftmaxOp op, xfmr::SoftmaxOp::Adaptor adaptor, KernelGroups &groups) {
  auto type = cast<RankedTensorType>(op.getType());
  Value x = adaptor.getInput();
  Operation *before = op->getPrevNode();
  Value result = op.getLog() ? emitLogSoftmax(b, type, x) : emitSoftmax(b, type, x);
  SmallVector<Operation *> ops;
  for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op; made = made->getNextNode())
    if (isa<linalg::LinalgOp>(made))
      ops.push_back(made);
  groups.mark(ops, (op.getLog() ? "log_softmax " : "softmax ") + Twine(type.getDimSize(1)));
  return {result};
}

} // namespace

void attune::populateActivationPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertActivation);
  addConversion(patterns, groups, convertClampedGlu);
  addConversion(patterns, groups, convertSoftmax);
}
