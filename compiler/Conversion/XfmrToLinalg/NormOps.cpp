//===- NormOps.cpp - layer_norm and rms_norm as linalg --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {

using utils::IteratorType;
using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// A builder of the row-wise generics of one norm on `[T, N]`.
struct RowOps {
  OpBuilder &builder;
  Location loc;
  RankedTensorType type; // [T, N]
  Value rows;            // T
  SmallVector<Operation *> ops;

  AffineMap full() { return builder.getMultiDimIdentityMap(2); }
  AffineMap perRow() { return AffineMap::get(2, 0, builder.getAffineDimExpr(0)); }
  AffineMap perColumn() { return AffineMap::get(2, 0, builder.getAffineDimExpr(1)); }

  /// Creates an elementwise op of |inputs| (each with its map) with a result `[T, N]`.
  Value map(ValueRange inputs, SmallVector<AffineMap> maps, Body body) {
    Value destination = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType(), ValueRange{rows});
    maps.push_back(full());
    return generic(inputs, destination, maps, {IteratorType::parallel, IteratorType::parallel}, body);
  }

  /// Creates the sum of |body|(inputs) over each row, with a result `[T]`; the body gets the accumulator as its last
  /// argument.
  Value sum(ValueRange inputs, SmallVector<AffineMap> maps, Body body) {
    Value destination = tensor::EmptyOp::create(builder, loc, type.getShape().take_front(), type.getElementType(), ValueRange{rows});
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
    auto fill = linalg::FillOp::create(builder, loc, zero, destination);
    ops.push_back(fill);
    maps.push_back(perRow());
    return generic(inputs, fill.getResult(0), maps, {IteratorType::parallel, IteratorType::reduction}, body);
  }

private:
  Value generic(ValueRange inputs, Value destination, ArrayRef<AffineMap> maps, ArrayRef<IteratorType> iterators, Body body) {
    auto op = linalg::GenericOp::create(
        builder, loc, destination.getType(), inputs, destination, maps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, body(b, loc, args)); });
    ops.push_back(op);
    return op.getResult(0);
  }
};

/// layer_norm -> (residual add,) sum, sum of squared differences, normalization: two passes over the row, as N1
/// requires.
struct ConvertLayerNorm : OpConversionPattern<xfmr::LayerNormOp> {
  ConvertLayerNorm(MLIRContext *context, KernelGroups &groups) : OpConversionPattern(context), groups(groups) {}

  LogicalResult matchAndRewrite(xfmr::LayerNormOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    auto element = cast<FloatType>(type.getElementType());
    auto constant = [&](double value) -> Value { return arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(element, value)); };
    Value x = adaptor.getInput();
    RowOps row{rewriter, loc, type, tensor::DimOp::create(rewriter, loc, x, 0), {}};
    if (adaptor.getResidual())
      x = row.map({x, adaptor.getResidual()}, {row.full(), row.full()},
                  [](OpBuilder &b, Location loc, ValueRange args) -> Value { return arith::AddFOp::create(b, loc, args[0], args[1]); });
    Value inverse = constant(1.0 / type.getDimSize(1)), epsilon = constant(op.getEpsilon().convertToDouble()), one = constant(1.0);
    Value total = row.sum(x, {row.full()}, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
      return arith::AddFOp::create(b, loc, args[1], args[0]);
    });
    auto centred = [&](OpBuilder &b, Location loc, Value value, Value total) -> Value {
      return arith::SubFOp::create(b, loc, value, arith::MulFOp::create(b, loc, total, inverse));
    };
    Value squares = row.sum({x, total}, {row.full(), row.perRow()}, [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
      Value difference = centred(b, loc, args[0], args[1]);
      return math::FmaOp::create(b, loc, difference, difference, args[2]);
    });
    Value result = row.map({x, total, squares, adaptor.getWeight(), adaptor.getBias()},
                           {row.full(), row.perRow(), row.perRow(), row.perColumn(), row.perColumn()},
                           [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                             Value variance = math::FmaOp::create(b, loc, args[2], inverse, epsilon);
                             Value scale = arith::DivFOp::create(b, loc, one, math::SqrtOp::create(b, loc, variance));
                             Value normal = arith::MulFOp::create(b, loc, centred(b, loc, args[0], args[1]), scale);
                             return math::FmaOp::create(b, loc, normal, args[3], args[4]);
                           });
    groups.mark(row.ops, "layer_norm " + Twine(type.getDimSize(1)) + (op.getResidual() ? ", residual" : ""));
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  KernelGroups &groups;
};

/// rms_norm -> (residual add,) sum of squares, normalization.
struct ConvertRmsNorm : OpConversionPattern<xfmr::RmsNormOp> {
  ConvertRmsNorm(MLIRContext *context, KernelGroups &groups) : OpConversionPattern(context), groups(groups) {}

  LogicalResult matchAndRewrite(xfmr::RmsNormOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    auto element = cast<FloatType>(type.getElementType());
    auto constant = [&](double value) -> Value { return arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(element, value)); };
    Value x = adaptor.getInput();
    RowOps row{rewriter, loc, type, tensor::DimOp::create(rewriter, loc, x, 0), {}};
    if (adaptor.getResidual())
      x = row.map({x, adaptor.getResidual()}, {row.full(), row.full()},
                  [](OpBuilder &b, Location loc, ValueRange args) -> Value { return arith::AddFOp::create(b, loc, args[0], args[1]); });
    Value inverse = constant(1.0 / type.getDimSize(1)), epsilon = constant(op.getEpsilon().convertToDouble()), one = constant(1.0);
    Value squares = row.sum(x, {row.full()}, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
      return math::FmaOp::create(b, loc, args[0], args[0], args[1]);
    });
    Value result = row.map({x, squares, adaptor.getWeight()}, {row.full(), row.perRow(), row.perColumn()},
                           [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                             Value meanSquare = math::FmaOp::create(b, loc, args[1], inverse, epsilon);
                             Value scale = arith::DivFOp::create(b, loc, one, math::SqrtOp::create(b, loc, meanSquare));
                             return arith::MulFOp::create(b, loc, arith::MulFOp::create(b, loc, args[0], scale), args[2]);
                           });
    groups.mark(row.ops, "rms_norm " + Twine(type.getDimSize(1)) + (op.getResidual() ? ", residual" : ""));
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  KernelGroups &groups;
};

} // namespace

void attune::populateNormPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertLayerNorm, ConvertRmsNorm>(patterns.getContext(), groups);
}
