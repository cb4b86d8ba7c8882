//===- OpCall.cpp - One operation of a module that a reference function computes ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/OpCall.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace attune;

void OpCall::bind(const int64_t *words) {
  operands.assign(op->getNumOperands(), {});
  numbers.assign(op->getNumOperands(), 0);
  results.clear();
  results.resize(op->getNumResults());
  auto bindBuffer = [&](ShapedType type, PlainBuffer &buffer) {
    buffer.kind = *getElementKind(type.getElementType(), wide);
    buffer.data = reinterpret_cast<char *>(words[0]) + words[1] * getElementBytes(buffer.kind);
    buffer.sizes.assign(words + 2, words + 2 + type.getRank());
    buffer.strides.assign(words + 2 + type.getRank(), words + 2 + 2 * type.getRank());
    buffer.faults = faults;
    buffer.owner = op->getName().getStringRef();
    words += 2 + 2 * type.getRank();
  };
  bool isFunctionCall = isa<func::CallOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    if (!type)
      numbers[operand.getOperandNumber()] = *words++;
    else if (!isFunctionCall || isa<MemRefType>(type))
      bindBuffer(type, operands[operand.getOperandNumber()]);
  }
  for (OpResult result : op->getResults())
    if (isFunctionCall)
      bindBuffer(cast<ShapedType>(result.getType()), results[result.getResultNumber()].buffer);
}

PlainBuffer &OpCall::create(unsigned index, ArrayRef<int64_t> sizes) {
  Result &result = results[index];
  PlainBuffer &buffer = result.buffer;
  buffer.kind = *getElementKind(cast<ShapedType>(op->getResult(index).getType()).getElementType(), wide);
  buffer.sizes.assign(sizes.begin(), sizes.end());
  buffer.strides.assign(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;)
    buffer.strides[dim - 1] = buffer.strides[dim] * sizes[dim];
  buffer.faults = faults;
  buffer.owner = op->getName().getStringRef();
  result.memory.assign(static_cast<size_t>(buffer.elements() * getElementBytes(buffer.kind)) + 1, 0);
  buffer.data = result.memory.data();
  return buffer;
}
