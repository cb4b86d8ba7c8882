//===- FuseProjections.cpp - Projections of one input as one --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects no composites. Joins linears of one block that have the same input and whose results only split_heads reads,
// such as those of queries, keys and values. xfmr-hoist-weight-expressions must run afterwards, so that weights are
// joined when they are packed.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpRemark.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::xfmr {
#define GEN_PASS_DEF_FUSEPROJECTIONS
#include "dialect/Xfmr/Transforms/Passes.h.inc"
} // namespace mlir::xfmr

using namespace mlir;
using namespace mlir::xfmr;

namespace {

/// Returns true if |weight| is a weight that is known at compile time and so can be joined with other weights: neither
/// one that `weight_select` chooses nor an expression over such a weight.
bool isFixedWeight(Value weight) {
  if (!isWeight(weight))
    return false;
  Operation *op = weight.getDefiningOp();
  return !op || (!isa<WeightSelectOp>(op) && (isa<WeightRefOp>(op) || llvm::all_of(op->getOperands(), isFixedWeight)));
}

/// Returns true if |op| qualifies for joining: its matrix, of static shape, and its bias, if any, are fixed weights;
/// all users of its result, at least one, are `split_heads`; and it has neither a multiplier nor a residual.
bool isHeadProjection(LinearOp op) {
  if (op.getMultiplier() || op.getResidual() || op->use_empty() || !op.getWeight().getType().hasStaticShape() ||
      !isFixedWeight(op.getWeight()))
    return false;
  if (op.getBias() && !isFixedWeight(op.getBias()))
    return false;
  return llvm::all_of(op->getUsers(), llvm::IsaPred<SplitHeadsOp>);
}

/// Returns the reason why |a| and |b|, projections of one input, cannot be joined; empty if they can.
StringRef whyNotTogether(LinearOp a, LinearOp b) {
  if (a.getActivation() != b.getActivation())
    return "the projections have different activations";
  if (a.getPrecision() != b.getPrecision())
    return "the projections have different precisions";
  if (a.getFormatAttr() != b.getFormatAttr())
    return "the weights have different formats";
  if (bool(a.getBias()) != bool(b.getBias()))
    return "only some of the projections have a bias";
  if (a.getType().getElementType() != b.getType().getElementType() ||
      a.getWeight().getType().getElementType() != b.getWeight().getType().getElementType() ||
      (a.getBias() && getElementTypeOrSelf(a.getBias()) != getElementTypeOrSelf(b.getBias())))
    return "the projections have different element types";
  return "";
}

/// Moves the operations that compute |weight| before |position|, as far as they are after |position| in the same block.
void moveBefore(Value weight, Operation *position) {
  Operation *op = weight.getDefiningOp();
  if (!op || op->getBlock() != position->getBlock() || op->isBeforeInBlock(position))
    return;
  for (Value operand : op->getOperands())
    moveBefore(operand, position);
  op->moveBefore(position);
}

constexpr StringLiteral kFuseProjectionsName = "xfmr-fuse-projections";

/// Replaces the projections |group|, of one input, by slices of the columns of one projection, which takes the position
/// of the first of |group|.
void fuse(ArrayRef<LinearOp> group) {
  LinearOp first = group.front();
  SmallVector<Value> weights, biases;
  for (LinearOp op : group) {
    weights.push_back(op.getWeight());
    if (op.getBias())
      biases.push_back(op.getBias());
  }
  for (Value weight : llvm::concat<Value>(weights, biases))
    moveBefore(weight, first);

  OpBuilder builder(first);
  SmallVector<Location> locs = llvm::map_to_vector(group, [](LinearOp op) { return op.getLoc(); });
  Location loc = builder.getFusedLoc(locs);
  Value weight = WeightConcatOp::create(builder, loc, 0, weights);
  Value bias = biases.empty() ? Value() : WeightConcatOp::create(builder, loc, 0, biases).getResult();
  auto fused = LinearOp::create(builder, loc, first.getInput(), weight, bias, Value(), Value(), first.getActivation(), first.getPrecision(),
                                first.getFormatAttr());
  OpFoldResult rows = tensor::getMixedSize(builder, loc, first.getInput(), 0);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  int64_t column = 0;
  for (LinearOp op : group) {
    int64_t columns = op.getType().getDimSize(1);
    OpFoldResult offsets[] = {zero, builder.getIndexAttr(column)}, sizes[] = {rows, builder.getIndexAttr(columns)};
    OpFoldResult strides[] = {one, one};
    Value slice = tensor::ExtractSliceOp::create(builder, op.getLoc(), op.getType(), fused.getResult(), offsets, sizes, strides);
    op.replaceAllUsesWith(slice);
    column += columns;
  }
  passed(fused, kFuseProjectionsName, "FuseProjections")
      << remark::add("{0} projections of one input are one of {1} columns", group.size(), column);
  for (LinearOp op : group)
    op.erase();
}

struct FuseProjections : xfmr::impl::FuseProjectionsBase<FuseProjections> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      llvm::MapVector<Value, SmallVector<LinearOp>> groups;
      for (auto op : block->getOps<LinearOp>())
        if (isHeadProjection(op))
          groups[op.getInput()].push_back(op);
      for (auto &[input, group] : groups)
        if (group.size() > 1 && canFuse(group))
          fuse(group);
    });
  }

  /// Returns true if whyNotTogether gives no reason against any two linears of |group|. Otherwise emits a remark with a
  /// reason.
  static bool canFuse(ArrayRef<LinearOp> group) {
    for (LinearOp op : group.drop_front()) {
      StringRef why = whyNotTogether(group.front(), op);
      if (why.empty())
        continue;
      missed(op, kFuseProjectionsName, "FuseProjections") << remark::reason("{0}", why);
      return false;
    }
    return true;
  }
};

} // namespace
