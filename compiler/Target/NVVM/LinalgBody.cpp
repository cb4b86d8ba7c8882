//===- LinalgBody.cpp - One element of a linalg operation ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/LinalgBody.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

LinalgBody::LinalgBody(linalg::LinalgOp op, ThreadBuilder &e) : op(op), e(e), maps(op.getIndexingMapsArray()) {}

/// Returns the indices at which |operand| is read or written at the current point.
SmallVector<Value> LinalgBody::indicesOf(OpOperand &operand) {
  AffineMap map = maps[operand.getOperandNumber()];
  SmallVector<OpFoldResult> dims(map.getNumDims(), e.getIndexAttr(0));
  for (auto [dim, value] : at)
    dims[dim] = value;
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr result) {
    AffineMap one = AffineMap::get(map.getNumDims(), 0, result);
    return e.index(affine::makeComposedFoldedAffineApply(e, e.getLoc(), one, dims));
  });
}

Value LinalgBody::load(OpOperand &operand) {
  if (Value value = known.lookup(operand.getOperandNumber()))
    return value;
  return op.isScalar(&operand) ? operand.get() : e.load(operand.get(), indicesOf(operand));
}

Values LinalgBody::evaluate(ValueRange outputs) {
  Block &body = *op.getBlock();
  IRMapping map;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    bool isInit = op.isDpsInit(&operand);
    map.map(argument, isInit ? outputs[operand.getOperandNumber() - op.getNumDpsInputs()] : load(operand));
  }
  for (Operation &inner : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      map.map(index.getResult(), at[index.getDim()]);
    else
      e.clone(inner, map);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return map.lookupOrDefault(value); });
}

Values LinalgBody::loadOutputs() {
  Values outputs;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    bool isRead = op.getNumReductionLoops() != 0 || !op.getMatchingBlockArgument(&init).use_empty();
    outputs.push_back(isRead ? load(init) : Value());
  }
  return outputs;
}

void LinalgBody::storeOutputs(ValueRange values) {
  for (auto [value, init] : llvm::zip_equal(values, op.getDpsInitsMutable()))
    e.store(value, init.get(), indicesOf(init));
}
