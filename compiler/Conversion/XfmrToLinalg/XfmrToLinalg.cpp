//===- XfmrToLinalg.cpp - The conversion pass ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTXFMRTOLINALG
#include "compiler/Conversion/XfmrToLinalg/Passes.h.inc"

void KernelGroups::mark(llvm::ArrayRef<mlir::Operation *> ops, const llvm::Twine &what) {
  mlir::Builder builder(ops.front()->getContext());
  for (mlir::Operation *op : ops) {
    op->setAttr(kGroupAttr, builder.getI64IntegerAttr(next));
    op->setAttr(kKernelOpAttr, builder.getStringAttr(what));
  }
  ++next;
}
} // namespace attune

using namespace mlir;

namespace {
struct ConvertXfmrToLinalg : attune::impl::ConvertXfmrToLinalgBase<ConvertXfmrToLinalg> {
  using ConvertXfmrToLinalgBase::ConvertXfmrToLinalgBase;
  void runOnOperation() override {
    attune::KernelGroups groups;
    RewritePatternSet patterns(&getContext());
    attune::populateProjectionPatterns(patterns, groups, panelWidth);
    attune::populateElementwisePatterns(patterns, groups);
    attune::populateNormPatterns(patterns, groups);
    attune::populateTokenOpPatterns(patterns, groups);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) { return !attune::isElementwiseOnTensors(op); });
    target.addIllegalDialect<xfmr::XfmrDialect>();
    target.addLegalOp<xfmr::WeightOp, xfmr::WeightRefOp, xfmr::WeightPackOp, xfmr::WeightConcatOp, xfmr::WeightTransposeOp, xfmr::AttentionOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
