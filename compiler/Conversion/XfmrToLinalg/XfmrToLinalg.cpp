//===- XfmrToLinalg.cpp - The conversion pass -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringSwitch.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTXFMRTOLINALG
#include "compiler/Conversion/XfmrToLinalg/Passes.h.inc"

void KernelGroups::mark(llvm::ArrayRef<mlir::Operation *> ops, const llvm::Twine &what) {
  auto group = mlir::tiles::GroupAttr::get(ops.front()->getContext(), next, what.str());
  for (mlir::Operation *op : ops)
    op->setAttr(mlir::tiles::kGroupAttr, group);
  ++next;
}
} // namespace attune

using namespace mlir;

namespace {
struct ConvertXfmrToLinalg : attune::impl::ConvertXfmrToLinalgBase<ConvertXfmrToLinalg> {
  using ConvertXfmrToLinalgBase::ConvertXfmrToLinalgBase;
  void runOnOperation() override {
    FailureOr<attune::LowPrecisionLayout> bf16 = layout("bf16-element", bf16Element, bf16Multiple),
                                          int8 = layout("int8-element", int8Element, int8Multiple);
    if (failed(bf16) || failed(int8))
      return signalPassFailure();
    attune::KernelGroups groups;
    const int64_t grouped = groupedWidth != 0 ? groupedWidth : panelWidth;
    for (int64_t width : {panelWidth.getValue(), grouped})
      if (width <= 0 || width % 16 != 0 || width > xfmr::WeightFormat::kMostWidth) {
        getOperation().emitError("expects the width of a panel to be a multiple of 16 and at most ")
            << xfmr::WeightFormat::kMostWidth << ", but got " << width;
        return signalPassFailure();
      }
    const attune::PanelLayouts layouts{panelWidth, grouped, *bf16, *int8};
    RewritePatternSet patterns(&getContext());
    attune::populateLinearPatterns(patterns, groups, panelWidth);
    attune::populateLowPrecisionPatterns(patterns, groups, layouts);
    attune::populateGroupedProductPatterns(patterns, groups, layouts);
    attune::populateElementwisePatterns(patterns, groups);
    attune::populateNormPatterns(patterns, groups);
    attune::populatePositionPatterns(patterns, groups);
    attune::populateActivationPatterns(patterns, groups);
    attune::populateCachePatterns(patterns, groups);
    attune::populateEmbeddingPatterns(patterns, groups, layouts);
    attune::populateExpertPatterns(patterns, groups);
    attune::populateMaskPatterns(patterns, groups);
    attune::populatePackingPatterns(patterns, groups, knownCounts);
    attune::populatePoolPatterns(patterns, groups);
    attune::populateRankPatterns(patterns, groups);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) { return !attune::isElementwiseOnTensors(op); });
    target.addIllegalDialect<xfmr::XfmrDialect>();
    target.addLegalOp<xfmr::WeightOp, xfmr::WeightRefOp, xfmr::WeightQuantizeOp, xfmr::WeightQuantizePanelsOp, xfmr::WeightConcatOp,
                      xfmr::WeightConvertOp, xfmr::WeightDistancePanelsOp, xfmr::WeightPackOp, xfmr::WeightScalesOp, xfmr::WeightRowSumsOp,
                      xfmr::WeightSelectOp, xfmr::WeightShardOp, xfmr::WeightSliceOp, xfmr::WeightTransposeOp>();
    // Passes of the phase `tiled` convert these operations, and attention, to loops.
    target.addLegalOp<xfmr::KvCacheReadOp, xfmr::KvCacheUpdateOp, xfmr::RotaryOp>();
    target.addDynamicallyLegalOp<xfmr::AttentionOp>(attune::hasRelativePanels);
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    if (attentionPrecision != xfmr::Precision::F32)
      attune::convertAttentionOperands(getOperation(), codeType(attentionPrecision), attentionHead);
    if (failed(attune::sliceSelectedWeights(getOperation())))
      return signalPassFailure();
    attune::simplifyQuantizedRows(getOperation());
  }

private:
  Type codeType(xfmr::Precision precision) {
    return precision == xfmr::Precision::F16 ? Type(Float16Type::get(&getContext())) : Type(BFloat16Type::get(&getContext()));
  }

  /// Returns the layout with elements of the type |name|, the value of the pass option |option|, and a number of
  /// columns that is rounded up to a multiple of |multiple|. Fails, with an error, if |option| does not allow the type,
  /// if |multiple| is not a positive multiple of the type's group, or if the option `bf16-group` is not positive.
  FailureOr<attune::LowPrecisionLayout> layout(StringRef option, StringRef name, int64_t multiple) {
    Builder builder(&getContext());
    attune::LowPrecisionLayout found = llvm::StringSwitch<attune::LowPrecisionLayout>(name)
                                           .Case("bf16", {builder.getBF16Type(), bf16Group, multiple})
                                           .Case("f32", {builder.getF32Type(), 2, multiple})
                                           .Case("i8", {builder.getI8Type(), 4, multiple})
                                           .Case("i16", {builder.getI16Type(), 2, multiple})
                                           .Default({});
    if (!found.type || isa<FloatType>(found.type) != (option == "bf16-element"))
      return getOperation().emitError("'") << option << "' cannot be '" << name << "'";
    if (failed(rt::verifyRanges([&] { return getOperation().emitError(); }, {{"bf16-group", bf16Group, rt::FieldRange::Positive}})))
      return failure();
    if (multiple <= 0 || multiple % found.group != 0)
      return getOperation().emitError("expects columns of low-precision operands of type ")
             << name << " to be a multiple of " << found.group << ", but got " << multiple;
    return found;
  }
};
} // namespace
