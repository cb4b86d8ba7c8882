//===- Bisector.cpp - Where do the numbers of a model become wrong? -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/Bisector.h"
#include "compiler/Bisect/FirstDifference.h"
#include "compiler/Plain/WeightValues.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace attune;

/// The most calls of one kind of operation in a function that are tried alone after a pass, and the most that are
/// compiled alone.
static constexpr size_t kMostCalls = 16, kMostCompiledCalls = 3;

/// Marks |verdict| as found, with the wrong value and the reason of |judgment|.
static void setWrong(BisectVerdict &verdict, const Judgment &judgment) {
  verdict.isFound = true;
  verdict.value = judgment.worst;
  verdict.reason = judgment.reason;
}

Judgment attune::judgeImport(ModuleOp imported, const Judge &judge, const std::vector<OwnedTensor> &outputs, BisectVerdict &verdict) {
  Judgment all = judge.judgeOutputs(outputs);
  if (all.kind != Judgment::Wrong)
    return all;
  std::vector<std::pair<std::string, Judgment>> each = judge.judgeEach(outputs);
  verdict.firstWrong = findFirstWrongOutput(imported, each);
  for (auto &[name, judgment] : each)
    if (verdict.firstWrong && name == verdict.firstWrong->name)
      all = std::move(judgment);
  // |judge| expects the module's values. In the verdict, the reference has the expected values and the module the
  // others.
  std::swap(all.worst.got, all.worst.expected);
  setWrong(verdict, all);
  return all;
}

Result<BisectVerdict> Bisector::run() {
  BisectVerdict verdict;
  Result<Judge> judge = Judge::create(imported, weights, inputs);
  if (!judge)
    return Status::error("the phase 'import' cannot be executed: " + judge.message());
  judgeOfPhase = std::move(*judge);
  if (!options.expected.empty()) {
    Judgment judgment = judgeImport(imported, *judgeOfPhase, options.expected, verdict);
    report("import: " + judgment.text());
    if (judgment.kind == Judgment::Wrong)
      return verdict;
    if (judgment.kind == Judgment::Unknown)
      verdict.unknown.push_back({Phase::Import, "by the outputs of the case: " + judgment.reason});
  }
  if (!options.good.empty())
    if (Status status = judgeOfPhase->expect(options.good); status.failed())
      return status;
  if (options.isBrief) {
    Judge ofImport = *judgeOfPhase;
    Result<bool> isRight = judgeBriefly();
    judgeOfPhase = std::move(ofImport);
    if (!isRight)
      return isRight.status();
    if (*isRight) {
      verdict.last = Phase::Object;
      return verdict;
    }
  }
  if (Status status = judgePhases(verdict); status.failed())
    return status;
  return verdict;
}

/// Returns true if |module| rounds values that it computes: operands of projections, or rows of caches. Rounded weights
/// alone do not count.
static bool roundsValues(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        auto linear = dyn_cast<xfmr::LinearOp>(op);
        auto update = dyn_cast<xfmr::KvCacheUpdateOp>(op);
        bool rounds = (linear && linear.getPrecision() != xfmr::Precision::F32) ||
                      (update && !getElementTypeOrSelf(update.getKeyCache().getType()).isF32());
        return rounds ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Result<Bisector::Rounding> Bisector::expectRounding(PhaseReplay &replay) {
  Rounding rounding;
  const std::vector<PassStep> &steps = replay.steps();
  for (StringRef pass : {"xfmr-lower-caches", "xfmr-assign-weight-formats", "xfmr-lower-precision", "xfmr-tie-embeddings"}) {
    // A pass on functions may have several steps.
    int64_t first = -1, last = -1;
    for (auto [number, step] : llvm::enumerate(steps))
      if (StringRef(step.pass).split('{').first == pass) {
        first = first < 0 ? int64_t(number) : first;
        last = int64_t(number);
      }
    // A tied embedding is rounded as its projection is: not at all if no earlier pass rounds.
    if (first < 0 || (pass == "xfmr-tie-embeddings" && rounding.last < 0))
      continue;
    Result<OwningOpRef<ModuleOp>> before = replay.moduleAfter(first - 1), after = replay.moduleAfter(last);
    if (!before || !after)
      return before ? after.status() : before.status();
    if (judge(**before).kind == Judgment::Wrong) {
      rounding.wrong = first - 1;
      return rounding;
    }
    Result<Judge> judge = Judge::create(**after, weights, inputs, roundsValues(**after));
    if (!judge)
      return rounding;
    judgeOfPhase = std::move(*judge);
    if (!options.good.empty())
      if (Status status = judgeOfPhase->expect(options.good); status.failed())
        return status;
    rounding.last = last;
    report("the results after the pass " + pass.str() + ", which rounds, are expected from there on");
  }
  return rounding;
}

Result<bool> Bisector::judgeBriefly() {
  if (!options.code)
    return false;
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(imported->clone());
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized}) {
    PhaseReplay replay(*module, phase, options.hooks);
    Result<OwningOpRef<ModuleOp>> next = replay.run();
    if (!next)
      return next.status();
    if (phase == Phase::Dialect)
      if (Result<Rounding> rounding = expectRounding(replay); !rounding || rounding->wrong)
        return rounding ? Result<bool>(false) : Result<bool>(rounding.status());
    module = std::move(*next);
  }
  Judgment ofBuffers = judge(*module);
  report("bufferized: " + ofBuffers.text());
  if (ofBuffers.kind != Judgment::Right)
    return false;
  Result<const ModelCode *> code = options.code();
  if (!code)
    return code.status();
  Result<std::string> object = CodeSearch(**code, options.codeHooks).object();
  if (!object)
    return object.status();
  Judgment ofObject = judgeObject(**code, *object);
  report("object: " + ofObject.text());
  return ofObject.kind == Judgment::Right;
}

