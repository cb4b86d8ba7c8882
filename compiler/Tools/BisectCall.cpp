//===- BisectCall.cpp - The search on one call ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With a good setting, results of compiled code are compared first. Below, `setting` and `good` stand for the results
// of code that the call's own setting and the good setting compile, and `definitions` for the results of the module of
// the phase `import`, executed by the plain path. a ~ b means that the results of a and b differ by at most the bound
// that Judge.h measures. The first row that holds applies:
//
//   setting ~ good            nothing is searched
//   good ~ definitions, or    the setting is wrong; its modules are judged by the results of the good setting
//     good cannot be judged
//   import of good            the two settings read different models; nothing is searched
//     !~ definitions
//   setting ~ definitions     the good setting is wrong, and is searched instead
//   otherwise                 the setting is searched, by the definitions
//
//===----------------------------------------------------------------------===//

#include "compiler/Tools/BisectCall.h"
#include "compiler/Tools/CompilerCommands.h"

using namespace attune;

static void report(const std::string &text) { reportNotice("attune", text); }

Result<const ModelCode *> BisectSession::compile(const PlainInputs &inputs) {
  if (!compiled) {
    Result<std::unique_ptr<CompiledCall>> made = CompiledCall::create(model, request.call.compile, listener, request.threads);
    if (!made)
      return made.status();
    compiled = std::move(*made);
    if (request.codeHooks.afterPacking)
      request.codeHooks.afterPacking(compiled->weightsPath());
  }
  return &compiled->code(inputs);
}

Result<PlainWeights> BisectSession::readWeights() {
  if (!calibrated) {
    Result<std::vector<CalibratedRows>> rows = model.calibrate();
    if (!rows)
      return rows.status();
    calibrated = std::move(*rows);
  }
  return PlainWeights(model.tensors(), *calibrated);
}

Result<BisectVerdict> BisectSession::searchModel(const PlainInputs &inputs, const std::vector<OwnedTensor> &good, bool isBrief) {
  BisectOptions options;
  options.isBrief = isBrief;
  if (good.empty())
    options.expected = request.expected;
  options.good = good;
  options.hooks = request.hooks;
  options.codeHooks = request.codeHooks;
  options.code = [&] { return compile(inputs); };
  // runAlone packs the tensors of the model's folder. With adapters or calibration the weights of the model differ from
  // these.
  if (request.call.compile.adapters.empty() && request.call.compile.calibrate.empty())
    options.runCompiled = [&](mlir::ModuleOp ir, const PlainInputs &alone) { return compiled->runAlone(ir, alone); };
  options.progress = report;
  Result<PlainWeights> weights = readWeights();
  if (!weights)
    return weights.status();
  return Bisector(model.module(), *weights, inputs, options).run();
}

Result<BisectOutcome> BisectSession::search(const PlainInputs &inputs, bool isBrief) {
  if (request.good)
    return compare(inputs);
  Result<BisectVerdict> verdict = searchModel(inputs, {}, isBrief);
  if (!verdict)
    return verdict.status();
  BisectOutcome outcome;
  outcome.verdict = std::move(*verdict);
  outcome.call = request.call;
  outcome.threads = request.threads;
  return outcome;
}

/// Sets |verdict| to wrong numbers in |phase|, with the value and the reason of |judgment|.
static void setWrong(BisectVerdict &verdict, Phase phase, const Judgment &judgment) {
  verdict.isFound = true;
  verdict.phase = phase;
  verdict.value = judgment.worst;
  verdict.reason = judgment.reason;
}

