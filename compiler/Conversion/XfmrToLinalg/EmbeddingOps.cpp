//===- EmbeddingOps.cpp - Embeddings as linalg ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An embedding becomes a gather of rows. A tied embedding, whose table is also the matrix of a projection, gathers its
// rows element by element from the panels of that projection:
//
//   %x = xfmr.embedding %ids, %w {tied = #xfmr.precision<bf16>}
//   // becomes, with panels of 32 rows and groups of 2 columns
//   %c = xfmr.weight_convert %w
//   %p = xfmr.weight_pack %c, 32 group 2 multiple 2
//   %x = linalg.generic ins(%ids) …        %p[id / 32, k / 2, id mod 32, k mod 2] as f32
//
// A table whose format is bf16 or f16 is stored in this type; the gather widens the elements.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "compiler/Conversion/XfmrToLinalg/WeightPanels.h"

using namespace mlir;
using namespace attune;

namespace {

struct ConvertEmbedding : GroupedPattern<xfmr::EmbeddingOp> {
  ConvertEmbedding(MLIRContext *context, KernelGroups &groups, const PanelLayouts &layouts)
      : GroupedPattern(context, groups), layouts(layouts) {}

  LogicalResult matchAndRewrite(xfmr::EmbeddingOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b(op.getLoc(), rewriter);
    auto table = cast<RankedTensorType>(op.getTable().getType());
    Value result;
    if (op.getTied() || op.getFormat() || op.getScale()) {
      Weights weights = getWeights(b, op, adaptor.getTable());
      Value destination = tensor::EmptyOp::create(b, op.getType(), b.size(adaptor.getIds(), 0));
      AffineMap perRow = AffineMap::get(2, 0, b.getAffineDimExpr(0));
      result = generic(b, adaptor.getIds(), perRow, destination, [&](ValueRange args) {
        return scale(b, op, element(b, op, weights, b.toIndex(args[0]), linalg::IndexOp::create(b, 1)));
      });
    } else {
      result = gatherRows(b, op.getType(), adaptor.getTable(), adaptor.getIds());
    }
    groups.mark(result.getDefiningOp(), "embedding " + Twine(table.getDimSize(0)) + " x " + Twine(table.getDimSize(1)) + suffix(op));
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// The stored elements of a table: rows or, if the embedding is tied, panels. |scales| has the scale of each row of a
  /// tied int8 table without a format; it is null for other tables.
  struct Weights {
    Value elements, scales;
  };

  Weights getWeights(IndexBuilder &b, xfmr::EmbeddingOp op, Value table) const {
    if (op.getFormat() && op.getFormat()->getValue().isFloat()) {
      Value rounded = roundWeight(b, table, op.getFormat()->getValue());
      return {op.getTied() ? xfmr::WeightPackOp::create(b, rounded, layouts.width).getResult() : rounded, Value()};
    }
    if (!op.getTied())
      return {table, Value()};
    if (op.getFormat())
      return {xfmr::WeightQuantizePanelsOp::create(b, table, layouts.groupedWidth, *op.getFormat()), Value()};
    Value panels = packWeight(b, roundWeight(b, table, *op.getTied()), layouts);
    return {panels, *op.getTied() == xfmr::Precision::Int8 ? xfmr::WeightScalesOp::create(b, table).getResult() : Value()};
  }

  /// Returns the f32 element in row |n| and column |k| of the table.
  Value element(IndexBuilder &b, xfmr::EmbeddingOp op, const Weights &weights, Value n, Value k) const {
    if (!op.getTied())
      return toF32(b, extract(b, weights.elements, {n, k}));
    if (op.getFormat() && !op.getFormat()->getValue().isFloat()) {
      int64_t columns = cast<RankedTensorType>(op.getTable().getType()).getDimSize(1);
      return extractQuantized(b, weights.elements, columns, layouts.groupedWidth, op.getFormat()->getValue(), n, k);
    }
    Value stored = extractPacked(b, weights.elements, n, k);
    if (weights.scales)
      return b.mulf(arith::SIToFPOp::create(b, b.getF32Type(), stored), extract(b, weights.scales, n));
    return toF32(b, stored);
  }

  /// Returns |value| times the `scale` of |op|, computed in f64 and then rounded to f32; |value| if |op| has no scale.
  static Value scale(IndexBuilder &b, xfmr::EmbeddingOp op, Value value) {
    if (!op.getScale())
      return value;
    Value wide = arith::ExtFOp::create(b, b.getF64Type(), value);
    Value product = arith::MulFOp::create(b, wide, arith::ConstantOp::create(b, op.getScaleAttr()));
    return arith::TruncFOp::create(b, b.getF32Type(), product);
  }

  /// Returns the end of the description of the kernel: ", " and the type of the table's elements; "" for f32.
  static std::string suffix(xfmr::EmbeddingOp op) {
    if (op.getFormat())
      return ", " + op.getFormat()->getValue().str();
    return op.getTied().value_or(xfmr::Precision::F32) == xfmr::Precision::F32 ? "" : ", " + xfmr::stringifyPrecision(*op.getTied()).str();
  }

  PanelLayouts layouts;
};

} // namespace

void attune::populateEmbeddingPatterns(RewritePatternSet &patterns, KernelGroups &groups, const PanelLayouts &layouts) {
  patterns.add<ConvertEmbedding>(patterns.getContext(), groups, layouts);
}
