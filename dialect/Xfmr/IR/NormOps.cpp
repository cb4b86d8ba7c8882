//===- NormOps.cpp - Verifiers and types of normalizations ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult LayerNormOp::verify() {
  int64_t features = getInput().getType().getShape().back();
  StringRef what = "last dimension of 'input'";
  if (failed(verifyVector(*this, getWeight(), "weight", features, what)) ||
      failed(verifyVector(*this, getBias(), "bias", features, what))) // C1
    return failure();
  if (failed(verifyResidual(*this, getResidual(), getType()))) // C2
    return failure();
  if (!(getEpsilon().convertToDouble() >= 0)) // C3
    return emitOpError("expects 'epsilon' not to be negative, but got ") << getEpsilonAttr();
  return success();
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyVector(*this, getWeight(), "weight", getInput().getType().getShape().back(), "last dimension of 'input'"))) // C1
    return failure();
  if (failed(verifyResidual(*this, getResidual(), getType()))) // C2
    return failure();
  if (!(getEpsilon().convertToDouble() >= 0)) // C3
    return emitOpError("expects 'epsilon' not to be negative, but got ") << getEpsilonAttr();
  return success();
}
