//===- ActivationOps.cpp - Verifiers and folds of activations, softmax and dropout -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

OpFoldResult ActivationOp::fold(FoldAdaptor) { return getKind() == Activation::None ? OpFoldResult(getInput()) : OpFoldResult(); }

LogicalResult ClampedGluOp::verify() {
  if (!(getLimit().convertToDouble() > 0)) // C1
    return emitOpError("expects a positive 'limit', but got ") << getLimitAttr();
  return success();
}

LogicalResult SoftmaxOp::verify() {
  if (getInput().getType().isDynamicDim(1)) // C1
    return emitOpError("expects a static last dimension, but got ") << getInput().getType();
  return success();
}

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate <= 1)) // C1
    return emitOpError("expects 'rate' from 0 to 1, but got ") << getRateAttr();
  return success();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) { return getInput(); }