/// The judgments of the modules after the steps of a phase.
class Bisector::StepJudge {
public:
  StepJudge(const Bisector &bisector, PhaseReplay &replay) : replay(replay), bisector(bisector) {}

  int64_t count() const { return int64_t(replay.steps().size()); }
  /// Judges the module after step |step|, or before the phase for -1. Keeps the judgment for further calls.
  const Judgment &at(int64_t step) {
    auto [place, isNew] = known.try_emplace(step);
    if (isNew) {
      Result<OwningOpRef<ModuleOp>> module = replay.moduleAfter(step);
      if (module)
        place->second = bisector.judge(**module);
      else
        place->second.reason = module.message();
    }
    return place->second;
  }

  PhaseReplay &replay;

private:
  const Bisector &bisector;
  std::map<int64_t, Judgment> known;
};

std::optional<int64_t> Bisector::findLastJudged(StepJudge &steps, int64_t begin) const {
  int64_t left = begin, right = steps.count() - 1;
  while (right - left > 1) {
    int64_t middle = left + (right - left) / 2;
    (steps.at(middle).kind == Judgment::Unknown ? right : left) = middle;
  }
  return left == begin ? std::nullopt : std::optional<int64_t>(left);
}

Status Bisector::judgePhases(BisectVerdict &verdict) {
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(imported->clone()), described;
  bool isKnown = true;
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target}) {
    if (phase == Phase::Target) {
      Result<PlainSignature> read = readPlainSignature(*module);
      if (!read)
        return read.status();
      signature = std::move(*read);
      described = cast<ModuleOp>(module->clone());
    }
    PhaseReplay replay(*module, phase, options.hooks);
    Result<OwningOpRef<ModuleOp>> next = replay.run();
    if (!next)
      return next.status();
    StepJudge steps(*this, replay);
    int64_t begin = -1, step = steps.count() - 1;
    if (phase == Phase::Dialect) {
      Result<Rounding> rounding = expectRounding(replay);
      if (!rounding)
        return rounding.status();
      begin = rounding->last;
      step = rounding->wrong.value_or(step);
    }
    Judgment judgment = step == steps.count() - 1 ? judge(**next) : steps.at(step);
    std::string name = stringifyPhase(phase).str();
    // If the plain path cannot execute the module after the phase, judges the module after the last step that it can
    // execute.
    if (judgment.kind == Judgment::Unknown && isKnown)
      if (std::optional<int64_t> last = findLastJudged(steps, begin)) {
        step = *last;
        judgment.reason = "after the pass " + StringRef(replay.steps()[size_t(step)].pass).split('{').first.str() + ": " + judgment.reason;
        if (steps.at(step).kind == Judgment::Wrong)
          judgment = steps.at(step);
      }
    report(name + ": " + judgment.text());
    if (judgment.kind == Judgment::Wrong) {
      verdict.phase = phase;
      setWrong(verdict, judgment);
      if (isKnown && step > begin)
        return searchSteps(steps, begin, step, verdict);
      verdict.isPhaseKnown = isKnown;
      verdict.before = std::move(module);
      verdict.after = std::move(*next);
      return {};
    }
    isKnown = judgment.kind == Judgment::Right;
    if (isKnown)
      verdict.last = phase;
    else
      verdict.unknown.push_back({phase, judgment.reason});
    module = std::move(*next);
    if (phase == Phase::Dialect)
      ofDialect = cast<ModuleOp>(module->clone());
  }
  verdict.isPhaseKnown = isKnown;
  if (!options.code)
    return {};
  Status status = judgeCode(*described, verdict);
  if (!status.failed() && verdict.isFound && options.runCompiled)
    searchCompiledOperation(verdict);
  return status;
}

