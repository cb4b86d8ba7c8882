//===- HeadSteps.cpp - From a hidden state to an output -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/HeadSteps.h"

using namespace attune;
using namespace mlir;

static Value emitStep(EntryScope &scope, const HeadStep &step, TokenBatch &tokens, Value value) {
  OpBuilder &builder = scope.builder;
  Location loc = scope.at(step.path);
  switch (step.kind) {
  case HeadStep::Pool:
    return xfmr::PoolOp::create(builder, loc, step.pool, value, tokens.sequences().offsets, tokens.positions(),
                                tokens.positions() ? tokens.length() : Value());
  case HeadStep::Linear:
    return xfmr::LinearOp::create(builder, loc, value, scope.weight(step.linear.weight), scope.weight(step.linear.bias), Value(),
                                  xfmr::Activation::None);
  case HeadStep::Activation:
    return xfmr::ActivationOp::create(builder, loc, value.getType(), step.activation, value);
  case HeadStep::Norm:
    return createNorm(builder, loc, step.norm, value, {}, scope.weight(step.norm.weight), scope.weight(step.norm.bias));
  case HeadStep::Dropout:
    return xfmr::DropoutOp::create(builder, loc, value.getType(), value, APFloat(step.rate));
  case HeadStep::Softmax:
    return xfmr::SoftmaxOp::create(builder, loc, value.getType(), value, /*log=*/false);
  }
  llvm_unreachable("all steps are handled");
}

bool attune::isPerToken(const OutputSpec &output) {
  return llvm::none_of(output.steps, [](const HeadStep &step) { return step.kind == HeadStep::Pool; });
}

EntryResult attune::emitHead(EntryScope &scope, const OutputSpec &output, TokenBatch &tokens, Value hidden, bool lastOnly) {
  Value value = hidden;
  for (const HeadStep &step : output.steps)
    value = emitStep(scope, step, tokens, value);
  std::vector<std::string> dims = {"batch"};
  int64_t features = cast<RankedTensorType>(value.getType()).getDimSize(1);
  if (isPerToken(output) && !lastOnly) {
    value = tokens.toPadded(value, output.squeeze);
    dims.push_back(tokens.lengthDim());
  }
  if (!output.squeeze)
    dims.push_back(std::to_string(features));
  return {value, dims};
}
