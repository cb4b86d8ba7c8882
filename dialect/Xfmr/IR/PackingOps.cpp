//===- TokenOps.cpp - Verifiers and types of token operations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

/// |type| with a dynamic first dimension.
static RankedTensorType dynamicRows(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = ShapedType::kDynamic;
  return type.clone(shape);
}

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
  types.push_back(dynamicRows(cast<RankedTensorType>(adaptor.getInput().getType())));
  return success();
}

LogicalResult AdditiveMaskOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(adaptor.getMask().getType()).clone(Float32Type::get(context)));
  return success();
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto ids = cast<RankedTensorType>(adaptor.getIds().getType());
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  types.push_back(table.clone({ids.getDimSize(0), table.getDimSize(1)}));
  return success();
}

LogicalResult EmbeddingOp::verify() {
  if (!getTable().getType().hasStaticShape()) // C1
    return emitOpError("expects a table of static shape, but got ") << getTable().getType();
  return success();
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(dynamicRows(cast<RankedTensorType>(adaptor.getInput().getType())));
  return success();
}

LogicalResult PoolOp::verify() {
  if (bool(getPositions()) != bool(getLength())) // C1
    return emitOpError("expects 'positions' and 'length' together");
  return success();
}
