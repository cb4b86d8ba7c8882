//===- LowPrecisionOps.cpp - Projections from rounded inputs as linalg ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// bf16, f16: the contraction widens the rounded operands and multiplies them in f32; the epilogue is that of any
// projection. int8: the contraction multiplies quantized inputs p and weights q in i32; the epilogue converts the sum
// to f32 and scales it. Where the dot products of the target multiply unsigned by signed bytes, the quantized inputs
// are stored with 128 added, and the epilogue first subtracts `128 sum_k q` from the sum, in i32:
// `sum_k (p + 128) q = sum_k p q + 128 sum_k q`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/LinearEpilogue.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "compiler/Conversion/XfmrToLinalg/WeightPanels.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

namespace {

using utils::IteratorType;

/// Converts a projection of bf16, f16 or int8 to tile.quantize_rows, a fill with zeros, a contraction over packed
/// panels, in which the elements of several neighboring input features lie side by side, and an epilogue.
struct ConvertLowPrecisionLinear : GroupedPattern<xfmr::LinearOp> {
  ConvertLowPrecisionLinear(MLIRContext *context, KernelGroups &groups, const PanelLayouts &layouts)
      : GroupedPattern(context, groups), layouts(layouts) {}

  LogicalResult matchAndRewrite(xfmr::LinearOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getPrecision() == xfmr::Precision::F32)
      return rewriter.notifyMatchFailure(op, "of full precision");
    if (op.getFormat())
      return rewriter.notifyMatchFailure(op, "with a format of weights");
    bool bytes = op.getPrecision() == xfmr::Precision::Int8;
    LowPrecisionLayout layout = bytes ? layouts.int8 : layouts.bf16;
    if (op.getPrecision() == xfmr::Precision::F16)
      layout.type = rewriter.getF16Type();
    IndexBuilder b(op.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(op.getType());
    Value rows = b.size(adaptor.getInput(), 0);
    tiles::QuantizeRowsOp quantized = quantize(b, adaptor.getInput(), rows, layout, op.getPrecision());

    Type sumType = bytes ? Type(rewriter.getI32Type()) : type.getElementType();
    Value zero = arith::ConstantOp::create(b, rewriter.getZeroAttr(sumType));
    auto fill = linalg::FillOp::create(b, zero, destination(b, type.clone(sumType), rows));
    SmallVector<Operation *> ops{fill};
    Value weight = roundWeight(b, adaptor.getWeight(), op.getPrecision());
    ops.push_back(contract(b, quantized.getResult(0), packWeight(b, weight, layouts), fill.getResult(0), layout.group));
    if (bytes || hasEpilogue(op))
      ops.push_back(
          epilogue(b, op, adaptor, ops.back()->getResult(0), bytes ? quantized.getResult(1) : Value(), weight, destination(b, type, rows)));
    std::string text = (describeLinear(op) + ", " + xfmr::stringifyPrecision(op.getPrecision())).str();
    groups.mark(ops, text);
    xfmr::passed(op, "convert-xfmr-to-linalg", "PackWeights")
        << remark::metric(xfmr::kRemarkKernel, text)
        << remark::add("{0} weights in panels of {1} columns and groups of {2} rows", xfmr::stringifyPrecision(op.getPrecision()),
                       layouts.width, layout.group);
    rewriter.replaceOp(op, ops.back()->getResults());
    return success();
  }

private:
  static Value destination(IndexBuilder &b, RankedTensorType type, Value rows) {
    return tensor::EmptyOp::create(b, type.getShape(), type.getElementType(), type.isDynamicDim(0) ? ValueRange(rows) : ValueRange());
  }

  static tiles::QuantizeRowsOp quantize(IndexBuilder &b, Value input, Value rows, const LowPrecisionLayout &layout,
                                        xfmr::Precision precision) {
    auto type = cast<RankedTensorType>(input.getType());
    int64_t columns = llvm::alignTo(type.getDimSize(1), layout.multiple);
    SmallVector<Value> destinations{destination(b, RankedTensorType::get({type.getDimSize(0), columns}, layout.type), rows)};
    if (precision == xfmr::Precision::Int8)
      destinations.push_back(destination(b, type.clone(type.getShape().take_front()), rows));
    auto op = tiles::QuantizeRowsOp::create(b, TypeRange(ValueRange(destinations)), input, destinations, /*group=*/IntegerAttr());
    std::string text = ("rows of " + Twine(type.getDimSize(1)) + " as " + xfmr::stringifyPrecision(precision)).str();
    op->setAttr(tiles::kGroupAttr, tiles::GroupAttr::get(op.getContext(), std::nullopt, text));
    return op;
  }

