//===- BisectCall.h - The search on one call --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTCALL_H
#define ATTUNE_COMPILER_TOOLS_BISECTCALL_H

#include "compiler/Bisect/Bisector.h"
#include "compiler/Tools/CompiledCall.h"
#include "compiler/Tools/GoodSetting.h"

namespace attune {

/// A call of a model, and the reference for the search for wrong numbers in its results.
struct BisectCall {
  PlainCall call;
  /// The number of threads of sessions, 0 for the default.
  int64_t threads = 0;
  /// The expected outputs that the golden case stores; empty if the call is not that of a case or the case stores none.
  std::vector<OwnedTensor> expected;
  /// The setting whose results count as right (GoodSetting.h); nullopt if modules are judged by the definitions of
  /// operations, which the plain path executes.
  std::optional<GoodSetting> good;
  /// Functions by which tests insert errors.
  ReplayHooks hooks;
  CodeHooks codeHooks;
};

/// The result of a search.
struct BisectOutcome {
  /// The imported model of the good setting if the search was on that setting, else null. If it is not null, the
  /// modules of |verdict| belong to the MLIR context of this model.
  std::unique_ptr<LoadedModel> model;
  BisectVerdict verdict;
  /// The relation of the results of the call's own setting to those of the good setting.
  enum Relation {
    /// There is no good setting, or its results are not wrong by the definitions of operations.
    GoodIsRight,
    /// The results of both settings are equal within the bound that Judge.h measures.
    Agrees,
    /// The modules of the phase `import` of the two settings give different results.
    ReadsOtherwise,
    /// By the definitions of operations, the results of the good setting are wrong and those of the call are right;
    /// |verdict| is about the good setting.
    GoodIsWrong,
    /// The results of both settings are wrong by the definitions.
    BothAreWrong,
    /// The results of the good setting are wrong by the definitions; those of the call could not be judged by them.
    GoodIsWrongAlone,
  } relation = GoodIsRight;
  /// |good| is the text of the good setting, "" if there is none. |goodAtPhase| is the judgment on the results of the
  /// good setting after the phase of |verdict|, "" if there was no attempt to compute them.
  std::string good, goodAtPhase;
  /// The call that was searched, with the flags of its setting; nullopt if that setting belongs to another program.
  std::optional<PlainCall> call;
  /// The number of threads of that call, 0 for the default.
  int64_t threads = 0;
};

/// Searches calls of one model.
class BisectSession {
public:
  /// |request| has the call that |model| was imported for. Both must outlive this object.
  BisectSession(const BisectCall &request, const LoadedModel &model, CompileListener listener = {})
      : request(request), model(model), listener(std::move(listener)) {}

  /// Searches the call on |inputs|. If |isBrief| and there is no good setting, judges the phases `bufferized` and
  /// `object` first, and the others only if one of these two is not right.
  Result<BisectOutcome> search(const PlainInputs &inputs, bool isBrief = false);

private:
  Result<BisectVerdict> searchModel(const PlainInputs &inputs, const std::vector<OwnedTensor> &good, bool isBrief = false);
  Result<BisectOutcome> compare(const PlainInputs &inputs);
  /// Searches the good setting, whose results are wrong by |definitions|, and sets the verdict, the model and the call
  /// of |outcome|.
  Status searchGood(const PlainInputs &inputs, const Judge &definitions, BisectOutcome &outcome);
  /// Returns the weights of the model; calibrates them at the first call if the flags ask for that.
  Result<PlainWeights> readWeights();
  /// Returns the code of the model for a call on |inputs|. Compiles the model when it is called for the first time.
  Result<const ModelCode *> compile(const PlainInputs &inputs);

  const BisectCall &request;
  const LoadedModel &model;
  CompileListener listener;
  std::unique_ptr<CompiledCall> compiled;
  std::optional<std::vector<CalibratedRows>> calibrated;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTCALL_H
