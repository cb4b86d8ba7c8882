//===- OpVerification.cpp - Checks and types that model operations share --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpVerification.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

LogicalResult xfmr::verifyVector(Operation *op, Value vector, StringRef name, int64_t size, StringRef what) {
  if (!vector)
    return success();
  int64_t got = cast<RankedTensorType>(vector.getType()).getDimSize(0);
  if (got != size)
    return op->emitOpError("expects '") << name << "' to have " << size << " elements, the " << what << ", but got " << got;
  return success();
}

LogicalResult xfmr::verifySameType(Operation *op, Value operand, StringRef name, RankedTensorType type) {
  if (!operand || (succeeded(verifyCompatibleShape(operand.getType(), type)) && getElementTypeOrSelf(operand) == type.getElementType()))
    return success();
  return op->emitOpError("expects '") << name << "' of the type of the result, " << type << ", but got " << operand.getType();
}

LogicalResult xfmr::verifyResidual(Operation *op, Value residual, RankedTensorType type) {
  return verifySameType(op, residual, "residual", type);
}

LogicalResult xfmr::verifyColumns(Operation *op, Value weight, StringRef name, int64_t features, StringRef what) {
  int64_t got = cast<RankedTensorType>(weight.getType()).getDimSize(1);
  if (got != features)
    return op->emitOpError("expects '") << name << "' to have " << features << " columns, the " << what << ", but got " << got;
  return success();
}

RankedTensorType xfmr::getProjectedType(Value input, Value weight) {
  auto type = cast<RankedTensorType>(input.getType());
  return type.clone({type.getDimSize(0), cast<RankedTensorType>(weight.getType()).getDimSize(0)});
}

RankedTensorType xfmr::getDynamicRowsType(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = ShapedType::kDynamic;
  return type.clone(shape);
}
