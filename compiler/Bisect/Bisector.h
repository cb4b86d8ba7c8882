//===- Bisector.h - Where do the numbers of a model become wrong? -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Finds the first phase, then the pass, the function and the rewrite after which a model computes wrong numbers:
//
//   import      dialect     linalg      tiled       ...            phases, judged one after the other (Judge.h)
//   right       right       right       WRONG
//                              |           |
//                            step 0 ... step k ... step N          steps of the phase, by binary search (PhaseReplay.h)
//                            right      WRONG
//                                         |
//                         before step k, with one function of      functions, one by one
//                         the module after it: @f right, @g WRONG
//                                         |
//                         step k with the first n rewrites         rewrites, by binary search
//                         step k on modules of one operation       operations (SingleOperation.h)
//
// A module that the plain path (PlainModel.h) cannot execute is neither right nor wrong: the search skips it. If that
// leaves several steps of which any may be the wrong one, the verdict has all of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_BISECTOR_H
#define ATTUNE_COMPILER_BISECT_BISECTOR_H

#include "compiler/Bisect/Judge.h"
#include "compiler/Bisect/PhaseReplay.h"
#include "compiler/Bisect/SingleOperation.h"

#include <map>

namespace attune {

/// The reference of a search, and the functions that it calls.
struct BisectOptions {
  /// Outputs by the reference implementation, by which the phase `import` is judged; may be empty.
  std::vector<OwnedTensor> expected;
  ReplayHooks hooks;
  /// Returns the LLVM IR of the model; null if the phase `llvm` is not to be judged.
  std::function<Result<std::string>()> llvmText;
  /// Called with a sentence for each part of the search.
  std::function<void(const std::string &)> progress;
};

/// The result of a search.
struct BisectVerdict {
  /// True if there are wrong numbers, which come from |phase|.
  bool isFound = false;
  Phase phase = Phase::Import;
  /// The steps of the phase that make numbers wrong. More than one if the modules between them cannot be executed; none
  /// for the phases `import` and `llvm`, which are not made of passes.
  std::vector<PassStep> steps;
  /// The function that the steps made wrong, and the description of its kernel; empty if not known.
  std::string function, kernel;
  /// The pattern rewrite that made the function wrong, if the search found one.
  std::optional<Rewrite> rewrite;
  /// The wrong value; |reason| instead if the module crashes or does not end.
  WrongValue value;
  std::string reason;
  /// The modules before and after the steps.
  mlir::OwningOpRef<mlir::ModuleOp> before, after;
  /// An operation that the step rewrites wrongly, alone in a module; that module after the step; and the wrong value
  /// that it computes.
  std::optional<SingleOperation> operation;
  mlir::OwningOpRef<mlir::ModuleOp> operationAfter;
  WrongValue operationValue;
  /// Phases whose modules could not be executed, with reasons.
  std::vector<std::pair<Phase, std::string>> unknown;
};

class Bisector {
public:
  /// |imported| is IR of the phase `import`, in a context with multithreading disabled. All arguments must outlive this
  /// object.
  Bisector(mlir::ModuleOp imported, const TensorProvider &tensors, const PlainInputs &inputs, const BisectOptions &options)
      : imported(imported), tensors(tensors), inputs(inputs), options(options) {}

  /// Fails if the model cannot be executed at all, or a phase cannot be run. Passes must be registered, so that a step
  /// can be run on one operation.
  Result<BisectVerdict> run();

private:
  /// Judges the values of the phase `import` by those of the reference.
  Judgment judgeImport() const;
  Status judgePhases(BisectVerdict &verdict);
  Status judgeLlvm(mlir::ModuleOp described, BisectVerdict &verdict);
  /// Finds the steps of |replay|, a phase whose module is wrong after it and right before it.
  Status searchSteps(PhaseReplay &replay, BisectVerdict &verdict);
  /// Finds the function whose change from |verdict|.before to |verdict|.after makes the module wrong.
  void searchFunction(BisectVerdict &verdict);
  Status searchRewrite(PhaseReplay &replay, size_t step, BisectVerdict &verdict);
  void searchOperation(BisectVerdict &verdict);
  Judgment judge(mlir::ModuleOp module) const { return judgeOfPhase->judge(module, signature ? &*signature : nullptr); }
  void report(const std::string &text) const {
    if (options.progress)
      options.progress(text);
  }

  mlir::ModuleOp imported;
  const TensorProvider &tensors;
  const PlainInputs &inputs;
  const BisectOptions &options;
  std::optional<Judge> judgeOfPhase;
  /// The entries, for modules of the phase `target`, which do not describe them.
  std::optional<PlainSignature> signature;
};

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_BISECTOR_H
