//===- PoolOps.cpp - Verifier and type of pooling -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(getDynamicRowsType(cast<RankedTensorType>(adaptor.getInput().getType())));
  return success();
}

LogicalResult PoolOp::verify() {
  if (bool(getPositions()) != bool(getLength())) // C1
    return emitOpError("expects 'positions' and 'length' together");
  if (getSkip() && getKind() == PoolKind::First) // C2
    return emitOpError("expects no 'skip' of the kind 'first'");
  return success();
}
