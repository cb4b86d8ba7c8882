//===- PackingOps.cpp - Types of operations on packed tokens --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult GatherTokensOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  if (type.getRank() == 0)
    return emitOptionalError(loc, "expects an input of rank 1 or more, but got ", type);
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = cast<RankedTensorType>(adaptor.getPositions().getType()).getDimSize(0);
  types.push_back(type.clone(shape));
  return success();
}

LogicalResult ScatterTokensOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(getDynamicRowsType(cast<RankedTensorType>(adaptor.getInput().getType())));
  return success();
}
