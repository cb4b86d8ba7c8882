//===- LinearOps.cpp - Verifier and type of linear projections ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(getProjectedType(adaptor.getInput(), adaptor.getWeight()));
  return success();
}

LogicalResult LinearOp::verify() {
  if (failed(verifyColumns(*this, getWeight(), "weight", getInput().getType().getDimSize(1), "features of 'input'"))) // C1
    return failure();
  if (failed(verifyVector(*this, getBias(), "bias", getWeight().getType().getDimSize(0), "rows of 'weight'"))) // C2
    return failure();
  if (failed(verifySameType(*this, getMultiplier(), "multiplier", getType()))) // C3
    return failure();
  if (getPrecision() != Precision::F32 || getFormat()) { // C4, C5
    for (Value operand : getOperands())
      if (!getElementTypeOrSelf(operand).isF32())
        return emitOpError("expects f32 tensors with a ")
               << (getFormat() ? "format" : "lower precision") << ", but got " << operand.getType();
    if (getPrecision() == Precision::Int8 && getInput().getType().getDimSize(1) > kMaxInt8Depth)
      return emitOpError("expects at most ") << kMaxInt8Depth << " features of 'input' with int8, but got "
                                             << getInput().getType().getDimSize(1);
  }
  if (getFormat() && getInput().getType().getDimSize(1) > WeightFormat::kMostColumns) // C5
    return emitOpError("expects at most ") << WeightFormat::kMostColumns << " features of 'input' with a format, but got "
                                           << getInput().getType().getDimSize(1);
  // C5, too: the formats bf16 and f16 need the precision f32.
  if (getFormat() && getFormat()->getValue().isFloat() && getPrecision() != Precision::F32)
    return emitOpError("expects the precision f32 with the format ")
           << getFormat()->getValue().str() << ", but got " << stringifyPrecision(getPrecision());
  return verifyResidual(*this, getResidual(), getType());
}
