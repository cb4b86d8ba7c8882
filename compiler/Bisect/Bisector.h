//===- Bisector.h - Where do the numbers of a model become wrong? -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Finds the first phase after which a model computes wrong numbers, then the pass, the function and the rewrite that
// make them wrong. In the phase `import`, which has no passes, finds the first wrong output (FirstWrongOutput.h):
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

/// The reference values of a search, and the functions that the search calls.
struct BisectOptions {
  /// Outputs of the reference implementation, as a golden case stores them. The phase `import` is judged by them. If
  /// empty, this phase counts as right.
  std::vector<OwnedTensor> expected;
  /// Right outputs, by which all phases after `import` are judged. If empty, modules are judged by the outputs of the
  /// module of the phase `import`, executed in f64, and after the passes that round values (Bisector::Rounding) by
  /// those of the module after the last of these passes.
  std::vector<OwnedTensor> good;
  /// Judges the phases `bufferized` and `object` first, and the others only if one of the two is not right.
  bool isBrief = false;
  ReplayHooks hooks;
  CodeHooks codeHooks;
  /// Compiles the model; null if the phases `llvm` and `object` are not to be judged.
  std::function<Result<const ModelCode *>()> code;
  /// Compiles |module|, IR of the phase `dialect`, executes its object and returns the outputs. The search calls this
  /// function in a process of its own. Null if operations are not to be compiled alone.
  std::function<Result<std::vector<OwnedTensor>>(mlir::ModuleOp module, const PlainInputs &inputs)> runCompiled;
  /// Called with a line of text after each part of the search; may be null.
  std::function<void(const std::string &)> progress;
};

/// The result of a search.
struct BisectVerdict {
  /// |isFound| is true if there are wrong numbers; |phase| is then the first phase that was judged wrong.
  /// |isPhaseKnown| is false if the phase before it could not be judged, so that the numbers may have become wrong
  /// earlier.
  bool isFound = false, isPhaseKnown = true;
  Phase phase = Phase::Import;
  /// The last phase whose numbers are right.
  Phase last = Phase::Import;
  /// The steps of the phase that make numbers wrong. More than one if the modules between them cannot be executed.
  /// Empty for the phases `import`, `llvm` and `object`, which have no passes of MLIR, if |isPhaseKnown| is false, and
  /// if the numbers are wrong already before the first step that is searched.
  std::vector<PassStep> steps;
  /// The name of the function that the steps made wrong, and the text of its `tile.kernel`; empty if not known.
  std::string function, kernel;
  /// The pattern rewrite that made the function wrong, if the search found one.
  std::optional<Rewrite> rewrite;
  /// The name and location of the operation of the module |after| that computes the first different value
  /// (FirstDifference.h). Searched only if |operation|, |rewrite| and |kernel| were not found; "" if not known.
  std::string firstDifference;
  /// In the phase `import`, the first wrong output.
  std::optional<FirstWrongOutput> firstWrong;
  /// In the phases `llvm` and `object`, the part of LLVM that makes the numbers wrong, if the search found it.
  std::optional<CodePart> part;
  /// In the phase `object`, an element of a weight whose value in the weights file is not the value that the definition
  /// of the weight's source gives. `output` is the name of the weight.
  std::optional<WrongValue> weight;
  /// The wrong value. If the module crashes or does not end, |reason| says so, and |value| is empty.
  WrongValue value;
  std::string reason;
  /// The modules before and after the steps or, without steps, before and after the phase; null if |phase| is `import`,
  /// `llvm` or `object`.
  mlir::OwningOpRef<mlir::ModuleOp> before, after;
  /// A module of one operation that the step makes wrong, this module after the step, and the wrong value that it then
  /// computes. In the phases `llvm` and `object`, an operation of the phase `dialect` that is wrong when it is compiled
  /// alone; |operationAfter| is null then.
  std::optional<SingleOperation> operation;
  mlir::OwningOpRef<mlir::ModuleOp> operationAfter;
  WrongValue operationValue;
  /// Phases that could not be judged, with reasons.
  std::vector<std::pair<Phase, std::string>> unknown;
};

/// Compares the outputs of |imported|, IR of the phase `import`, with |outputs|, those of a reference. |judge| must
/// expect the outputs of |imported|. If outputs differ by more than |judge| allows, marks |verdict| as found in this
/// phase, with the first wrong output and its worst value, and returns the judgment of that output. Returns Unknown if
/// |outputs| lacks an output.
Judgment judgeImport(mlir::ModuleOp imported, const Judge &judge, const std::vector<OwnedTensor> &outputs, BisectVerdict &verdict);

class Bisector {
public:
  /// |imported| is IR of the phase `import`, in a context with multithreading disabled. All arguments must outlive this
  /// object.
  Bisector(mlir::ModuleOp imported, const PlainWeights &weights, const PlainInputs &inputs, const BisectOptions &options)
      : imported(imported), weights(weights), inputs(inputs), options(options) {}

  /// Searches for the origin of wrong numbers. Fails if the module of the phase `import` cannot be executed, if a phase
  /// cannot be run, if `good` lacks an output, or if `code` fails. Passes must be registered, so that a step can be run
  /// on one operation.
  Result<BisectVerdict> run();

private:
  /// The steps of the phase `dialect` that round operands of projections, weights, or keys and values in caches.
  struct Rounding {
    /// The last of these steps, -1 if there are none. The outputs of the module after this step are expected of all
    /// later modules.
    int64_t last = -1;
    /// If the numbers are wrong already before one of these steps, the number of the step just before it, whose module
    /// is wrong; -1 stands for the module before the phase. Else nullopt.
    std::optional<int64_t> wrong;
  };
  /// Finds the steps of |replay| that round, and judges the modules before them; |replay| must have run. From then on,
  /// |judgeOfPhase| expects the outputs of the module after the last of these steps, or, if `good` is not empty, `good`
  /// within the bounds of that module.
  Result<Rounding> expectRounding(PhaseReplay &replay);
  /// Returns true if the phases `bufferized` and `object` are right; false also if one of them cannot be judged or if
  /// `code` is null. Changes |judgeOfPhase|.
  Result<bool> judgeBriefly();
  Status judgePhases(BisectVerdict &verdict);
  /// Judges the phases `llvm` and `object` and searches for the weight or the part of LLVM that makes them wrong.
  /// |described| is the module of the phase `vector`, which declares the weights.
  Status judgeCode(mlir::ModuleOp described, BisectVerdict &verdict);
  /// Compares the f32 weights of |module| that have an offset in the weights file with the definitions of their
  /// sources. Returns the element whose error exceeds the allowed one by the largest factor; nullopt if no error does,
  /// or if there is no weights file.
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
  /// Finds the function of |verdict|.after that differs from the one in |verdict|.before and makes the module wrong.
  void searchFunction(BisectVerdict &verdict);
  Status searchRewrite(PhaseReplay &replay, size_t step, BisectVerdict &verdict);
  void searchOperation(BisectVerdict &verdict);
  /// Compares the values inside of the modules before and after the steps.
  void searchFirstDifference(BisectVerdict &verdict);
  /// Finds an operation of the phase `dialect` whose object gives wrong numbers when the operation is compiled alone.
  void searchCompiledOperation(BisectVerdict &verdict);
  /// Judges the outputs of |object|, see ModelCode::execute.
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
  /// The entries of the model, for modules of the phase `target`, which do not describe their entries; nullopt in
  /// earlier phases.
  std::optional<PlainSignature> signature;
};

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_BISECTOR_H
