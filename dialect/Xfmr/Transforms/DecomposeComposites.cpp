//===- DecomposeComposites.cpp - Composites as projections and attention --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `multi_head_attention` and `ffn` as importers and xfmr-decompose-experts emit them. Leaves `linear`,
// `split_heads`, `attention` and `merge_heads`.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_DECOMPOSECOMPOSITES
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// Copies the optional operands of |op| for scores, and the attributes of |op| that |attention| also has, to
/// |attention|. They have the same names in both operations.
void copyScores(MultiHeadAttentionOp op, AttentionOp attention) {
  auto copy = [](MutableOperandRange from, MutableOperandRange to) { to.assign(OperandRange(from)); };
  copy(op.getKeyLengthsMutable(), attention.getKeyLengthsMutable());
  copy(op.getMaskMutable(), attention.getMaskMutable());
  copy(op.getHeadMaskMutable(), attention.getHeadMaskMutable());
  copy(op.getDistanceBiasMutable(), attention.getDistanceBiasMutable());
  copy(op.getRelativeKeyMutable(), attention.getRelativeKeyMutable());
  copy(op.getRelativeQueryMutable(), attention.getRelativeQueryMutable());
  copy(op.getSinksMutable(), attention.getSinksMutable());
  for (NamedAttribute attr : op->getAttrs())
    if (llvm::is_contained(AttentionOp::getAttributeNames(), attr.getName()) && attr.getName() != op.getOperandSegmentSizesAttrName())
      attention->setAttr(attr.getName(), attr.getValue());
}

LogicalResult decomposeMultiHeadAttention(MultiHeadAttentionOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  auto project = [&](Value input, Value weight, Value bias, int64_t heads) -> Value {
    Value flat = LinearOp::create(rewriter, loc, input, weight, bias, Value(), Activation::None);
    return SplitHeadsOp::create(rewriter, loc, flat, heads);
  };
  Value query = project(op.getQuery(), op.getWq(), op.getBq(), op.getNumHeads());
  Value key = project(op.getMemory(), op.getWk(), op.getBk(), op.getNumKvHeads());
  Value value = project(op.getValue() ? op.getValue() : op.getMemory(), op.getWv(), op.getBv(), op.getNumKvHeads());
  Type probabilities = op.getProbabilities() ? op.getProbabilities().getType() : Type();
  auto attention = AttentionOp::create(rewriter, loc, probabilities, query, key, value, op.getQueryOffsets(), op.getKeyOffsets(),
                                       op.getQueryLength(), op.getKeyLength(), op.getScale().convertToDouble());
  copyScores(op, attention);
  Value merged = MergeHeadsOp::create(rewriter, loc, attention.getResult());
  if (op.getWo())
    merged = LinearOp::create(rewriter, loc, merged, op.getWo(), op.getBo(), Value(), Activation::None);
  rewriter.replaceOp(op, {merged, attention.getProbabilities()});
  return success();
}

LogicalResult decomposeFfn(FfnOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value inner;
  if (op.getGate()) {
    Value gate = LinearOp::create(rewriter, loc, op.getInput(), op.getGate(), op.getGateBias(), Value(), op.getActivation());
    inner = LinearOp::create(rewriter, loc, op.getInput(), op.getUp(), op.getUpBias(), gate, Value(), Activation::None, Precision::F32,
                             WeightFormatAttr());
  } else {
    inner = LinearOp::create(rewriter, loc, op.getInput(), op.getUp(), op.getUpBias(), Value(), op.getActivation());
  }
  rewriter.replaceOpWithNewOp<LinearOp>(op, inner, op.getDown(), op.getDownBias(), op.getResidual(), Activation::None);
  return success();
}

struct DecomposeComposites : xfmr::impl::DecomposeCompositesBase<DecomposeComposites> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(decomposeMultiHeadAttention).add(decomposeFfn);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