Status Bisector::judgeCode(ModuleOp described, BisectVerdict &verdict) {
  Result<const ModelCode *> code = options.code();
  if (!code)
    return code.status();
  CodeSearch search(**code, options.codeHooks);
  auto judgeIr = [&](const std::string &ir) {
    PlainOptions plain;
    plain.llvmText = ir;
    return judgeOfPhase->judge(described, &*signature, plain);
  };
  auto judgeObject = [&](const std::string &object) { return this->judgeObject(**code, object); };
  // Adds |judgment| of |phase| to the verdict. Returns true if it is Wrong.
  auto note = [&](Phase phase, const Judgment &judgment) {
    report(stringifyPhase(phase).str() + ": " + judgment.text());
    if (judgment.kind == Judgment::Right) {
      verdict.last = phase;
      verdict.isPhaseKnown = true;
    } else if (judgment.kind == Judgment::Unknown) {
      verdict.unknown.push_back({phase, judgment.reason});
      verdict.isPhaseKnown = false;
    } else {
      verdict.phase = phase;
      setWrong(verdict, judgment);
    }
    return judgment.kind == Judgment::Wrong;
  };
  auto keep = [&](Result<std::optional<CodePart>> part) {
    if (!part)
      return part.status();
    verdict.part = std::move(*part);
    verdict.isPhaseKnown |= verdict.part.has_value();
    return Status();
  };

  Result<std::string> ir = search.optimized();
  if (!ir)
    return ir.status();
  Judgment ofIr = judgeIr(*ir);
  if (note(Phase::Llvm, ofIr))
    return (*code)->beforePasses.empty() ? Status() : keep(search.searchPasses(judgeIr));
  Result<std::string> object = search.object();
  if (!object)
    return object.status();
  Judgment ofObject = judgeObject(*object);
  if (!note(Phase::Object, ofObject))
    return {};
  verdict.weight = findWrongWeight(described, **code);
  if (verdict.weight || (*code)->beforePasses.empty())
    return {};
  if (ofIr.kind == Judgment::Unknown) {
    auto judgeGenerated = [&](const std::string &passed) {
      Result<std::string> made = search.generate(passed);
      Judgment failed;
      failed.reason = made.message();
      return made ? judgeObject(*made) : failed;
    };
    if (Status status = keep(search.searchPasses(judgeGenerated)); status.failed() || verdict.part) {
      verdict.phase = verdict.part ? Phase::Llvm : verdict.phase;
      return status;
    }
  }
  return keep(search.searchFunctions(judgeObject));
}

std::optional<WrongValue> Bisector::findWrongWeight(ModuleOp module, const ModelCode &code) const {
  /// The largest error of a right element, relative to the largest absolute value of its weight: 16 roundings of f32 by
  /// 2^-24 each, since a computed weight may be rounded several times.
  constexpr double kRounding = 16 * 0x1p-24;
  Result<std::vector<uint8_t>> bytes = code.readWeights ? code.readWeights() : Status::error("no weights file");
  if (!bytes)
    return std::nullopt;
  std::optional<WrongValue> worst;
  double worstRatio = 1;
  for (auto weight : module.getOps<xfmr::WeightOp>()) {
    auto type = dyn_cast<RankedTensorType>(weight.getType());
    if (!weight.getOffset() || !type || !type.getElementType().isF32())
      continue;
    Result<WeightValue> defined = evaluateWeight(weight.getSource(), weights, /*wide=*/false);
    uint64_t offset = *weight.getOffset();
    if (!defined || offset > bytes->size() || defined->values.size() > (bytes->size() - offset) / sizeof(float))
      continue;
    double largest = 0;
    for (double value : defined->values)
      largest = std::max(largest, std::abs(value));
    for (auto [index, expected] : llvm::enumerate(defined->values)) {
      float got;
      std::memcpy(&got, bytes->data() + offset + index * sizeof(float), sizeof(got));
      if (got == expected || (std::isnan(got) && std::isnan(expected)))
        continue;
      double error = std::abs(got - expected), allowed = largest * kRounding;
      double ratio = std::isfinite(error) && allowed > 0 ? error / allowed : HUGE_VAL;
      if (ratio <= worstRatio)
        continue;
      worstRatio = ratio;
      worst = {weight.getSymName().str(), {defined->shape.begin(), defined->shape.end()}, int64_t(index), got, expected, allowed};
    }
  }
  if (worst)
    report("weight " + worst->output);
  return worst;
}

