//===- Bisection.cpp - The pass that makes a number wrong -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/Bisection.h"
#include "compiler/Bisect/ShapeSearch.h"
#include "compiler/Bisect/Surgery.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"

#include <cmath>
#include <cstdio>

using namespace mlir;
using namespace attune;

namespace {
/// The module after a pass.
struct Snapshot {
  PassStep step;
  OwningOpRef<ModuleOp> module;
};

/// The comparison of a module with the one before it.
struct Judgement {
  enum Kind { Good, Wrong, Unknown } kind = Good;
  std::string reason;
};

class Bisector {
public:
  explicit Bisector(const BisectOptions &options) : options(options) {}
  Result<Verdict> run();

private:
  /// Runs the module in this process; twice, with other contents of unwritten memory, unless |wide|.
  Result<std::vector<OwnedTensor>> executeHere(ModuleOp module, const PlainInputs &inputs, bool wide);
  RunOutcome execute(ModuleOp module, const PlainInputs &inputs, bool wide = false);
  Judgement judge(const RunOutcome &before, const RunOutcome &after, bool mayRound) const;
  /// Measures the outputs of `import`, which all others are compared with.
  Status measureImport(const PlainInputs &inputs);
  /// Looks for the error in all phases. |thorough| also compares the passes of a phase whose result is right.
  Status searchPhases(const PlainInputs &inputs, bool thorough);
  Status searchPasses(std::vector<Snapshot> &snapshots, ModuleOp start, const RunOutcome &outcome, const PlainInputs &inputs);
  void searchFunctions(ModuleOp before, ModuleOp after, const RunOutcome &outcome, const PlainInputs &inputs);
  void searchOps(ModuleOp before, const RunOutcome &outcome, const PlainInputs &inputs);
  Status searchOthers(const PlainInputs &inputs);
  void finish(const PlainInputs &inputs);
  void say(const std::string &message) const {
    if (options.progress)
      options.progress(message);
  }

  const BisectOptions &options;
  Verdict verdict;
  std::string reason;
  std::optional<Envelope> envelope;
  RunOutcome imported;
  /// The entries, from the last phase that describes them.
  std::optional<PlainSignature> signature;
  /// The module of the phase `target`, after all passes were run one by one.
  OwningOpRef<ModuleOp> lowered;
};
} // namespace

Result<std::vector<OwnedTensor>> Bisector::executeHere(ModuleOp module, const PlainInputs &inputs, bool wide) {
  PlainOptions plain;
  plain.wide = wide;
  Result<std::unique_ptr<PlainModel>> model =
      PlainModel::create(module, verdict.model->tensors(), plain, signature ? &*signature : nullptr);
  if (!model)
    return model.status();
  Result<std::vector<OwnedTensor>> outputs = runPlainly(**model, inputs);
  if (!outputs || wide)
    return outputs;
  // Again with other contents of the memory that nothing has written.
  (*model)->setPoison(0x11);
  Result<std::vector<OwnedTensor>> again = runPlainly(**model, inputs);
  if (!again)
    return again.status();
  std::string difference = describeDifference(*outputs, *again);
  if (!difference.empty())
    outputs->push_back({{"?" + difference, DType::I8, {0}}, {}});
  return outputs;
}

RunOutcome Bisector::execute(ModuleOp module, const PlainInputs &inputs, bool wide) {
  return runIsolated([&] { return executeHere(module, inputs, wide); });
}

/// Returns the element of |outcome| that depends on memory which nothing has written, "" if there is none.
static std::string findUndefined(const RunOutcome &outcome) {
  for (const OwnedTensor &tensor : outcome.outputs)
    if (!tensor.spec.name.empty() && tensor.spec.name[0] == '?')
      return tensor.spec.name.substr(1);
  return "";
}

static std::string formatRatio(double ratio) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", ratio);
  return text;
}

