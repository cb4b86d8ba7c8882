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

/// (1 - mask) * lowest, as the reference models round it.
struct ConvertAdditiveMask : GroupedPattern<xfmr::AdditiveMaskOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::AdditiveMaskOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    TokenEmitter emit(rewriter, op.getLoc());
    Value mask = adaptor.getMask(), destination = emit.empty(op.getType(), emit.dynamicSizes(mask));
    Type f32 = rewriter.getF32Type();
    Value one = emit.real(f32, 1.0), lowest = emit.real(f32, std::numeric_limits<float>::lowest());
    AffineMap identity = rewriter.getMultiDimIdentityMap(op.getType().getRank());
    Value result = emit.generic(mask, identity, destination, [&](TokenEmitter &body, ValueRange args) -> Value {
      Value visible = arith::SIToFPOp::create(body.builder, body.loc, f32, args[0]);
      Value hidden = arith::SubFOp::create(body.builder, body.loc, one, visible);
      return arith::MulFOp::create(body.builder, body.loc, hidden, lowest);
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
