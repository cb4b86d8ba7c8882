//===- SingleOperation.h - A module of one operation ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Narrows an error of a pass to one operation. Executes the module as it was before the pass and records the operands
// of each operation of `xfmr` and `tile` in the function that the pass made wrong. Each operation then gets a module of
// its own, whose inputs have the recorded values:
//
//   func.func @forward(%in0: ... {xfmr.input}) -> (... {xfmr.output}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
//     %c = arith.constant ...       sizes and other numbers, as recorded
//     %w = xfmr.weight_ref @w       weights, and expressions over them
//     %0 = the operation
//     return %0
//   }
//
// If the pass makes such a module wrong, the operation is found, and the module is a small test.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_SINGLEOPERATION_H
#define ATTUNE_COMPILER_BISECT_SINGLEOPERATION_H

#include "compiler/Plain/PlainSteps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune {

/// A module of one operation, and inputs for it.
struct SingleOperation {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  PlainInputs inputs;
  std::string name;
  mlir::Location location;
};

/// Executes |module| with |inputs| and returns modules for operations of |function| without regions, whose results are
/// tensors of f32 and i64 of rank 1 or more and whose operands are such tensors, indices and weights. Operations with
/// the same name, attributes and types of operands are of one kind. Of each kind, takes up to |mostCalls| calls that
/// differ in sizes or integers of operands. The result has the first call of each kind, then the second call of each
/// kind, and so on. Fails if |module| cannot be executed.
Result<std::vector<SingleOperation>> isolateOperations(mlir::ModuleOp module, llvm::StringRef function, const PlainWeights &weights,
                                                       const PlainInputs &inputs, size_t mostCalls);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_SINGLEOPERATION_H