Result<BisectOutcome> BisectSession::compare(const PlainInputs &inputs) {
  const GoodSetting &good = *request.good;
  BisectOutcome outcome;
  outcome.good = good.text();
  outcome.call = request.call;
  outcome.threads = request.threads;
  Result<Judge> definitions = Judge::create(model.module(), model.tensors(), inputs);
  if (!definitions)
    return Status::error("the phase 'import' cannot be executed: " + definitions.message());
  Result<std::vector<OwnedTensor>> results = good.run(request.call, inputs, request.threads);
  if (!results)
    return Status::error("--good: " + results.message());
  Judge byGood = *definitions;
  if (Status status = byGood.expect(*results); status.failed())
    return Status::error("--good: " + status.message());
  Result<const ModelCode *> code = compile(inputs);
  if (!code)
    return code.status();
  Result<std::string> object = CodeSearch(**code, request.codeHooks).object();
  if (!object)
    return object.status();
  auto execute = [&] { return (*code)->execute(*object); };
  Judgment ofResults = byGood.judgeCall(execute);
  const bool isDifferent = ofResults.kind == Judgment::Wrong && ofResults.reason.empty();
  report("results of both settings: " + (ofResults.kind == Judgment::Right ? "equal" : isDifferent ? "different" : ofResults.text()));
  if (ofResults.kind == Judgment::Right) {
    outcome.relation = BisectOutcome::Agrees;
    outcome.verdict.last = Phase::Object;
    return outcome;
  }

  Judgment ofGood = definitions->judgeOutputs(*results);
  if (ofGood.kind == Judgment::Wrong) {
    report("the good setting by the definitions: " + ofGood.text());
    Result<std::vector<OwnedTensor>> imported = good.runPhase(Phase::Import, request.call, inputs);
    if (imported && judgeImport(model.module(), *definitions, *imported, outcome.verdict).kind == Judgment::Wrong) {
      outcome.relation = BisectOutcome::ReadsOtherwise;
      return outcome;
    }
    Judgment ours = definitions->judgeCall(execute);
    if (ours.kind == Judgment::Right) {
      outcome.relation = BisectOutcome::GoodIsWrong;
      if (Status status = searchGood(inputs, *definitions, outcome); status.failed())
        return status;
      if (!outcome.verdict.isFound)
        setWrong(outcome.verdict, Phase::Object, ofGood);
      return outcome;
    }
    outcome.relation = ours.kind == Judgment::Wrong ? BisectOutcome::BothAreWrong : BisectOutcome::GoodIsWrongAlone;
    results->clear();
  }
  Result<BisectVerdict> verdict = searchModel(inputs, *results);
  if (!verdict)
    return verdict.status();
  outcome.verdict = std::move(*verdict);
  if (!outcome.verdict.isFound && ofResults.kind == Judgment::Wrong && outcome.relation != BisectOutcome::GoodIsWrongAlone) {
    // No phase, the object included, was wrong when it was executed again.
    outcome.verdict.isPhaseKnown = false;
    setWrong(outcome.verdict, Phase::Object, ofResults);
  }
  Phase phase = outcome.verdict.phase;
  if (!outcome.verdict.isFound || results->empty() || phase == Phase::Object)
    return outcome;
  Result<std::vector<OwnedTensor>> same = good.runPhase(phase, request.call, inputs);
  Judgment ofSame;
  ofSame.reason = same.message();
  outcome.goodAtPhase = (same ? byGood.judgeOutputs(*same) : ofSame).text();
  report("the good setting, " + stringifyPhase(phase).str() + ": " + outcome.goodAtPhase);
  return outcome;
}

Status BisectSession::searchGood(const PlainInputs &inputs, const Judge &definitions, BisectOutcome &outcome) {
  const GoodSetting &good = *request.good;
  if (!good.isOtherProgram()) {
    BisectCall other;
    other.threads = request.threads;
    Result<PlainCall> call = good.apply(request.call, other.threads);
    if (!call)
      return call.status();
    outcome.call = other.call = *call;
    outcome.threads = other.threads;
    Result<std::unique_ptr<LoadedModel>> imported = LoadedModel::import(other.call.compile, listener);
    if (!imported)
      return imported.status();
    Result<BisectVerdict> verdict = BisectSession(other, **imported, listener).searchModel(inputs, {});
    if (!verdict)
      return verdict.status();
    outcome.verdict = std::move(*verdict);
    outcome.model = std::move(*imported);
    return {};
  }
  // The passes of another program cannot be replayed here.
  outcome.call.reset();
  BisectVerdict &verdict = outcome.verdict;
  for (Phase phase :
       {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target, Phase::Llvm}) {
    Result<std::vector<OwnedTensor>> outputs = good.runPhase(phase, request.call, inputs);
    Judgment judgment;
    judgment.reason = outputs.message();
    if (outputs)
      judgment = definitions.judgeOutputs(*outputs);
    report("the good setting, " + stringifyPhase(phase).str() + ": " + judgment.text());
    if (judgment.kind == Judgment::Wrong) {
      setWrong(verdict, phase, judgment);
      return {};
    }
    verdict.isPhaseKnown = judgment.kind == Judgment::Right;
    if (verdict.isPhaseKnown)
      verdict.last = phase;
    else
      verdict.unknown.push_back({phase, judgment.reason});
  }
  return {};
}
