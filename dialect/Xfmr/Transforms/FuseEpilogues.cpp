//===- FuseEpilogues.cpp - Activations and residuals into projections -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects decomposed composites without dropout; leaves additions and activations in the epilogues of linears and in
// norms where they can be. The fused op stands where its user stood, since the residual may be defined after the
// linear.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// The linear that computes |value| if it may be recomputed at its only user |user| with one more step at its end; else
/// null.
LinearOp getFusibleLinear(Value value, Operation *user) {
  auto linear = value ? value.getDefiningOp<LinearOp>() : LinearOp();
  if (!linear || linear.getResidual() || linear->getBlock() != user->getBlock() || !linear->hasOneUse())
    return {};
  return linear;
}

/// Of the two addends |a| and |b| of |user|, the linear that takes the other as its residual; the later one, if both
/// could.
LinearOp chooseLinear(Value a, Value b, Operation *user) {
  if (!a || !b || a.getType() != b.getType())
    return {};
  LinearOp first = getFusibleLinear(a, user), second = getFusibleLinear(b, user);
  if (first && second)
    return first->isBeforeInBlock(second) ? second : first;
  return first ? first : second;
}

/// Creates |linear| anew at |user| with |residual| added.
Value addResidual(PatternRewriter &rewriter, Operation *user, LinearOp linear, Value residual) {
  Location loc = rewriter.getFusedLoc({linear.getLoc(), user->getLoc()});
  return LinearOp::create(rewriter, loc, linear.getInput(), linear.getWeight(), linear.getBias(), linear.getMultiplier(),
                          residual, linear.getActivation(), linear.getPrecision());
}

struct FuseActivation : OpRewritePattern<ActivationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ActivationOp op, PatternRewriter &rewriter) const override {
    LinearOp linear = getFusibleLinear(op.getInput(), op);
    if (!linear || linear.getMultiplier() || linear.getActivation() != Activation::None)
      return failure();
    rewriter.replaceOpWithNewOp<LinearOp>(op, linear.getInput(), linear.getWeight(), linear.getBias(), Value(),
                                          op.getKind(), linear.getPrecision());
    return success();
  }
};

struct FuseAddition : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    LinearOp linear = chooseLinear(op.getLhs(), op.getRhs(), op);
    if (!linear)
      return failure();
    Value residual = linear.getResult() == op.getLhs() ? op.getRhs() : op.getLhs();
    rewriter.replaceOp(op, addResidual(rewriter, op, linear, residual));
    return success();
  }
};

/// Leaves a norm's addition to a linear before it, or takes one that no linear can take.
template <typename NormOp>
struct MoveNormResidual : OpRewritePattern<NormOp> {
  using OpRewritePattern<NormOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(NormOp op, PatternRewriter &rewriter) const override {
    return op.getResidual() ? giveToLinear(op, rewriter) : takeFromAddition(op, rewriter);
  }

private:
  static LogicalResult giveToLinear(NormOp op, PatternRewriter &rewriter) {
    LinearOp linear = chooseLinear(op.getInput(), op.getResidual(), op);
    if (!linear)
      return failure();
    Value residual = linear.getResult() == op.getInput() ? op.getResidual() : op.getInput();
    Value sum = addResidual(rewriter, op, linear, residual);
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(sum);
      op.getResidualMutable().clear();
    });
    return success();
  }

  static LogicalResult takeFromAddition(NormOp op, PatternRewriter &rewriter) {
    auto add = op.getInput().template getDefiningOp<arith::AddFOp>();
    if (!add || !add->hasOneUse() || add->getBlock() != op->getBlock() || chooseLinear(add.getLhs(), add.getRhs(), add))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(add.getLhs());
      op.getResidualMutable().assign(add.getRhs());
    });
    return success();
  }
};

/// Says which additions stayed because the projection before them has other uses.
void reportMissed(func::FuncOp function) {
  function.walk([](LinearOp op) {
    bool added = llvm::any_of(op->getUsers(), llvm::IsaPred<arith::AddFOp, ActivationOp>);
    if (added && !op->hasOneUse())
      remark::missed(op.getLoc(), remark::RemarkOpts::name("FuseEpilogues").category("xfmr-fuse-epilogues"))
          << remark::reason("the projection's result has other uses");
  });
}

struct FuseEpilogues : xfmr::impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseActivation, FuseAddition, MoveNormResidual<LayerNormOp>, MoveNormResidual<RmsNormOp>>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    reportMissed(getOperation());
  }
};

} // namespace
