//===- NormOps.cpp - layer_norm and rms_norm as linalg --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"

using namespace mlir;
using namespace attune;

namespace {

/// A builder of the row-wise generics of one norm on `[T, N]`.
struct RowOps {
  IndexBuilder &b;
  RankedTensorType type;        // [T, N]
  SmallVector<Value> rows;      // T if it is dynamic, else empty
  SmallVector<Operation *> ops; // the operations created so far

  AffineMap full() { return b.getMultiDimIdentityMap(2); }
  AffineMap perRow() { return AffineMap::get(2, 0, b.getAffineDimExpr(0)); }
  AffineMap perColumn() { return AffineMap::get(2, 0, b.getAffineDimExpr(1)); }
  Value constant(double value) { return arith::ConstantOp::create(b, b.getFloatAttr(type.getElementType(), value)); }

  /// Creates an elementwise op of |inputs| (each with its map) with a result `[T, N]`.
  Value map(ValueRange inputs, ArrayRef<AffineMap> maps, ElementBody body) {
    Value destination = tensor::EmptyOp::create(b, type, rows);
    Value result = generic(b, inputs, maps, destination, body);
    ops.push_back(result.getDefiningOp());
    return result;
  }

  /// Creates the sum of |body|(inputs) over each row, with a result `[T]`; the body gets the accumulator as its last
  /// argument.
  Value sum(ValueRange inputs, ArrayRef<AffineMap> maps, ElementBody body) {
    Value destination = tensor::EmptyOp::create(b, type.getShape().take_front(), type.getElementType(), rows);
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    auto fill = linalg::FillOp::create(b, zero, destination);
    Value result = generic(b, inputs, maps, fill.getResult(0), body, /*reduced=*/1);
    ops.append({fill, result.getDefiningOp()});
    return result;
  }
};

/// Returns heads `[T, H, D]` as rows `[T * H, D]`; tokens `[T, N]` as they are.
static Value headsToRows(IndexBuilder &b, Value value) {
  if (cast<RankedTensorType>(value.getType()).getRank() == 2)
    return value;
  return tensor::CollapseShapeOp::create(b, value, SmallVector<ReassociationIndices>{{0, 1}, {2}});
}

/// Returns |rows| `[T * H, D]` in the shape of |input|, from which headsToRows made them.
static Value rowsToHeads(IndexBuilder &b, Value rows, Value input) {
  auto type = cast<RankedTensorType>(input.getType());
  if (type.getRank() == 2)
    return rows;
  return tensor::ExpandShapeOp::create(b, type, rows, SmallVector<ReassociationIndices>{{0, 1}, {2}},
                                       tensor::getMixedSizes(b, b.getLoc(), input));
}

/// The constants of both norms: 1 / N, epsilon and 1.
struct NormConstants {
  Value inverse, epsilon, one;
};

/// Builds a layer_norm of |x|: the sum of each row, the sum of the squared differences from its mean, and the
/// normalized row. Each of the two sums is a pass over the row of its own, as the rule N1 in the description of
/// `xfmr.layer_norm` requires.
Value normalize(RowOps &row, xfmr::LayerNormOp::Adaptor op, Value x, NormConstants constants) {
  IndexBuilder &b = row.b;
  Value total = row.sum(x, {row.full()}, [&](ValueRange args) { return b.addf(args[1], args[0]); });
  auto centred = [&](Value value, Value total) { return b.subf(value, b.mulf(total, constants.inverse)); };
  Value squares = row.sum({x, total}, {row.full(), row.perRow()}, [&](ValueRange args) -> Value {
    Value difference = centred(args[0], args[1]);
    return math::FmaOp::create(b, difference, difference, args[2]);
  });
  return row.map({x, total, squares, op.getWeight(), op.getBias()},
                 {row.full(), row.perRow(), row.perRow(), row.perColumn(), row.perColumn()}, [&](ValueRange args) -> Value {
                   Value variance = math::FmaOp::create(b, args[2], constants.inverse, constants.epsilon);
                   Value scale = b.divf(constants.one, math::SqrtOp::create(b, variance));
                   Value normal = b.mulf(centred(args[0], args[1]), scale);
                   return math::FmaOp::create(b, normal, args[3], args[4]);
                 });
}

/// Builds an rms_norm of |x|: the sum of the squares of each row, and the normalized row.
Value normalize(RowOps &row, xfmr::RmsNormOp::Adaptor op, Value x, NormConstants constants) {
  IndexBuilder &b = row.b;
  Value squares = row.sum(x, {row.full()}, [&](ValueRange args) -> Value { return math::FmaOp::create(b, args[0], args[0], args[1]); });
  return row.map({x, squares, op.getWeight()}, {row.full(), row.perRow(), row.perColumn()}, [&](ValueRange args) -> Value {
    Value meanSquare = math::FmaOp::create(b, args[1], constants.inverse, constants.epsilon);
    Value scale = b.divf(constants.one, math::SqrtOp::create(b, meanSquare));
    return b.mulf(b.mulf(args[0], scale), args[2]);
  });
}

/// Converts a norm to an addition of the residual, if there is one, and the operations that `normalize` builds.
template <typename NormOp>
Values convertNorm(IndexBuilder &b, NormOp op, typename NormOp::Adaptor adaptor, KernelGroups &groups) {
  Value x = headsToRows(b, adaptor.getInput());
  auto type = cast<RankedTensorType>(x.getType());
  RowOps row{b, type, {}, {}};
  if (type.isDynamicDim(0))
    row.rows.push_back(tensor::DimOp::create(b, x, 0));
  if (Value residual = adaptor.getResidual())
    x = row.map({x, residual}, {row.full(), row.full()}, [&](ValueRange args) { return b.addf(args[0], args[1]); });
  Value inverse = row.constant(1.0 / type.getDimSize(1)), epsilon = row.constant(op.getEpsilon().convertToDouble());
  Value result = normalize(row, adaptor, x, {inverse, epsilon, row.constant(1.0)});
  groups.mark(row.ops, op->getName().stripDialect() + " " + Twine(type.getDimSize(1)) + (op.getResidual() ? ", residual" : ""));
  return {rowsToHeads(b, result, adaptor.getInput())};
}

} // namespace

void attune::populateNormPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  addConversion(patterns, groups, convertNorm<xfmr::LayerNormOp>);
  addConversion(patterns, groups, convertNorm<xfmr::RmsNormOp>);
}
