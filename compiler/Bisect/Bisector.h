//===- Bisector.h - Where do the numbers of a model become wrong? -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Finds the first phase, then the pass, the function and the rewrite after which a model computes wrong numbers. In the
// phase `import`, which has no passes, finds the first wrong output (FirstWrongOutput.h):
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
//                         values inside of both modules            the first that differs (FirstDifference.h)
//
// A module that the plain path (compiler/Plain) cannot execute is neither right nor wrong. The search skips such a
// module; if that leaves several steps any of which may be at fault, the verdict has all of them. After the last pass,
// CodeSearch.h takes over:
//
//   ...    target      llvm                                object
//          right       a pass of LLVM on a function        the weights file, by the definitions of weights
//                                                          the code generator on a function
//                                                          operations of the phase `dialect`, each compiled alone
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_BISECTOR_H
#define ATTUNE_COMPILER_BISECT_BISECTOR_H

#include "compiler/Bisect/CodeSearch.h"
#include "compiler/Bisect/FirstWrongOutput.h"
#include "compiler/Bisect/Judge.h"
#include "compiler/Bisect/PhaseReplay.h"
#include "compiler/Bisect/SingleOperation.h"

#include <map>

namespace attune {

/// The reference of a search, and the functions that it calls.
struct BisectOptions {
  /// Outputs of the reference implementation, as a golden case stores them. The phase `import` is judged by them; if
  /// there are none, it counts as right.
  std::vector<OwnedTensor> expected;
  /// Outputs that are right, by which all later phases are judged. If empty, these are the outputs of the phase
  /// `import` in f64 and, after the passes that round operands, those of the module after these passes.
  std::vector<OwnedTensor> good;
  /// Judges the phases `bufferized` and `object` first, and the others only if one of the two is not right.
  bool isBrief = false;
  ReplayHooks hooks;
  CodeHooks codeHooks;
  /// Compiles the model; null if the phases `llvm` and `object` are not to be judged.
  std::function<Result<const ModelCode *>()> code;
  /// Compiles IR of the phase `dialect` and executes the object; null if that is not possible. It is called in a
  /// process of its own.
  std::function<Result<std::vector<OwnedTensor>>(mlir::ModuleOp module, const PlainInputs &inputs)> runCompiled;
  /// Called with a sentence for each part of the search.
  std::function<void(const std::string &)> progress;
};

/// The result of a search.
struct BisectVerdict {
  /// True if there are wrong numbers, which come from |phase|, or, unless |isPhaseKnown|, from a phase before it that
  /// cannot be executed.
  bool isFound = false, isPhaseKnown = true;
  Phase phase = Phase::Import;
  /// The last phase whose numbers are right.
  Phase last = Phase::Import;
  /// The steps of the phase that make numbers wrong. More than one if the modules between them cannot be executed; none
  /// for the phases `import`, `llvm` and `object`, which have no passes of MLIR, or if the phase is not known.
  std::vector<PassStep> steps;
  /// The function that the steps made wrong, and the description of its kernel; empty if not known.
  std::string function, kernel;
  /// The pattern rewrite that made the function wrong, if the search found one.
  std::optional<Rewrite> rewrite;
  /// The name and location of the operation after the steps that computes the first different value
  /// (FirstDifference.h), if no operation alone, rewrite or kernel was found; "" if not known.
  std::string firstDifference;
  /// In the phase `import`, the first wrong output.
  std::optional<FirstWrongOutput> firstWrong;
  /// The part of LLVM, in the phases `llvm` and `object`.
  std::optional<CodePart> part;
  /// In the phase `object`, an element of a weight that the weights file has otherwise than the definition of its
  /// source; the output is the name of the weight.
  std::optional<WrongValue> weight;
  /// The wrong value, or, if there are no values, the reason.
  WrongValue value;
  std::string reason;
  /// The modules before and after the steps or, without steps, before and after the phase; null if it is `import`,
  /// `llvm` or `object`.
  mlir::OwningOpRef<mlir::ModuleOp> before, after;
  /// A module of one operation that the step makes wrong, the module after the step, and the wrong value in it. In the
  /// phases `llvm` and `object`, an operation of the phase `dialect` that is wrong when it is compiled alone; there is
  /// no module after the step then.
  std::optional<SingleOperation> operation;
  mlir::OwningOpRef<mlir::ModuleOp> operationAfter;
  WrongValue operationValue;
  /// Phases that could not be judged, with reasons.
  std::vector<std::pair<Phase, std::string>> unknown;
};

/// Compares the outputs of |imported|, a module of the phase `import`, which |judge| expects, with |outputs|, those of
/// a reference. If they differ, sets |verdict| to wrong in this phase, with the first wrong output and its worst value.
Judgment judgeImport(mlir::ModuleOp imported, const Judge &judge, const std::vector<OwnedTensor> &outputs, BisectVerdict &verdict);

class Bisector {
public:
  /// |imported| is IR of the phase `import`, in a context with multithreading disabled. All arguments must outlive this
  /// object.
  Bisector(mlir::ModuleOp imported, const PlainWeights &weights, const PlainInputs &inputs, const BisectOptions &options)
      : imported(imported), weights(weights), inputs(inputs), options(options) {}

