//===- WeightSelections.cpp - Expressions over one weight of a stack ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Weight expressions are evaluated before a model runs; an `xfmr.weight_select` selects from a stack of weights while
// the model runs. So an expression over a selection becomes a selection from the expression over the whole stack:
//
//   before   %w = weight_select %stack[%e];  %p = weight_pack %w
//   after    %s = weight_pack %stack;        %p = %s[%e], a slice
//
// Expects the weight expressions that the conversions of projections leave (WeightPanels.h). Numerics: exact.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attune;

/// Returns true if |op| is an expression over one weight that also takes a stack of weights and then computes the stack
/// of the results.
static bool takesStack(Operation *op) {
  return isa<xfmr::WeightConvertOp, xfmr::WeightPackOp, xfmr::WeightQuantizeOp, xfmr::WeightQuantizePanelsOp, xfmr::WeightRowSumsOp,
             xfmr::WeightScalesOp, xfmr::WeightSliceOp>(op);
}

/// Creates the expression |op| over the whole |stack|, right after the operation that computes |stack| or, if |stack|
/// is an argument, at the beginning of the function. Returns the result of the new expression.
static Value overStack(OpBuilder &builder, Operation *op, Value stack) {
  auto one = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(one.getShape());
  shape.insert(shape.begin(), cast<RankedTensorType>(stack.getType()).getDimSize(0));
  builder.setInsertionPointAfterValue(stack);
  OperationState state(op->getLoc(), op->getName(), stack, {one.clone(shape)}, op->getAttrs());
  return builder.create(state)->getResult(0);
}

/// Returns the element |index| of |stack| as a slice.
static Value sliceOf(OpBuilder &builder, Location loc, Value stack, Value index) {
  auto type = cast<RankedTensorType>(stack.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  offsets[0] = index, sizes[0] = builder.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(builder, loc, type.clone(type.getShape().drop_front()), stack, offsets, sizes, strides);
}

LogicalResult attune::sliceSelectedWeights(func::FuncOp function) {
  SmallVector<xfmr::WeightSelectOp> selections;
  function.walk([&](xfmr::WeightSelectOp op) { selections.push_back(op); });
  OpBuilder builder(function.getContext());
  for (size_t i = 0; i < selections.size(); ++i) {
    xfmr::WeightSelectOp selection = selections[i];
    for (Operation *user : llvm::make_early_inc_range(selection->getUsers())) {
      if (!xfmr::isWeightExpression(user))
        continue;
      if (!takesStack(user))
        return user->emitOpError("cannot be computed before the model runs, since 'xfmr.weight_select' chooses its operand");
      Value expression = overStack(builder, user, selection.getStack());
      builder.setInsertionPoint(user);
      auto moved = xfmr::WeightSelectOp::create(builder, user->getLoc(), expression, selection.getIndex());
      user->getResult(0).replaceAllUsesWith(moved);
      user->erase();
      selections.push_back(moved);
    }
    builder.setInsertionPoint(selection);
    if (!selection->use_empty())
      selection.getResult().replaceAllUsesWith(sliceOf(builder, selection.getLoc(), selection.getStack(), selection.getIndex()));
    selection.erase();
  }
  return success();
}
