//===- FuseEpilogues.cpp - Activations and residuals into projections -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects neither composites nor dropout. Leaves additions in the epilogues of linears or in norms, and activations in
// the epilogues of linears, where possible. A fused linear takes the position of the addition, activation or norm,
// since the residual may be defined after the linear.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/FuseEpilogues.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

constexpr StringLiteral kFuseEpiloguesName = "xfmr-fuse-epilogues";

/// Emits the remark that |part|, which |op| computes, moves to the epilogue of the projection that computes an operand
/// of |op|.
void reportFused(Operation *op, StringRef part) {
  passed(op, kFuseEpiloguesName, "FuseEpilogues") << remark::add("{0} is computed in the epilogue of the projection before it", part);
}

/// Returns the linear that computes |value| if |user| is its only user, in the same block, and the linear has no
/// residual, the last step of an epilogue. Returns null otherwise, also if |value| is null. A caller that adds a step
/// other than the residual must also check that the linear has neither this step nor a later one.
LinearOp getFusibleLinear(Value value, Operation *user) {
  auto linear = value ? value.getDefiningOp<LinearOp>() : LinearOp();
  if (!linear || linear.getResidual() || linear->getBlock() != user->getBlock() || !linear->hasOneUse())
    return {};
  return linear;
}

/// Returns the linear that computes one of the addends |a| and |b| of |user| and can take the other one as its
/// residual. If both addends have such a linear, returns the later one. Returns null if neither has, or if the addends
/// have different types.
LinearOp chooseLinear(Value a, Value b, Operation *user) {
  if (!a || !b || a.getType() != b.getType())
    return {};
  LinearOp first = getFusibleLinear(a, user), second = getFusibleLinear(b, user);
  if (first && second)
    return first->isBeforeInBlock(second) ? second : first;
  return first ? first : second;
}

/// Creates a copy of |linear| at |user| with |residual| as its residual, and returns its result.
Value addResidual(PatternRewriter &rewriter, Operation *user, LinearOp linear, Value residual) {
  Location loc = rewriter.getFusedLoc({linear.getLoc(), user->getLoc()});
  return LinearOp::create(rewriter, loc, linear.getInput(), linear.getWeight(), linear.getBias(), linear.getMultiplier(), residual,
                          linear.getActivation(), linear.getPrecision(), linear.getFormatAttr());
}

LogicalResult fuseActivation(ActivationOp op, PatternRewriter &rewriter) {
  LinearOp linear = getFusibleLinear(op.getInput(), op);
  if (!linear || linear.getMultiplier() || linear.getActivation() != Activation::None)
    return failure();
  reportFused(op, "the activation");
  rewriter.replaceOpWithNewOp<LinearOp>(op, linear.getInput(), linear.getWeight(), linear.getBias(), Value(), Value(), op.getKind(),
                                        linear.getPrecision(), linear.getFormatAttr());
  return success();
}

LogicalResult fuseAddition(arith::AddFOp op, PatternRewriter &rewriter) {
  LinearOp linear = chooseLinear(op.getLhs(), op.getRhs(), op);
  if (!linear)
    return failure();
  Value residual = linear.getResult() == op.getLhs() ? op.getRhs() : op.getLhs();
  reportFused(op, "the addition");
  rewriter.replaceOp(op, addResidual(rewriter, op, linear, residual));
  return success();
}

/// Moves the addition of a norm's input and residual into the linear that computes one of the two.
template <typename NormOp>
LogicalResult giveToLinear(NormOp op, PatternRewriter &rewriter) {
  if (!op.getResidual())
    return failure();
  LinearOp linear = chooseLinear(op.getInput(), op.getResidual(), op);
  if (!linear)
    return failure();
  Value residual = linear.getResult() == op.getInput() ? op.getResidual() : op.getInput();
  reportFused(op, "the addition of the norm");
  Value sum = addResidual(rewriter, op, linear, residual);
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(sum);
    op.getResidualMutable().clear();
  });
  return success();
}

/// Moves the addition that computes a norm's input into the norm, if no linear can take it.
template <typename NormOp>
LogicalResult takeFromAddition(NormOp op, PatternRewriter &rewriter) {
  if (op.getResidual() || cast<RankedTensorType>(op.getInput().getType()).getRank() != 2) // norms of heads have none
    return failure();
  auto add = op.getInput().template getDefiningOp<arith::AddFOp>();
  if (!add || !add->hasOneUse() || add->getBlock() != op->getBlock() || chooseLinear(add.getLhs(), add.getRhs(), add))
    return failure();
  passed(op, kFuseEpiloguesName, "FuseEpilogues") << remark::add("the norm adds its inputs itself");
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputMutable().assign(add.getLhs());
    op.getResidualMutable().assign(add.getRhs());
  });
  return success();
}

/// Returns true if |op| is a norm with a residual.
bool isNormOfSum(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LayerNormOp, RmsNormOp>([](auto norm) { return bool(norm.getResidual()); })
      .Default([](Operation *) { return false; });
}

/// Emits a remark for each projection with several uses, one of them by an addition, an activation or a norm with a
/// residual: this use cannot be fused.
void reportMissed(func::FuncOp function) {
  function.walk([](LinearOp op) {
    bool hasFusibleUser =
        llvm::any_of(op->getUsers(), [](Operation *user) { return isa<arith::AddFOp, ActivationOp>(user) || isNormOfSum(user); });
    if (hasFusibleUser && !op->hasOneUse())
      missed(op, kFuseEpiloguesName, "FuseEpilogues") << remark::reason("the projection's result has other uses");
  });
}

struct FuseEpilogues : xfmr::impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateEpiloguePatterns(patterns);
    patterns.add(takeFromAddition<LayerNormOp>).add(takeFromAddition<RmsNormOp>);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    reportMissed(getOperation());
  }
};

} // namespace

void mlir::xfmr::populateEpiloguePatterns(RewritePatternSet &patterns) {
  patterns.add(fuseActivation).add(fuseAddition).add(giveToLinear<LayerNormOp>).add(giveToLinear<RmsNormOp>);
}
