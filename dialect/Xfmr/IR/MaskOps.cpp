//===- MaskOps.cpp - Types of attention masks -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult AdditiveMaskOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(adaptor.getMask().getType()).clone(Float32Type::get(context)));
  return success();
}

LogicalResult VisibleBeforeOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(adaptor.getMask().getType()).clone(IntegerType::get(context, 64)));
  return success();
}
