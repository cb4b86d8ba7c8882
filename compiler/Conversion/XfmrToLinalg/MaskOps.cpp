//===- MaskOps.cpp - Attention masks as linalg ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Transforms/DialectConversion.h"

#include <limits>

using namespace mlir;
using namespace attune;

namespace {

/// additive_mask -> (1 - mask) * lowest, rounded as in the reference models.
struct ConvertAdditiveMask : GroupedPattern<xfmr::AdditiveMaskOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::AdditiveMaskOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b(op.getLoc(), rewriter);
    Value mask = adaptor.getMask(), destination = tensor::EmptyOp::create(b, op.getType(), dynamicSizes(b, mask));
    Type f32 = rewriter.getF32Type();
    Value one = b.f32(1.0), lowest = b.f32(std::numeric_limits<float>::lowest());
    AffineMap identity = rewriter.getMultiDimIdentityMap(op.getType().getRank());
    Value result = generic(b, mask, identity, destination, [&](ValueRange args) -> Value {
      Value visible = arith::SIToFPOp::create(b, f32, args[0]);
      Value hidden = b.subf(one, visible);
      return b.mulf(hidden, lowest);
    });
    groups.mark(result.getDefiningOp(), "additive mask");
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void attune::populateMaskPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertAdditiveMask>(patterns.getContext(), groups);
}
