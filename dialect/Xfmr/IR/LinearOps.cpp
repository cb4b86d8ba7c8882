//===- LinearOps.cpp - Verifiers, types and folds of projections and norms ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::xfmr;

/// Checks that the vector |vector| (named |name|) has |size| elements, which are the |what|; an absent vector passes.
static LogicalResult verifyVector(Operation *op, Value vector, StringRef name, int64_t size, StringRef what) {
  if (!vector)
    return success();
  int64_t got = cast<RankedTensorType>(vector.getType()).getDimSize(0);
  if (got != size)
    return op->emitOpError("expects '") << name << "' to have " << size << " elements, the " << what << ", but got " << got;
  return success();
}

/// Checks that |operand| (named |name|) can be combined with a |type| element by element.
static LogicalResult verifySameType(Operation *op, Value operand, StringRef name, RankedTensorType type) {
  if (!operand || (succeeded(verifyCompatibleShape(operand.getType(), type)) && getElementTypeOrSelf(operand) == type.getElementType()))
    return success();
  return op->emitOpError("expects '") << name << "' of the type of the result, " << type << ", but got " << operand.getType();
}

static LogicalResult verifyResidual(Operation *op, Value residual, RankedTensorType type) {
  return verifySameType(op, residual, "residual", type);
}

/// Checks that |weight| (named |name|) multiplies rows of |features| elements.
static LogicalResult verifyColumns(Operation *op, Value weight, StringRef name, int64_t features, StringRef what) {
  int64_t got = cast<RankedTensorType>(weight.getType()).getDimSize(1);
  if (got != features)
    return op->emitOpError("expects '") << name << "' to have " << features << " columns, the " << what << ", but got " << got;
  return success();
}

static RankedTensorType projected(Value input, Value weight) {
  auto type = cast<RankedTensorType>(input.getType());
  return type.clone({type.getDimSize(0), cast<RankedTensorType>(weight.getType()).getDimSize(0)});
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(projected(adaptor.getInput(), adaptor.getWeight()));
  return success();
}

LogicalResult LinearOp::verify() {
  if (failed(verifyColumns(*this, getWeight(), "weight", getInput().getType().getDimSize(1), "features of 'input'"))) // C1
    return failure();
  if (failed(verifyVector(*this, getBias(), "bias", getWeight().getType().getDimSize(0), "rows of 'weight'"))) // C2
    return failure();
  if (failed(verifySameType(*this, getMultiplier(), "multiplier", getType()))) // C3
    return failure();
  if (getPrecision() != Precision::F32) { // C4
    for (Value operand : getOperands())
      if (!getElementTypeOrSelf(operand).isF32())
        return emitOpError("expects f32 tensors with a lower precision, but got ") << operand.getType();
    if (getPrecision() == Precision::Int8 && getInput().getType().getDimSize(1) > kMaxInt8Depth)
      return emitOpError("expects at most ") << kMaxInt8Depth << " features of 'input' with int8, but got " << getInput().getType().getDimSize(1);
  }
  return verifyResidual(*this, getResidual(), getType());
}

LogicalResult FfnOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(projected(adaptor.getInput(), adaptor.getDown()));
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

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult LayerNormOp::verify() {
  int64_t features = getInput().getType().getDimSize(1);
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

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyVector(*this, getWeight(), "weight", getInput().getType().getDimSize(1), "last dimension of 'input'"))) // C1
    return failure();
  if (failed(verifyResidual(*this, getResidual(), getType()))) // C2
    return failure();
  if (!(getEpsilon().convertToDouble() >= 0)) // C3
    return emitOpError("expects 'epsilon' not to be negative, but got ") << getEpsilonAttr();
  return success();
}

OpFoldResult ActivationOp::fold(FoldAdaptor) { return getKind() == Activation::None ? OpFoldResult(getInput()) : OpFoldResult(); }

LogicalResult SoftmaxOp::verify() {
  if (getInput().getType().isDynamicDim(1)) // C1
    return emitOpError("expects a static last dimension, but got ") << getInput().getType();
  return success();
}

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate <= 1)) // C1
    return emitOpError("expects 'rate' from 0 to 1, but got ") << getRateAttr();
  return success();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) { return getInput(); }
