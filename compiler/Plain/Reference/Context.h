//===- Context.h - Operands and results of a reference function -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_CONTEXT_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_CONTEXT_H

#include "compiler/Plain/OpCall.h"
#include "dialect/Xfmr/IR/XfmrAttrs.h"

#include <cmath>
#include <limits>

namespace attune::reference {

/// The most negative finite f32, which models add to the scores of hidden keys. Runs in f64 use the same number.
inline constexpr double kLowest = -3.40282346638528859812e+38;

/// The operands and results of one execution of an operation. T, float or double, is the type of all arithmetic.
template <typename T>
class Context {
public:
  explicit Context(OpCall &call) : call(call) {}

  /// Returns the operand |value|; a buffer without data if |value| is null.
  PlainBuffer in(mlir::Value value) const {
    for (mlir::OpOperand &operand : call.op->getOpOperands())
      if (value && operand.get() == value)
        return call.operands[operand.getOperandNumber()];
    return {};
  }
  /// Returns the value of the index operand |value|; |absent| if |value| is null.
  int64_t number(mlir::Value value, int64_t absent = 0) const {
    for (mlir::OpOperand &operand : call.op->getOpOperands())
      if (value && operand.get() == value)
        return call.numbers[operand.getOperandNumber()];
    return absent;
  }
  /// Creates result |index| of |sizes|, filled with zeros.
  PlainBuffer out(llvm::ArrayRef<int64_t> sizes, unsigned index = 0) { return call.create(index, sizes); }
  /// Returns the memory in which the operation updates its destination |index|, the operand |value|. An operation on
  /// tensors gets a copy of the operand, which becomes result |index|; an operation on buffers gets the operand itself.
  PlainBuffer destination(mlir::Value value, unsigned index = 0) {
    PlainBuffer given = in(value);
    if (call.op->getNumResults() == 0)
      return given;
    PlainBuffer copy = call.create(index, given.sizes);
    for (int64_t i = 0, end = given.elements(); i < end; ++i) {
      auto at = given.indicesOf(i);
      if (isFloat(given.kind))
        copy.set<T>(at, given.get<T>(at));
      else
        copy.set<int64_t>(at, given.get<int64_t>(at));
    }
    return copy;
  }
  /// Returns the rows of weights that a calibration has quantized.
  llvm::ArrayRef<CalibratedRows> calibrated() const { return call.calibrated; }
  void fault(const std::string &message) const { call.faults->add(call.op->getName().getStringRef().str() + ": " + message); }

private:
  OpCall &call;
};

/// Copies the element at |from| in |source| to |to| in |target|, which has the same kind of elements.
inline void copyElement(const PlainBuffer &source, llvm::ArrayRef<int64_t> from, const PlainBuffer &target, llvm::ArrayRef<int64_t> to) {
  if (isFloat(source.kind))
    target.set<double>(to, source.get<double>(from));
  else
    target.set<int64_t>(to, source.get<int64_t>(from));
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_CONTEXT_H
