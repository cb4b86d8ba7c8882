//===- LinearEpilogue.cpp - Epilogues of projections ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/LinearEpilogue.h"
#include "compiler/Conversion/XfmrToLinalg/Activations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

bool attune::hasEpilogue(xfmr::LinearOp op) {
  return op.getBias() || op.getMultiplier() || op.getResidual() || op.getActivation() != xfmr::Activation::None;
}

std::string attune::describeLinear(xfmr::LinearOp op) {
  int64_t inputs = op.getInput().getType().getDimSize(1), outputs = cast<RankedTensorType>(op.getType()).getDimSize(1);
  StringRef activation = op.getActivation() == xfmr::Activation::None ? "" : xfmr::stringifyActivation(op.getActivation());
  return ("linear " + Twine(inputs) + " -> " + Twine(outputs) + (op.getBias() ? ", bias" : "") + (activation.empty() ? "" : ", ") +
          activation + (op.getMultiplier() ? ", multiplier" : "") + (op.getResidual() ? ", residual" : ""))
      .str();
}

void attune::addEpilogueOperands(xfmr::LinearOp op, xfmr::LinearOp::Adaptor adaptor, SmallVectorImpl<Value> &inputs,
                                 SmallVectorImpl<AffineMap> &maps) {
  Builder builder(op.getContext());
  if (op.getBias()) {
    inputs.push_back(adaptor.getBias());
    maps.push_back(AffineMap::get(2, 0, builder.getAffineDimExpr(1)));
  }
  for (Value operand : {adaptor.getMultiplier(), adaptor.getResidual()})
    if (operand) {
      inputs.push_back(operand);
      maps.push_back(builder.getMultiDimIdentityMap(2));
    }
}

Value attune::emitEpilogue(OpBuilder &builder, Location loc, xfmr::LinearOp op, Value x, ValueRange operands) {
  size_t next = 0;
  if (op.getBias())
    x = arith::AddFOp::create(builder, loc, x, operands[next++]);
  x = emitActivation(builder, loc, op.getActivation(), x);
  if (op.getMultiplier())
    x = arith::MulFOp::create(builder, loc, x, operands[next++]);
  if (op.getResidual())
    x = arith::AddFOp::create(builder, loc, x, operands[next]);
  return x;
}