Status Bisector::searchSteps(StepJudge &steps, int64_t left, int64_t right, BisectVerdict &verdict) {
  PhaseReplay &replay = steps.replay;
  while (right - left > 1) {
    // Picks the step nearest to the middle whose module can be judged.
    int64_t middle = left + (right - left) / 2, picked = middle;
    Judgment::Kind kind = steps.at(picked).kind;
    for (int64_t away = 1; kind == Judgment::Unknown && (middle - away > left || middle + away < right); ++away)
      for (int64_t next : {middle - away, middle + away})
        if (kind == Judgment::Unknown && next > left && next < right)
          kind = steps.at(picked = next).kind;
    if (kind == Judgment::Unknown)
      break;
    (kind == Judgment::Right ? left : right) = picked;
  }
  for (int64_t step = left + 1; step <= right; ++step)
    verdict.steps.push_back(replay.steps()[size_t(step)]);
  if (const Judgment &judgment = steps.at(right); judgment.kind == Judgment::Wrong)
    setWrong(verdict, judgment);
  report("step " + std::to_string(right + 1) + " of " + std::to_string(steps.count()) + ": " + verdict.steps.back().pass);
  Result<OwningOpRef<ModuleOp>> before = replay.moduleAfter(left), after = replay.moduleAfter(right);
  if (!before || !after)
    return before ? after.status() : before.status();
  verdict.before = std::move(*before);
  verdict.after = std::move(*after);
  searchFunction(verdict);
  if (verdict.steps.size() == 1) {
    searchOperation(verdict);
    if (!verdict.operation)
      if (Status status = searchRewrite(replay, size_t(right), verdict); status.failed())
        return status;
  }
  searchFirstDifference(verdict);
  return {};
}

void Bisector::searchFirstDifference(BisectVerdict &verdict) {
  // If the function is a kernel, its name says enough. Modules of the phase `target` do not describe their entries, so
  // findFirstDifference cannot execute them.
  if (verdict.operation || verdict.rewrite || !verdict.kernel.empty() || verdict.phase >= Phase::Target)
    return;
  // The module after the steps may write anywhere, so it is executed in a process of its own, which returns the
  // operation as the reason of a failure.
  constexpr StringLiteral mark = "first difference: ";
  Judgment judgment = judgeOfPhase->judgeCall([&]() -> Result<std::vector<OwnedTensor>> {
    Result<std::string> found = findFirstDifference(*verdict.before, *verdict.after, weights, inputs);
    return found ? Status::error(mark.str() + *found) : found.status();
  });
  StringRef text = judgment.reason;
  if (judgment.kind != Judgment::Unknown || !text.consume_front(mark) || text.empty())
    return;
  verdict.firstDifference = text.str();
  report("first difference " + verdict.firstDifference);
}

/// Returns the functions of |after| that differ, locations aside, from the function with the same name and type in
/// |before|. Both must have bodies.
static std::vector<func::FuncOp> listChangedFunctions(ModuleOp before, ModuleOp after) {
  std::vector<func::FuncOp> changed;
  for (auto function : after.getOps<func::FuncOp>()) {
    auto old = before.lookupSymbol<func::FuncOp>(function.getSymName());
    if (!old || old.isExternal() || function.isExternal() || old.getFunctionType() != function.getFunctionType())
      continue;
    if (!OperationEquivalence::isEquivalentTo(old, function, OperationEquivalence::IgnoreLocations))
      changed.push_back(function);
  }
  return changed;
}