  /// Creates `result[m, n] += sum_k quantized[m, k] * panels[n / width, k / group, n mod width, k mod group]`.
  Operation *contract(IndexBuilder &b, Value quantized, Value panels, Value init, int64_t group) const {
    AffineExpr m, n, k;
    bindDims(b.getContext(), m, n, k);
    auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(3, 0, results, b.getContext()); };
    AffineMap panelMap = map({n.floorDiv(layouts.width), k.floorDiv(group), n % layouts.width, k % group});
    return linalg::GenericOp::create(
        b, init.getType(), ValueRange{quantized, panels}, init, ArrayRef<AffineMap>{map({m, k}), panelMap, map({m, n})},
        ArrayRef<IteratorType>{IteratorType::parallel, IteratorType::parallel, IteratorType::reduction}, multiplyAdd);
  }

  static void multiplyAdd(OpBuilder &b, Location loc, ValueRange args) {
    Type type = args[2].getType();
    Value sum;
    if (type.isF32()) {
      Value x = args[0].getType().isF32() ? args[0] : arith::ExtFOp::create(b, loc, type, args[0]).getResult();
      Value product = arith::MulFOp::create(b, loc, x, arith::ExtFOp::create(b, loc, type, args[1]));
      sum = arith::AddFOp::create(b, loc, args[2], product);
    } else {
      Value x = args[0].getType().isInteger(8) ? arith::ExtUIOp::create(b, loc, type, args[0]).getResult()
                                               : arith::ExtSIOp::create(b, loc, type, args[0]).getResult();
      Value product = arith::MulIOp::create(b, loc, x, arith::ExtSIOp::create(b, loc, type, args[1]));
      sum = arith::AddIOp::create(b, loc, args[2], product);
    }
    linalg::YieldOp::create(b, loc, sum);
  }

  /// Creates `activation(x + bias) * multiplier + residual`, without the parts that |op| does not have. x is |sum| or,
  /// if |rowScales| is not null, as for int8, the dequantized |sum|. |weight| is the rounded or quantized matrix.
  Operation *epilogue(IndexBuilder &b, xfmr::LinearOp op, OpAdaptor adaptor, Value sum, Value rowScales, Value weight,
                      Value destination) const {
    AffineMap identity = b.getMultiDimIdentityMap(2);
    AffineMap rows = AffineMap::get(2, 0, b.getAffineDimExpr(0)), columns = AffineMap::get(2, 0, b.getAffineDimExpr(1));
    bool unsignedOperands = rowScales && layouts.int8.type.isInteger(8);
    SmallVector<Value> inputs{sum};
    SmallVector<AffineMap> maps{identity};
    auto add = [&](Value input, AffineMap map) { inputs.push_back(input), maps.push_back(map); };
    if (rowScales) {
      add(rowScales, rows);
      add(xfmr::WeightScalesOp::create(b, adaptor.getWeight()), columns);
    }
    if (unsignedOperands)
      add(xfmr::WeightRowSumsOp::create(b, weight), columns);
    addEpilogueOperands(op, adaptor, inputs, maps);
    maps.push_back(identity);
    return linalg::GenericOp::create(b, destination.getType(), inputs, destination, maps,
                                     SmallVector<IteratorType>(2, IteratorType::parallel),
                                     [&](OpBuilder &b, Location loc, ValueRange args) {
                                       Value y = args[0];
                                       size_t next = 1;
                                       if (rowScales) {
                                         y = worth(b, loc, y, args[1], args[2], unsignedOperands ? args[3] : Value());
                                         next = unsignedOperands ? 4 : 3;
                                       }
                                       y = emitEpilogue(b, loc, op, y, args.drop_front(next));
                                       linalg::YieldOp::create(b, loc, y);
                                     });
  }

  /// Dequantizes |sum|: returns `(sum - 128 weightSum) * columnScale * rowScale`. |weightSum|, the sum of the quantized
  /// weights of a column, is null if the rows are stored without 128 added; then nothing is subtracted.
  static Value worth(OpBuilder &b, Location loc, Value sum, Value rowScale, Value columnScale, Value weightSum) {
    if (weightSum) {
      Value seven = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(7));
      sum = arith::SubIOp::create(b, loc, sum, arith::ShLIOp::create(b, loc, weightSum, seven));
    }
    Value scaled = arith::MulFOp::create(b, loc, arith::SIToFPOp::create(b, loc, rowScale.getType(), sum), columnScale);
    return arith::MulFOp::create(b, loc, scaled, rowScale);
  }

  PanelLayouts layouts;
};

} // namespace

void attune::populateLowPrecisionPatterns(RewritePatternSet &patterns, KernelGroups &groups, const PanelLayouts &layouts) {
  patterns.add<ConvertLowPrecisionLinear>(patterns.getContext(), groups, layouts);
}
