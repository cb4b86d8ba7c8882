//===- FfnOps.cpp - Verifier and type of feed-forward networks ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult FfnOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(getProjectedType(adaptor.getInput(), adaptor.getDown()));
  return success();
}

LogicalResult FfnOp::verify() {
  int64_t inner = getUp().getType().getDimSize(0);
  if (failed(verifyColumns(*this, getUp(), "up", getInput().getType().getDimSize(1), "features of 'input'")) || // C1
      failed(verifyColumns(*this, getDown(), "down", inner, "rows of 'up'")))
    return failure();
  if (Value gate = getGate(); gate && gate.getType() != getUp().getType())
    return emitOpError("expects 'gate' of the type of 'up', ") << getUp().getType() << ", but got " << gate.getType();
  if (getGateBias() && !getGate())
    return emitOpError("expects no 'gate_bias' without 'gate'");
  if (failed(verifyVector(*this, getUpBias(), "up_bias", inner, "rows of 'up'")) || // C2
      failed(verifyVector(*this, getDownBias(), "down_bias", getDown().getType().getDimSize(0), "rows of 'down'")))
    return failure();
  if (failed(verifyVector(*this, getGateBias(), "gate_bias", inner, "rows of 'gate'")))
    return failure();
  if (bool(getUpBias()) != bool(getDownBias()))
    return emitOpError("expects 'up_bias' and 'down_bias' together");
  if (getGate() && bool(getGateBias()) != bool(getUpBias()))
    return emitOpError("expects 'gate_bias' and 'up_bias' together");
  return verifyResidual(*this, getResidual(), getType()); // C3
}