void Bisector::searchFunction(BisectVerdict &verdict) {
  std::vector<func::FuncOp> changed = listChangedFunctions(*verdict.before, *verdict.after);
  func::FuncOp culprit;
  if (verdict.steps.size() == 1 && !verdict.steps[0].function.empty())
    culprit = verdict.after->lookupSymbol<func::FuncOp>(verdict.steps[0].function);
  else if (changed.size() == 1)
    culprit = changed[0];
  else
    for (func::FuncOp function : changed) {
      OwningOpRef<ModuleOp> mixed = cast<ModuleOp>(verdict.before.get()->clone());
      auto old = mixed->lookupSymbol<func::FuncOp>(function.getSymName());
      OpBuilder(old).clone(*function.getOperation());
      old.erase();
      if (judge(*mixed).kind != Judgment::Wrong)
        continue;
      culprit = function;
      break;
    }
  if (!culprit)
    return;
  verdict.function = culprit.getSymName().str();
  if (tiles::KernelAttr kernel = tiles::getKernel(culprit))
    verdict.kernel = kernel.getText().str();
}

Status Bisector::searchRewrite(PhaseReplay &replay, size_t step, BisectVerdict &verdict) {
  Result<size_t> count = replay.countRewrites(step);
  if (!count)
    return count.status();
  auto judgeLimit = [&](size_t limit, std::optional<Rewrite> *last) {
    Result<OwningOpRef<ModuleOp>> module = replay.moduleAfter(step, limit, last);
    return module ? judge(**module) : Judgment();
  };
  // If the step is wrong even without its rewrites, no rewrite is to blame.
  size_t left = 0, right = *count;
  if (right == 0 || judgeLimit(left, nullptr).kind != Judgment::Right)
    return {};
  while (right - left > 1) {
    size_t middle = left + (right - left) / 2;
    Judgment::Kind kind = judgeLimit(middle, nullptr).kind;
    // A module between two rewrites may be one that cannot be executed.
    if (kind == Judgment::Unknown)
      return {};
    (kind == Judgment::Right ? left : right) = middle;
  }
  (void)judgeLimit(right, &verdict.rewrite);
  report("rewrite " + std::to_string(right) + " of " + std::to_string(*count));
  return {};
}

void Bisector::searchOperation(BisectVerdict &verdict) {
  const PassStep &step = verdict.steps[0];
  // Modules of the phase `target` do not describe their entries, and operations on buffers have no results to compare.
  if (verdict.function.empty() || verdict.phase > Phase::Kernels)
    return;
  Result<std::vector<SingleOperation>> all = isolateOperations(*verdict.before, verdict.function, weights, inputs, kMostCalls);
  if (!all)
    return;
  ScopedDiagnosticHandler silent(imported.getContext(), [](Diagnostic &) { return success(); });
  for (SingleOperation &one : *all) {
    Result<Judge> judge = Judge::create(*one.module, weights, one.inputs);
    OwningOpRef<ModuleOp> changed = cast<ModuleOp>(one.module.get()->clone());
    PassManager passes(imported.getContext());
    addHooks(passes, options.hooks);
    if (!judge || failed(parsePassPipeline(step.pipeline(), passes)) || failed(passes.run(*changed)))
      continue;
    Judgment judgment = judge->judge(*changed);
    if (judgment.kind != Judgment::Wrong)
      continue;
    report("operation " + one.name);
    verdict.operationValue = judgment.worst;
    verdict.operation = std::move(one);
    verdict.operationAfter = std::move(changed);
    return;
  }
}

void Bisector::searchCompiledOperation(BisectVerdict &verdict) {
  ScopedDiagnosticHandler silent(imported.getContext(), [](Diagnostic &) { return success(); });
  for (auto function : ofDialect->getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    Result<std::vector<SingleOperation>> all = isolateOperations(*ofDialect, function.getSymName(), weights, inputs, kMostCompiledCalls);
    if (!all)
      return;
    for (SingleOperation &one : *all) {
      Result<Judge> judge = Judge::create(*one.module, weights, one.inputs);
      if (!judge)
        continue;
      Judgment judgment = judge->judgeCall([&] { return options.runCompiled(*one.module, one.inputs); });
      // A wrong judgment without a value means a crash or a timeout, perhaps of the compilation: that says nothing
      // about the numbers of the operation.
      if (judgment.kind != Judgment::Wrong || judgment.worst.output.empty())
        continue;
      report("operation " + one.name);
      verdict.operationValue = judgment.worst;
      verdict.operation = std::move(one);
      return;
    }
  }
}