  /// Fails if the model cannot be executed at all, if a phase cannot be run, if `good` lacks an output, or if `code`
  /// fails. Passes must be registered, so that a step can be run on one operation.
  Result<BisectVerdict> run();

private:
  /// The steps of the phase `dialect` that round: operands of products, weights, and keys and values in caches.
  struct Rounding {
    /// The last of them, -1 if there are none: the module after it gives the expected results of later ones.
    int64_t last = -1;
    /// If numbers are wrong already before one of these passes: the step before it, whose module is wrong. -1 stands
    /// for the module before the phase.
    std::optional<int64_t> wrong;
  };
  /// Finds the steps of |replay| that round, and judges the modules before them; |replay| must have run. From then on,
  /// |judgeOfPhase| expects the results of the module after the last of these steps, or `good` within the bounds of
  /// that module.
  Result<Rounding> expectRounding(PhaseReplay &replay);
  /// Returns true if the phases `bufferized` and `object` are right; false also if one of them cannot be judged.
  /// Changes |judgeOfPhase|.
  Result<bool> judgeBriefly();
  Status judgePhases(BisectVerdict &verdict);
  /// Judges the phases `llvm` and `object` and searches the weight or the part of LLVM that makes them wrong.
  /// |described| is the module of the phase `vector`.
  Status judgeCode(mlir::ModuleOp described, BisectVerdict &verdict);
  /// Compares the weights of f32 in the weights file with their definitions in |module|, where they have offsets.
  /// Returns the element whose error exceeds what counts as right by the largest factor; nullopt if there is none or no
  /// weights file.
  std::optional<WrongValue> findWrongWeight(mlir::ModuleOp module, const ModelCode &code) const;
  class StepJudge;
  /// Searches the steps after |left|, whose module is right, up to |right|, whose module is wrong, for the one that
  /// makes the module wrong. -1 stands for the module before the phase. Finds several steps if the modules between them
  /// cannot be judged. Sets the steps and the modules of |verdict|, then searches these steps for the function, the
  /// operation or rewrite, and the first different value.
  Status searchSteps(StepJudge &steps, int64_t left, int64_t right, BisectVerdict &verdict);
  /// Returns, by binary search, a step after |begin| whose module can be executed while that of the next step cannot.
  /// Expects that the last module cannot. Returns nullopt if no step that was tried has a module that can be executed.
  std::optional<int64_t> findLastJudged(StepJudge &steps, int64_t begin) const;
  /// Finds the function that differs between the modules of |verdict| and makes them wrong.
  void searchFunction(BisectVerdict &verdict);
  Status searchRewrite(PhaseReplay &replay, size_t step, BisectVerdict &verdict);
  void searchOperation(BisectVerdict &verdict);
  /// Compares the values inside of the modules before and after the steps.
  void searchFirstDifference(BisectVerdict &verdict);
  /// Finds an operation of the phase `dialect` whose object gives wrong numbers when the operation is compiled alone.
  void searchCompiledOperation(BisectVerdict &verdict);
  /// Judges an object of the phase `object`.
  Judgment judgeObject(const ModelCode &code, const std::string &object) const {
    return judgeOfPhase->judgeCall([&] { return code.execute(object); });
  }
  Judgment judge(mlir::ModuleOp module) const { return judgeOfPhase->judge(module, signature ? &*signature : nullptr); }
  void report(const std::string &text) const {
    if (options.progress)
      options.progress(text);
  }

  mlir::ModuleOp imported;
  const PlainWeights weights;
  const PlainInputs &inputs;
  const BisectOptions &options;
  std::optional<Judge> judgeOfPhase;
  /// The module of the phase `dialect`.
  mlir::OwningOpRef<mlir::ModuleOp> ofDialect;
  /// The entries, for modules of the phase `target`, which do not describe them.
  std::optional<PlainSignature> signature;
};

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_BISECTOR_H