Judgement Bisector::judge(const RunOutcome &before, const RunOutcome &after, bool mayRound) const {
  if (before.kind != RunOutcome::Ran || after.kind == RunOutcome::Refused)
    return {Judgement::Unknown, after.reason};
  if (after.kind == RunOutcome::Crashed)
    return {Judgement::Wrong, "the code " + after.reason};
  std::string undefined = findUndefined(after);
  if (!undefined.empty() && findUndefined(before).empty())
    return {Judgement::Wrong, "results depend on memory that nothing has written: with other contents " + undefined};
  std::string difference = describeDifference(before.outputs, after.outputs);
  if (difference.empty())
    return {};
  Deviation now = envelope->measure(after.outputs), then = envelope->measure(before.outputs);
  if (!mayRound)
    return {Judgement::Wrong, "the pass is exact, but " + difference + " (" + now.text() + ")"};
  if (now.ratio > kWrong && now.ratio > 2 * then.ratio)
    return {Judgement::Wrong, now.text() + " (before the pass " + formatRatio(then.ratio) + " times)"};
  return {};
}

Status Bisector::measureImport(const PlainInputs &inputs) {
  signature.reset();
  ModuleOp module = verdict.model->module();
  imported = execute(module, inputs);
  if (imported.kind != RunOutcome::Ran)
    return Status::error("the phase 'import' cannot be run: " + imported.reason);
  RunOutcome exact = execute(module, inputs, /*wide=*/true);
  if (exact.kind != RunOutcome::Ran)
    return Status::error("the phase 'import' cannot be run in f64: " + exact.reason);
  envelope.emplace(exact.outputs, imported.outputs);
  return {};
}

void Bisector::searchOps(ModuleOp before, const RunOutcome &outcome, const PlainInputs &inputs) {
  std::vector<Candidate> candidates = listCandidates(before, verdict.function);
  if (candidates.size() == 1)
    verdict.op = candidates[0].text;
  if (candidates.size() < 2 || candidates.size() > 64)
    return;
  bool mayRound = verdict.step.mayRound();
  for (bool alone : {true, false})
    for (const Candidate &tried : candidates) {
      say("operation " + tried.text);
      auto visible = [&](const Candidate &candidate) { return (candidate.number == tried.number) == alone; };
      // The pass was not made for a function of which parts are hidden, so it runs in the other process, too.
      RunOutcome now = runIsolated([&]() -> Result<std::vector<OwnedTensor>> {
        Result<OwningOpRef<ModuleOp>> after = runPassOnOps(before, verdict.function, visible, verdict.step, options.hook);
        return after ? executeHere(**after, inputs, /*wide=*/false) : Result<std::vector<OwnedTensor>>(after.status());
      });
      if (now.kind != RunOutcome::Ran)
        continue;
      Judgement judgement = judge(outcome, now, mayRound);
      // The pass is wrong on this operation alone, or right without it.
      if (judgement.kind == (alone ? Judgement::Wrong : Judgement::Good)) {
        verdict.op = tried.text;
        return;
      }
    }
}

void Bisector::searchFunctions(ModuleOp before, ModuleOp after, const RunOutcome &outcome, const PlainInputs &inputs) {
  std::vector<std::string> changed = listChangedFunctions(before, after);
  for (const std::string &name : changed) {
    say("function " + name);
    Result<OwningOpRef<ModuleOp>> mixed = transplantFunction(before, after, name);
    if (!mixed)
      continue;
    if (judge(outcome, execute(**mixed, inputs), verdict.step.mayRound()).kind == Judgement::Wrong) {
      verdict.function = name;
      break;
    }
  }
  if (verdict.function.empty() && changed.size() == 1)
    verdict.function = changed[0];
  if (!verdict.function.empty())
    searchOps(before, outcome, inputs);
}

Status Bisector::searchPasses(std::vector<Snapshot> &snapshots, ModuleOp start, const RunOutcome &outcome, const PlainInputs &inputs) {
  ModuleOp before = start;
  RunOutcome last = outcome;
  std::string skipped;
  for (Snapshot &snapshot : snapshots) {
    if (!snapshot.module)
      continue; // the pass changes nothing
    say("pass " + snapshot.step.name);
    RunOutcome now = execute(*snapshot.module, inputs);
    Judgement judgement = judge(last, now, snapshot.step.mayRound());
    if (judgement.kind == Judgement::Unknown) {
      skipped += (skipped.empty() ? "" : ", ") + snapshot.step.name;
      continue;
    }
    if (judgement.kind == Judgement::Wrong) {
      verdict.found = true;
      verdict.phase = stringifyPhase(snapshot.step.phase).str();
      verdict.pass = snapshot.step.name;
      verdict.step = snapshot.step;
      verdict.before = cast<ModuleOp>(before->clone());
      reason = judgement.reason;
      if (!skipped.empty())
        reason += "; the modules after " + skipped + " cannot be run, so it may also be one of these";
      searchFunctions(before, *snapshot.module, last, inputs);
      return {};
    }
    before = *snapshot.module;
    last = std::move(now);
    skipped.clear();
  }
  return {};
}

