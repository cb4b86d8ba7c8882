//===- GroupedProductOps.cpp - Projections by quantized weights in groups -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A projection whose weights have a scale per group of columns multiplies rows of f32, rows that are rounded to bf16 or
// f16, or, in the precision int8, rows that are quantized in the same groups:
//
//   %y = xfmr.linear %x, %w bias(%b) {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>}
//   // becomes
//   %q:3 = tile.quantize_rows ins(%x) group 32 outs(…)          integers, scales and sums of groups
//   %p = xfmr.weight_quantize_panels %w, 16 format <"int4:32">
//   %s = tile.grouped_product ins(%q#0, %q#1, %q#2, %p) …
//   %y = linalg.generic ins(%s, %b) …                            the epilogue of any projection
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/LinearEpilogue.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

namespace {

/// Converts a projection whose weights have scales of groups to tile.quantize_rows (except in f32),
/// tile.grouped_product, and an epilogue.
struct ConvertGroupedLinear : GroupedPattern<xfmr::LinearOp> {
  ConvertGroupedLinear(MLIRContext *context, KernelGroups &groups, int64_t width, const LowPrecisionLayout &bf16)
      : GroupedPattern(context, groups), width(width), bf16(bf16) {}

  LogicalResult matchAndRewrite(xfmr::LinearOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (!op.getFormat() || op.getFormat()->getValue().isFloat())
      return rewriter.notifyMatchFailure(op, "without groups of weights");
    IndexBuilder b(op.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(op.getType());
    Value rows = b.size(adaptor.getInput(), 0);
    SmallVector<Value> inputs = getRows(b, op.getPrecision(), adaptor.getInput(), rows, *op.getFormat());
    Value panels = xfmr::WeightQuantizePanelsOp::create(b, adaptor.getWeight(), width, *op.getFormat());
    inputs.push_back(panels);
    Value destination = empty(b, type, rows);
    auto product = tiles::GroupedProductOp::create(b, TypeRange{type}, inputs, ValueRange{destination}, width, *op.getFormat());
    SmallVector<Operation *> ops{product};
    if (hasEpilogue(op))
      ops.push_back(epilogue(b, op, adaptor, product.getResult(0), empty(b, type, rows)));
    std::string text = describeLinear(op) + ", " + op.getFormat()->getValue().str();
    if (op.getPrecision() != xfmr::Precision::Int8)
      text += (", " + xfmr::stringifyPrecision(op.getPrecision()) + " rows").str();
    groups.mark(ops, text);
    xfmr::passed(op, "convert-xfmr-to-linalg", "PackWeights")
        << remark::metric(xfmr::kRemarkKernel, text)
        << remark::add("{0} weights with scales of groups in panels of {1} columns", op.getFormat()->getValue().str(), width);
    rewriter.replaceOp(op, ops.back()->getResults());
    return success();
  }

private:
  static Value empty(IndexBuilder &b, RankedTensorType type, Value rows) {
    return tensor::EmptyOp::create(b, type.getShape(), type.getElementType(), type.isDynamicDim(0) ? ValueRange(rows) : ValueRange());
  }

  /// Returns |input|, of |rows| rows, as a product in |precision| reads it: |input| itself in f32, rounded rows in bf16
  /// and f16; in int8 the integers, and for each row the scales and sums of its groups.
  SmallVector<Value> getRows(IndexBuilder &b, xfmr::Precision precision, Value input, Value rows, xfmr::WeightFormatAttr format) const {
    if (precision == xfmr::Precision::F32)
      return {input};
    auto type = cast<RankedTensorType>(input.getType());
    int64_t columns = type.getDimSize(1), groups = format.getValue().groups(columns), group = format.getValue().groupColumns(columns);
    auto destination = [&](int64_t size, Type element) {
      return empty(b, RankedTensorType::get({type.getDimSize(0), size}, element), rows);
    };
    SmallVector<Value> destinations;
    std::string text = ("rows of " + Twine(columns) + " as " + xfmr::stringifyPrecision(precision)).str();
    if (precision == xfmr::Precision::Int8) {
      destinations = {destination(groups * group, b.getI8Type()), destination(groups, b.getF32Type()), destination(groups, b.getI32Type())};
      text += " in groups of " + std::to_string(group);
    } else {
      Type element = precision == xfmr::Precision::F16 ? Type(b.getF16Type()) : bf16.type;
      // The columns are padded to a multiple of |bf16.multiple|, but not beyond the end of the last group, so that rows
      // and panels have the same number of groups.
      int64_t depth = std::min<int64_t>(llvm::alignTo(columns, bf16.multiple), format.getValue().paddedColumns(columns));
      destinations = {destination(depth, element)};
    }
    auto op = tiles::QuantizeRowsOp::create(b, TypeRange(ValueRange(destinations)), input, destinations,
                                            precision == xfmr::Precision::Int8 ? b.getI64IntegerAttr(group) : IntegerAttr());
    op->setAttr(tiles::kGroupAttr, tiles::GroupAttr::get(op.getContext(), std::nullopt, text));
    return SmallVector<Value>(op->getResults());
  }

  /// Creates `activation(sum + bias) * multiplier + residual`, without the parts that |op| does not have.
  static Operation *epilogue(IndexBuilder &b, xfmr::LinearOp op, OpAdaptor adaptor, Value sum, Value destination) {
    AffineMap identity = b.getMultiDimIdentityMap(2);
    SmallVector<Value> inputs{sum};
    SmallVector<AffineMap> maps{identity};
    addEpilogueOperands(op, adaptor, inputs, maps);
    maps.push_back(identity);
    return linalg::GenericOp::create(b, destination.getType(), inputs, destination, maps,
                                     SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
                                     [&](OpBuilder &b, Location loc, ValueRange args) {
                                       linalg::YieldOp::create(b, loc, emitEpilogue(b, loc, op, args[0], args.drop_front()));
                                     });
  }

  int64_t width;
  /// The layout of rows rounded to bf16, whose elements are bf16 or f32, and of rows rounded to f16.
  LowPrecisionLayout bf16;
};

} // namespace

void attune::populateGroupedProductPatterns(RewritePatternSet &patterns, KernelGroups &groups, const PanelLayouts &layouts) {
  patterns.add<ConvertGroupedLinear>(patterns.getContext(), groups, layouts.groupedWidth, layouts.bf16);
}
