//===- OpCall.h - One operation of a module that a reference function computes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The code that the plain path compiles at run time calls functions of this process for the operations of `xfmr` and
// `tile`:
//
//     plain_call(call, operands)          computes the operation; the results stay in |call|
//     plain_size(call, result, dim)       returns size |dim| of result number |result|, for its allocation
//     plain_take(call, result, address)   copies result number |result| to |address|, in row-major order
//
// |call| is the address of an OpCall, a constant in the compiled code. |operands| is an array of 64-bit words. A shaped
// operand has the words aligned pointer, offset, sizes and strides, with offset and strides in elements; any other
// operand has one word, its value. With PlainOptions::observesCalls, a plain_call also follows each `func.call`. Its
// tensor operands then have no words, and the words of the results follow those of the operands.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_OPCALL_H
#define ATTUNE_COMPILER_PLAIN_OPCALL_H

#include "compiler/Plain/PlainBuffer.h"
#include "mlir/IR/Operation.h"

#include <functional>
#include <vector>

namespace attune {

class CalibratedRows;
struct OpCall;
/// A function that is called after an operation was computed.
using OpObserver = std::function<void(const OpCall &)>;
/// A function that either computes an operation in place of its reference function and returns true, or does nothing
/// and returns false.
using OpSubstitute = std::function<bool(OpCall &)>;

/// An operation, its operands in the current execution, and the results of the latest execution. For a `func.call` that
/// is observed, the operands that are tensors are buffers without data, and the results are views of memory of the
/// compiled code.
struct OpCall {
  /// The operation, in a module that outlives this object.
  mlir::Operation *op = nullptr;
  /// True if f32 is computed as f64.
  bool wide = false;
  FaultLog *faults = nullptr;
  const OpObserver *observer = nullptr;
  const OpSubstitute *substitute = nullptr;
  /// Rows of weights that a calibration has quantized, at most one element for each format.
  llvm::ArrayRef<CalibratedRows> calibrated;

  /// Both have an element for each operand. In |operands| it is a view of a shaped operand, or a buffer without data
  /// for an operand of type index; in |numbers| it is the value of an operand of type index, or 0 for a shaped one.
  std::vector<PlainBuffer> operands;
  std::vector<int64_t> numbers;
  /// A result: a dense tensor in |memory|; for a `func.call`, |memory| is empty.
  struct Result {
    std::vector<char> memory;
    PlainBuffer buffer;
  };
  std::vector<Result> results;

  /// Sets the operands and, for a `func.call`, the results from |words|, the second argument of plain_call. Drops the
  /// results of earlier executions.
  void bind(const int64_t *words);
  /// Creates result |index| with |sizes|, filled with zeros.
  PlainBuffer &create(unsigned index, llvm::ArrayRef<int64_t> sizes);
};

/// Computes |call| by the reference function of its operation, in f32, or in f64 if |call|.wide. Adds errors to
/// |call|.faults, which must not be null.
void computeReference(OpCall &call);
/// Returns true if |op| has a reference function.
bool hasReference(mlir::Operation *op);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_OPCALL_H
