//===- EmbeddingOps.cpp - Verifier and type of embeddings -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto ids = cast<RankedTensorType>(adaptor.getIds().getType());
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  types.push_back(table.clone({ids.getDimSize(0), table.getDimSize(1)}));
  return success();
}

LogicalResult EmbeddingOp::verify() {
  if (!getTable().getType().hasStaticShape()) // C1
    return emitOpError("expects a table of static shape, but got ") << getTable().getType();
  if (!getFormat())
    return success();
  WeightFormat format = getFormat()->getValue();
  if (format.isFloat() ? getTied().value_or(Precision::F32) != Precision::F32 : !getTied()) // C2
    return emitOpError("expects 'tied'") << (format.isFloat() ? " f32" : "") << " with the format " << format.str();
  if (getTable().getType().getDimSize(1) > format.kMostColumns) // C2
    return emitOpError("expects at most ") << format.kMostColumns << " features with a format, but got " << getTable().getType();
  return success();
}
