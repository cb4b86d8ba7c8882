//===- EmbeddingOps.cpp - Embeddings as linalg ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/GroupedPattern.h"
#include "compiler/Conversion/XfmrToLinalg/TokenTensors.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attune;

namespace {

struct ConvertEmbedding : GroupedPattern<xfmr::EmbeddingOp> {
  using GroupedPattern::GroupedPattern;
  LogicalResult matchAndRewrite(xfmr::EmbeddingOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b(op.getLoc(), rewriter);
    Value result = gatherRows(b, op.getType(), adaptor.getTable(), adaptor.getIds());
    auto table = op.getTable().getType();
    groups.mark(result.getDefiningOp(), "embedding " + Twine(table.getDimSize(0)) + " x " + Twine(table.getDimSize(1)));
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void attune::populateEmbeddingPatterns(RewritePatternSet &patterns, KernelGroups &groups) {
  patterns.add<ConvertEmbedding>(patterns.getContext(), groups);
}
