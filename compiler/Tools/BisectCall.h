//===- BisectCall.h - The search on one call --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_BISECTCALL_H
#define ATTUNE_COMPILER_TOOLS_BISECTCALL_H

#include "compiler/Bisect/Bisector.h"
#include "compiler/Tools/CompiledCall.h"
#include "compiler/Tools/GoodSetting.h"

namespace attune {

/// A call of a model that is searched for the origin of wrong numbers.
struct BisectCall {
  PlainCall call;
  /// The number of threads of sessions, 0 for the default.
  int64_t threads = 0;
  /// Outputs by the reference implementation, from a case; may be empty.
  std::vector<OwnedTensor> expected;
  /// The setting that is right; nullopt if modules are judged by the definitions of operations.
  std::optional<GoodSetting> good;
  /// Functions that tests insert errors by.
  ReplayHooks hooks;
  CodeHooks codeHooks;
};

/// The result of a search.
struct BisectOutcome {
  /// The good setting's model, whose context the modules of |verdict| have, if it was searched.
  std::unique_ptr<LoadedModel> model;
  BisectVerdict verdict;
  /// The relation of the setting to the good one.
  enum Relation {
    /// There is no good setting, or its results are those of the definitions of operations.
    GoodIsRight,
    /// The results of both settings are equal within the bound.
    Agrees,
    /// The modules of the phase `import` differ.
    ReadsOtherwise,
    /// The results of the good setting are wrong by the definitions, those of the setting are right; |verdict| is that
    /// of the good one.
    GoodIsWrong,
    /// The results of both are wrong.
    BothAreWrong,
    /// The results of the good setting are wrong by the definitions; the setting's could not be judged by them.
    GoodIsWrongAlone,
  } relation = GoodIsRight;
  /// The good setting, "" if there is none, and the judgment of its module of the phase of the verdict.
  std::string good, goodAtPhase;
  /// The call of the setting that was searched; nullopt if it belongs to another program.
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

  /// Searches the call on |inputs|.
  Result<BisectOutcome> search(const PlainInputs &inputs);

private:
  Result<BisectVerdict> searchModel(const PlainInputs &inputs, const std::vector<OwnedTensor> &good);
  Result<BisectOutcome> compare(const PlainInputs &inputs);
  /// Searches the good setting, whose results are wrong by |definitions|.
  Status searchGood(const PlainInputs &inputs, const Judge &definitions, BisectOutcome &outcome);
  /// Compiles the model at the first call.
  Result<const ModelCode *> compile(const PlainInputs &inputs);

  const BisectCall &request;
  const LoadedModel &model;
  CompileListener listener;
  std::unique_ptr<CompiledCall> compiled;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_BISECTCALL_H
