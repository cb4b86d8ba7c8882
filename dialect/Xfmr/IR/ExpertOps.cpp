//===- ExpertOps.cpp - Verifiers and types of mixtures of experts ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/OpVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::xfmr;

LogicalResult ChooseExpertsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto scores = cast<RankedTensorType>(adaptor.getScores().getType());
  int64_t count = adaptor.getCount(), experts = scores.getDimSize(1);
  if (ShapedType::isDynamic(experts) || count < 1 || count > experts) // C1
    return emitOptionalError(loc, "expects 'count' from 1 to the static number of columns of 'scores', but got ", count, " and ", scores);
  RankedTensorType shares = scores.clone({scores.getDimSize(0), count});
  types.append({shares.clone(IntegerType::get(context, 64)), shares});
  return success();
}

LogicalResult ChooseExpertsOp::verify() {
  int64_t experts = getScores().getType().getDimSize(1);
  if (getBias() && getBias().getType().getDimSize(0) != experts) // C2
    return emitOpError("expects 'bias' with an element for each of ") << experts << " experts, but got " << getBias().getType();
  if (getGroups().has_value() != getKeptGroups().has_value() || getGroups().has_value() != getGroupKeys().has_value()) // C3
    return emitOpError("expects 'groups', 'kept_groups' and 'group_keys' together");
  if (!getGroups())
    return success();
  int64_t groups = *getGroups(), kept = *getKeptGroups(), keys = *getGroupKeys();
  if (groups < 1 || groups > 64 || experts % groups != 0)
    return emitOpError("expects 'groups' from 1 to 64 that divide ") << experts << " experts, but got " << groups;
  int64_t size = experts / groups;
  if (kept < 1 || kept > groups || kept * size < int64_t(getCount()))
    return emitOpError("expects 'kept_groups' from 1 to ")
           << groups << " groups with " << getCount() << " experts or more, but got " << kept;
  if (keys < 1 || keys > std::min<int64_t>(2, size))
    return emitOpError("expects 'group_keys' 1 or 2, not more than the ") << size << " experts of a group, but got " << keys;
  return success();
}

/// Checks that |choices| and |shares| have the same static number of columns. Emits an error only if |loc| is present.
static LogicalResult verifyChoices(std::optional<Location> loc, Value choices, Value shares) {
  auto type = cast<RankedTensorType>(choices.getType()), other = cast<RankedTensorType>(shares.getType());
  if (type.isDynamicDim(1) || type.getDimSize(1) != other.getDimSize(1))
    return emitOptionalError(loc, "expects 'choices' and 'shares' of one static number of columns, but got ", type, " and ", other);
  return success();
}

LogicalResult ExpertsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  types.push_back(input.clone({input.getDimSize(0), cast<RankedTensorType>(adaptor.getDown().getType()).getDimSize(1)}));
  return success();
}

LogicalResult ExpertsOp::verify() {
  auto up = getUp().getType(), down = getDown().getType();
  if (failed(verifyChoices(getLoc(), getChoices(), getShares()))) // C1
    return failure();
  int64_t features = getInput().getType().getDimSize(1);
  if (up.getDimSize(2) != features || down.getDimSize(2) != up.getDimSize(1) || down.getDimSize(0) != up.getDimSize(0)) // C2
    return emitOpError("expects 'up' [E, M, ") << features << "] and 'down' [E, N, M], but got " << up << " and " << down;
  if (Value gate = getGate(); gate && gate.getType() != up)
    return emitOpError("expects 'gate' of the type of 'up', ") << up << ", but got " << gate.getType();
  std::tuple<Value, Value, StringRef> biases[] = {
      {getUp(), getUpBias(), "up_bias"}, {getDown(), getDownBias(), "down_bias"}, {getGate(), getGateBias(), "gate_bias"}};
  for (auto [stack, bias, name] : biases) { // C3
    if (stack ? bool(bias) != bool(getUpBias()) : bool(bias))
      return emitOpError("expects biases of all stacks or of none");
    if (!bias)
      continue;
    auto type = cast<RankedTensorType>(stack.getType());
    if (cast<RankedTensorType>(bias.getType()).getShape() != type.getShape().drop_back())
      return emitOpError("expects '") << name << "' of shape [" << type.getDimSize(0) << ", " << type.getDimSize(1) << "], but got "
                                      << bias.getType();
  }
  if (bool(getGluLimit()) != bool(getGluAlpha())) // C4
    return emitOpError("expects 'glu_limit' and 'glu_alpha' together");
  if (getGluLimit() && (!getGate() || getActivation() != Activation::None))
    return emitOpError("expects 'gate' and no activation for 'glu_limit'");
  if (getGluLimit() && !(getGluLimit()->convertToDouble() > 0))
    return emitOpError("expects a positive 'glu_limit', but got ") << getGluLimitAttr();
  return success();
}

LogicalResult GroupByExpertOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  int64_t experts = adaptor.getExperts();
  if (failed(verifyChoices(loc, adaptor.getChoices(), adaptor.getShares()))) // C1
    return failure();
  if (experts < 1)
    return emitOptionalError(loc, "expects a positive number of experts, but got ", experts);
  Type integer = IntegerType::get(context, 64);
  types.append({RankedTensorType::get({experts + 1}, integer), RankedTensorType::get({ShapedType::kDynamic}, integer),
                RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(context))});
  return success();
}

LogicalResult ListByExpertOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  int64_t experts = adaptor.getExperts();
  if (failed(verifyChoices(loc, adaptor.getChoices(), adaptor.getShares()))) // C1
    return failure();
  if (experts < 1)
    return emitOptionalError(loc, "expects a positive number of experts, but got ", experts);
  auto shares = cast<RankedTensorType>(adaptor.getShares().getType()).clone({experts, ShapedType::kDynamic});
  Type integer = IntegerType::get(context, 64);
  types.append({RankedTensorType::get({experts}, integer), shares.clone(integer), shares});
  return success();
}

LogicalResult AddRowsOp::verify() {
  auto rows = getRows().getType(), sum = getSum().getType();
  if (rows.getDimSize(1) != sum.getDimSize(1)) // C1
    return emitOpError("expects 'rows' and 'sum' of one number of columns, but got ") << rows << " and " << sum;
  for (Type perRow : {Type(getFactors().getType()), Type(getTokens().getType())})
    if (failed(verifyCompatibleShape(cast<ShapedType>(perRow).getShape(), rows.getShape().take_front()))) // C1
      return emitOpError("expects an element for each row of ") << rows << ", but got " << perRow;
  return success();
}