Status Bisector::searchPhases(const PlainInputs &inputs, bool thorough) {
  if (Status status = measureImport(inputs); status.failed())
    return status;
  OwningOpRef<ModuleOp> current = cast<ModuleOp>(verdict.model->module()->clone());
  RunOutcome outcome = imported;
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target}) {
    say("phase " + stringifyPhase(phase).str());
    if (phase == Phase::Target)
      if (Result<PlainSignature> read = readPlainSignature(*current); read)
        signature.emplace(*read);
    Result<std::vector<PassStep>> steps = listPasses(*current, phase);
    if (!steps)
      return steps.status();
    OwningOpRef<ModuleOp> start = cast<ModuleOp>(current->clone());
    std::vector<Snapshot> snapshots;
    Operation *last = *start;
    bool mayRound = false;
    for (const PassStep &step : *steps) {
      mayRound |= step.mayRound();
      if (Status status = runPass(*current, step, options.hook); status.failed())
        return status;
      snapshots.push_back({step, nullptr});
      if (OperationEquivalence::isEquivalentTo(last, *current, OperationEquivalence::IgnoreLocations))
        continue;
      snapshots.back().module = cast<ModuleOp>(current->clone());
      last = *snapshots.back().module;
    }
    RunOutcome now = execute(*current, inputs);
    Judgement judgement = judge(outcome, now, mayRound);
    if (judgement.kind == Judgement::Unknown)
      return Status::error("the phase '" + stringifyPhase(phase).str() + "' cannot be run: " + now.reason);
    if (judgement.kind == Judgement::Wrong || (thorough && mayRound)) {
      if (Status status = searchPasses(snapshots, *start, outcome, inputs); status.failed() || verdict.found)
        return status;
      if (judgement.kind == Judgement::Wrong) {
        verdict.found = true;
        verdict.phase = stringifyPhase(phase).str();
        reason = judgement.reason;
        return {};
      }
    }
    outcome = std::move(now);
  }
  lowered = std::move(current);
  imported = std::move(outcome);
  return {};
}

/// Compares what is behind the passes: the order of workers, and LLVM.
Status Bisector::searchOthers(const PlainInputs &inputs) {
  auto executeTarget = [&](const PlainOptions &plain) {
    return runIsolated([&]() -> Result<std::vector<OwnedTensor>> {
      Result<std::unique_ptr<PlainModel>> model = PlainModel::create(*lowered, verdict.model->tensors(), plain, &*signature);
      return model ? runPlainly(**model, inputs) : Result<std::vector<OwnedTensor>>(model.status());
    });
  };
  say("workers");
  PlainOptions reverse;
  reverse.reverse = true;
  Judgement judgement = judge(imported, executeTarget(reverse), false);
  if (judgement.kind == Judgement::Wrong) {
    verdict.found = true;
    verdict.phase = stringifyPhase(Phase::Target).str();
    reason = "results depend on the order of parallel iterations or on the number of the worker: " + judgement.reason;
    return {};
  }
  if (options.hook)
    return {}; // LLVM IR comes from a compilation without the hook
  say("phase llvm");
  Result<std::string> text = verdict.model->compileToLLVM();
  if (!text)
    return text.status();
  PlainOptions compiled;
  compiled.llvmText = std::move(*text);
  judgement = judge(imported, executeTarget(compiled), false);
  if (judgement.kind == Judgement::Wrong) {
    verdict.found = true;
    verdict.phase = stringifyPhase(Phase::Llvm).str();
    reason = judgement.reason;
  }
  return {};
}

static std::string describeInputs(const PlainInputs &inputs) {
  std::string text;
  for (const OwnedTensor &tensor : inputs.tensors)
    text += (text.empty() ? "" : ", ") + tensor.spec.name + " " + shapeText(tensor.spec.shape);
  return text;
}

