//===- Surgery.h - Parts of one module in another ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_SURGERY_H
#define ATTUNE_COMPILER_BISECT_SURGERY_H

#include "compiler/Bisect/PassSteps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune {

/// Returns the names of the functions that |before| and |after| both define and that differ.
std::vector<std::string> listChangedFunctions(mlir::ModuleOp before, mlir::ModuleOp after);

/// Returns |before| with the function |name| of |after|, and the symbols that it uses and |before| lacks. An error if the
/// function has another type there.
Result<mlir::OwningOpRef<mlir::ModuleOp>> transplantFunction(mlir::ModuleOp before, mlir::ModuleOp after, const std::string &name);

/// An operation of a function that a pass may rewrite.
struct Candidate {
  /// Its number among the operations of the function, in order.
  unsigned number;
  /// Its name, its group if it has one, and its result, for people.
  std::string text, name;
};

/// Returns the operations of the function |name| that compute tensors or buffers.
std::vector<Candidate> listCandidates(mlir::ModuleOp module, const std::string &name);

/// Returns the module after |step|, which sees of the candidates of the function |name| only those that |visible| selects:
/// all others are calls of functions without a body while the pass runs, and are put back behind it.
Result<mlir::OwningOpRef<mlir::ModuleOp>> runPassOnOps(mlir::ModuleOp module, const std::string &name,
                                                       llvm::function_ref<bool(const Candidate &)> visible, const PassStep &step,
                                                       const PassHook &hook);

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_SURGERY_H
