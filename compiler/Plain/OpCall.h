//===- OpCall.h - One operation of a module that a reference function computes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations of `xfmr` and `tile` become calls from compiled code into this process:
//
//     plain_call(call, operands)          computes the operation; the results stay in |call|
//     plain_size(call, result, dim)       the size of a result, so that the compiled code can allocate it
//     plain_take(call, result, address)   copies a result to |address|
//
// |call| is the address of an OpCall, a constant in the compiled code. |operands| is an array of 64-bit words: for each
// shaped operand its aligned pointer, offset, sizes and strides, for each other operand its value.
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
/// A function that computes an operation in place of its reference function and returns true, or returns false.
using OpSubstitute = std::function<bool(OpCall &)>;

/// An operation, its operands in the current execution, and the results of the last execution. In the record of a
/// `func.call`, operands that are tensors are absent, and results are views of the compiled code's memory.
struct OpCall {
  /// The operation, in a module that outlives the call.
  mlir::Operation *op = nullptr;
  /// True if floats are computed in f64.
  bool wide = false;
  FaultLog *faults = nullptr;
  const OpObserver *observer = nullptr;
  const OpSubstitute *substitute = nullptr;
  /// Rows of weights that a calibration has quantized, at most one element for each format.
  llvm::ArrayRef<CalibratedRows> calibrated;

  /// By the number of an operand: in |operands|, a view of a shaped operand, or a buffer without data for any other; in
  /// |numbers|, the value of an index operand.
  std::vector<PlainBuffer> operands;
  std::vector<int64_t> numbers;
  /// A result: a dense tensor whose memory belongs to the call.
  struct Result {
    std::vector<char> memory;
    PlainBuffer buffer;
  };
  std::vector<Result> results;

  /// Sets the operands from |words|, the second argument of plain_call, and drops earlier results.
  void bind(const int64_t *words);
  /// Creates result |index| with these sizes, filled with zeros.
  PlainBuffer &create(unsigned index, llvm::ArrayRef<int64_t> sizes);
};

/// Computes |call| by the reference function of its operation, in f32, or in f64 if the call is wide. Adds errors to
/// the faults of |call|.
void computeReference(OpCall &call);
/// Returns true if |op| has a reference function.
bool hasReference(mlir::Operation *op);

} // namespace attune

#endif // ATTUNE_COMPILER_PLAIN_OPCALL_H
