//===- PositionOps.cpp - Verifiers and types of operations on positions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult RotaryOp::verify() {
  auto table = getTable().getType();
  if (!table.hasStaticShape()) // C1
    return emitOpError("expects a table of static shape, but got ") << table;
  int64_t columns = table.getDimSize(1), headDim = getInput().getType().getDimSize(2);
  if (columns % 2 != 0 || ShapedType::isDynamic(headDim) || columns > headDim)
    return emitOpError("expects a table with an even number of columns, at most the head size ") << headDim << ", but got " << columns;
  return success();
}

/// Returns the type `[heads, ?]`.
static RankedTensorType biasType(Type element, int64_t heads) { return RankedTensorType::get({heads, ShapedType::kDynamic}, element); }

LogicalResult RelativePositionBiasOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                       SmallVectorImpl<Type> &types) {
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  types.push_back(biasType(table.getElementType(), table.getDimSize(1)));
  return success();
}

LogicalResult RelativePositionBiasOp::verify() {
  auto table = getTable().getType();
  if (!table.hasStaticShape()) // C1
    return emitOpError("expects a table of static shape, but got ") << table;
  int64_t buckets = table.getDimSize(0), least = getBidirectional() ? 4 : 2;
  if (buckets < least || (getBidirectional() && buckets % 2 != 0))
    return emitOpError("expects ") << (getBidirectional() ? "an even number of buckets, at least 4" : "at least 2 buckets") << ", but got "
                                   << buckets;
  int64_t exact = buckets / (getBidirectional() ? 4 : 2);
  // Limits the time of the conversion to linalg, which computes the bucket of each distance up to max_distance.
  constexpr int64_t most = int64_t(1) << 24;
  if (int64_t distance = static_cast<int64_t>(getMaxDistance()); distance <= exact || distance > most)
    return emitOpError("expects 'max_distance' larger than ") << exact << " and at most " << most << ", but got " << distance;
  return success();
}

LogicalResult AlibiBiasOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto slopes = cast<RankedTensorType>(adaptor.getSlopes().getType());
  types.push_back(biasType(slopes.getElementType(), slopes.getDimSize(0)));
  return success();
}

LogicalResult AlibiBiasOp::verify() {
  if (!getSlopes().getType().hasStaticShape()) // C1
    return emitOpError("expects slopes of static shape, but got ") << getSlopes().getType();
  return success();
}