void Bisector::finish(const PlainInputs &inputs) {
  verdict.inputs = inputs;
  if (!verdict.found) {
    verdict.text = "no difference: all phases give the same results within the rounding errors of f32";
    return;
  }
  std::string &text = verdict.text;
  text = "The phase '" + verdict.phase + "'";
  if (!verdict.pass.empty())
    text = "The pass '" + verdict.pass + "' of the phase '" + verdict.phase + "'";
  text += " makes results wrong: " + reason + ".";
  if (!verdict.function.empty()) {
    text += " Function: @" + verdict.function;
    if (verdict.before)
      if (auto function = verdict.before->lookupSymbol<func::FuncOp>(verdict.function))
        if (tiles::KernelAttr kernel = tiles::getKernel(function))
          text += " (" + kernel.getText().str() + ")";
    text += ".";
  }
  if (!verdict.op.empty())
    text += " Operation: " + verdict.op + ".";
  text += " Inputs: " + describeInputs(inputs) + ".";
  if (verdict.step.mayRound())
    for (const OwnedTensor &output : imported.outputs)
      verdict.tolerance = std::max(verdict.tolerance, kWrong * envelope->largestUnit(output.spec.name));
}

Result<Verdict> Bisector::run() {
  registerPassesOfSteps();
  Result<std::unique_ptr<LoadedModel>> loaded = LoadedModel::import(options.compile);
  if (!loaded)
    return loaded.status();
  verdict.model = std::move(*loaded);
  Result<PlainSignature> entries = readPlainSignature(verdict.model->module());
  if (!entries)
    return entries.status();
  PlainInputs inputs = options.inputs;
  if (inputs.tensors.empty()) {
    Result<PlainInputs> made = makeInputs(*entries, {2, 7});
    if (!made)
      return made.status();
    inputs = std::move(*made);
  }
  if (Status status = searchPhases(inputs, /*thorough=*/false); status.failed())
    return status;
  if (!verdict.found && !options.expected.empty()) {
    // All phases agree: then the model that was imported is wrong, or nothing is.
    for (const OwnedTensor &expected : options.expected) {
      auto allowed = options.tolerances.find(expected.spec.name);
      for (const OwnedTensor &output : imported.outputs)
        if (output.spec.name == expected.spec.name && output.spec.shape == expected.spec.shape && allowed != options.tolerances.end()) {
          Envelope reference({expected}, {expected});
          Deviation deviation = reference.measure({output});
          if (std::fabs(deviation.got - deviation.exact) > allowed->second || std::isinf(deviation.ratio)) {
            verdict.found = true;
            verdict.phase = stringifyPhase(Phase::Import).str();
            reason = "all phases agree, but " + deviation.element + " differs from the expected value: " + std::to_string(deviation.got) +
                     ", expected " + std::to_string(deviation.exact);
          }
        }
    }
  }
  if (!verdict.found)
    if (Status status = searchOthers(inputs); status.failed())
      return status;
  if (!verdict.found && options.searchFurther && inputs.steps.empty())
    for (CallShape shape : listShapes()) {
      Result<PlainInputs> made = makeInputs(*entries, shape);
      if (!made)
        break;
      say("shape " + std::to_string(shape.batch) + " x " + std::to_string(shape.length));
      // A shape beyond the limits of the model is no error.
      OwningOpRef<ModuleOp> keep = std::move(lowered);
      std::optional<PlainSignature> described = signature;
      if (measureImport(*made).failed()) {
        lowered = std::move(keep);
        signature = described;
        continue;
      }
      signature = described;
      lowered = std::move(keep);
      if (judge(imported, execute(*lowered, *made), /*mayRound=*/true).kind != Judgement::Wrong)
        continue;
      inputs = std::move(*made);
      if (Status status = searchPhases(inputs, false); status.failed())
        return status;
      break;
    }
  if (!verdict.found && options.searchFurther)
    if (Status status = searchPhases(inputs, /*thorough=*/true); status.failed())
      return status;
  finish(inputs);
  return std::move(verdict);
}

Result<Verdict> attune::bisectModel(const BisectOptions &options) { return Bisector(options).run(); }
