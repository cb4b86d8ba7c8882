//===- BisectReport.cpp - Verdicts in words and files ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/BisectReport.h"
#include "compiler/Driver/PhaseDump.h"
#include "compiler/Support/Strings.h"
#include "compiler/Tools/Compare.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

static std::string describeValue(const WrongValue &value) {
  return value.output + indexText(value.shape, value.index) + " is " + numberText(value.got, 9) + ", expected " +
         numberText(value.expected, 9) + " within " + numberText(value.allowed, 2);
}

/// Returns the description of the wrong value, or the reason why the verdict has no value.
static std::string describeWrong(const BisectVerdict &verdict) {
  return verdict.value.output.empty() ? verdict.reason : describeValue(verdict.value);
}

/// Returns |verdict| as a paragraph, for wrong numbers that the search has not traced to a pass of Attune.
static std::string describeUnstepped(const BisectVerdict &verdict) {
  std::string phase = stringifyPhase(verdict.phase).str(), origin = "the phase " + phase;
  auto first = static_cast<Phase>(static_cast<unsigned>(verdict.last) + 1);
  if (verdict.part)
    origin = (verdict.part->pass.empty() ? "LLVM's code generator" : "LLVM's pass " + verdict.part->pass) + ", phase " + phase +
             (verdict.part->function.empty() ? "" : ", in the function @" + verdict.part->function);
  else if (verdict.weight)
    origin = "the weights file, which the phase object packs";
  else if (!verdict.isPhaseKnown && first < verdict.phase)
    origin = "one of the phases " + stringifyPhase(first).str() + " to " + phase + ", between which nothing can be executed";
  else if (verdict.phase == Phase::Llvm)
    origin = "the translation to LLVM IR or from LLVM, after the last pass";
  else if (verdict.phase == Phase::Object)
    origin = "the phase object, of LLVM's code generator, or from the runtime";
  std::string text = "wrong numbers come from " + origin + ": " + describeWrong(verdict) + ".";
  if (verdict.weight)
    text += " The weight " + describeValue(*verdict.weight) + ".";
  if (!verdict.operation)
    return text;
  llvm::raw_string_ostream stream(text);
  verdict.operation->location.print(stream << " The object of the operation " << verdict.operation->name << " alone, ");
  stream << ", is wrong, too.";
  return text;
}

/// Returns sentences on the first wrong output of the phase `import`. If no output of a layer was compared and no right
/// output comes before it, returns the advice to compare outputs of layers instead. Returns "" if |verdict| has no first
/// wrong output.
static std::string describeFirstWrong(const BisectVerdict &verdict) {
  constexpr size_t kMostOperations = 16;
  if (!verdict.firstWrong)
    return "";
  const FirstWrongOutput &first = *verdict.firstWrong;
  if (first.known.empty() && !first.judgedLayers)
    return " No layer is named, since only outputs of the whole model are compared: hidden_states and attentions, among the outputs of "
           "the case or of --outputs, would tell the first wrong layer.";
  std::string text = " The first wrong output is " + first.name;
  for (auto [index, known] : llvm::enumerate(first.known))
    text += (index == 0 ? "; before it, " : index + 1 == first.known.size() ? " and " : ", ") + known;
  if (!first.known.empty())
    text += first.known.size() == 1 ? " is right" : " are right";
  if (first.operations.empty())
    return text + ". All operations that compute it also compute right outputs.";
  llvm::ArrayRef<std::string> operations = first.operations;
  text += ". It is computed by: " + llvm::join(operations.take_front(kMostOperations), ", ");
  if (operations.size() > kMostOperations)
    text += " and " + std::to_string(operations.size() - kMostOperations) + " more operations";
  return text + ".";
}

std::string attune::describeVerdict(const BisectVerdict &verdict) {
  std::string phase = stringifyPhase(verdict.phase).str();
  if (!verdict.isFound)
    return "no wrong numbers, up to the phase " + stringifyPhase(verdict.last).str() + ".";
  if (verdict.phase == Phase::Import)
    return "the phase import differs from the expected outputs of the case: " + describeWrong(verdict) +
           ". The description of the model or its weights are read wrongly." + describeFirstWrong(verdict);
  if (verdict.steps.empty())
    return describeUnstepped(verdict);
  std::string text = "wrong numbers come from the pass " + verdict.steps.back().pass;
  for (size_t i = verdict.steps.size() - 1; i-- > 0;)
    text += " or " + verdict.steps[i].pass;
  text += ", phase " + phase;
  if (!verdict.function.empty())
    text += ", in the function @" + verdict.function + (verdict.kernel.empty() ? "" : " (" + verdict.kernel + ")");
  text += ": " + describeWrong(verdict) + ".";
  std::string where;
  llvm::raw_string_ostream stream(where);
  if (verdict.operation) {
    verdict.operation->location.print(stream);
    return text + " The operation: " + verdict.operation->name + ", " + where + ".";
  }
  if (!verdict.firstDifference.empty())
    text += " The first difference after the pass: " + verdict.firstDifference + ".";
  if (!verdict.rewrite)
    return text;
  verdict.rewrite->location.print(stream);
  return text + " The rewrite: " + verdict.rewrite->pattern + " on " + verdict.rewrite->operation + ", " + where + ".";
}

std::string attune::describeOutcome(const BisectOutcome &outcome) {
  const BisectVerdict &verdict = outcome.verdict;
  std::string text = describeVerdict(verdict);
  if (outcome.good.empty())
    return text;
  const std::string good = "the good setting, '" + outcome.good + "'";
  switch (outcome.relation) {
  case BisectOutcome::Agrees:
    return "no wrong numbers: results are equal to those of " + good + ", within their bounds.";
  case BisectOutcome::ReadsOtherwise:
    return "the phase import differs from that of " + good + ": " + describeWrong(verdict) +
           ". The two describe different models, or one of them reads the description or the weights wrongly." +
           describeFirstWrong(verdict);
  case BisectOutcome::GoodIsWrong:
    return good + ", has wrong numbers by the definitions of operations, and this setting has none. In the good setting, " + text;
  case BisectOutcome::BothAreWrong:
    return text + " The numbers of " + good + ", are wrong by the definitions of operations, too.";
  case BisectOutcome::GoodIsWrongAlone:
    return text + " The numbers of " + good + ", are wrong by the definitions of operations; the object of this setting was not executed.";
  case BisectOutcome::GoodIsRight:
    break;
  }
  return text + (outcome.goodAtPhase.empty() ? "" : " After the same phase, " + good + ", is " + outcome.goodAtPhase + ".");
}

static std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text + "\n";
}

/// Returns |word| in quotes for the shell.
static std::string quote(llvm::StringRef word) {
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// Returns a lit test that fails, because the module before the passes and the module after them give different
/// numbers.
static std::string makeTest(const BisectVerdict &verdict, const PlainInputs &inputs, const std::string &weights) {
  std::string passes, steps;
  for (const PassStep &step : verdict.steps)
    passes += (passes.empty() ? "" : ",") + step.pipeline();
  for (int64_t step : inputs.steps)
    steps += (steps.empty() ? " --steps=" : ",") + std::to_string(step);
  const WrongValue &value = verdict.operation ? verdict.operationValue : verdict.value;
  std::string run = "attune run --from-phase=" + stringifyPhase(verdict.phase).str() + " ";
  std::string flags = " " + quote("--weights=" + weights) + " --input=%S/inputs.safetensors" + steps + " --output=";
  std::string group = value.output.substr(0, value.output.rfind('.'));
  return "# " + describeVerdict(verdict) + "\n\n# RUN: " + run + "%S/before.mlir" + flags + "%t.before\n# RUN: attune-opt %S/before.mlir " +
         quote("--pass-pipeline=builtin.module(" + passes + ")") + " -o %t.mlir\n# RUN: " + run + "%t.mlir" + flags +
         "%t.after\n# RUN: attune diff %t.before %t.after" + (group.empty() ? "" : " --outputs=" + group) +
         " --atol=" + numberText(value.allowed, 2) + "\n";
}

/// Returns a call of before.mlir, a module of only the operation that was found, with those flags of |call| that a file
/// of IR can have.
static PlainCall callAlone(const PlainCall &call) {
  PlainCall alone = call;
  alone.words = {"--weights=" + call.compile.model};
  for (const std::string &word : call.words)
    for (const char *flag : {"--cpu=", "--triple=", "--target=", "--gpu=", "--kernels="})
      if (startsWith(word, flag))
        alone.words.push_back(word);
  alone.outputs.clear();
  alone.compile.model = "%S/before.mlir";
  return alone;
}

/// Returns a lit test that fails, because the results of the compiled call, or those of the IR of the wrong phase,
/// differ from those of the phase `import`.
static std::string makeModelTest(const BisectOutcome &outcome, const PlainInputs &inputs) {
  const BisectVerdict &verdict = outcome.verdict;
  const PlainCall call = verdict.operation ? callAlone(*outcome.call) : *outcome.call;
  const WrongValue &value = verdict.operation ? verdict.operationValue : verdict.value;
  auto isHarmless = [](char c) { return llvm::isAlnum(c) || llvm::StringRef("-_=./,:%+").contains(c); };
  auto run = [&](std::optional<Phase> phase, const std::string &to) {
    std::string line = "# RUN: attune run" + (phase                 ? " --from-phase=" + stringifyPhase(*phase).str()
                                              : outcome.threads > 0 ? " --threads=" + std::to_string(outcome.threads)
                                                                    : "");
    for (const std::string &word : call.repeat(inputs, "%S/inputs.safetensors", to))
      line += " " + (llvm::all_of(word, isHarmless) ? word : quote(word));
    return line + "\n";
  };
  bool isObject = verdict.phase == Phase::Object || verdict.operation;
  std::string group = value.output.substr(0, value.output.rfind('.'));
  return "# " + describeOutcome(outcome) + "\n\n" + run(Phase::Import, "%t.import") +
         run(isObject ? std::nullopt : std::optional<Phase>(verdict.phase), "%t.wrong") + "# RUN: attune diff %t.import %t.wrong" +
         (group.empty() ? "" : " --outputs=" + group) + " --atol=" + numberText(value.allowed, 2) + "\n";
}

/// Writes to |folder| the modules before and after the wrong passes: those of the single operation if one was found,
/// and LLVM IR if a part of LLVM was found.
static Status writeModules(const BisectVerdict &verdict, const std::string &folder) {
  std::vector<std::pair<std::string, std::string>> files;
  if (verdict.part)
    files = {{"before.ll", verdict.part->before}, {"after.ll", verdict.part->after}};
  if (verdict.operation)
    files.emplace_back("before.mlir", print(*verdict.operation->module));
  else if (verdict.before)
    files.emplace_back("before.mlir", print(*verdict.before));
  if (mlir::ModuleOp after = verdict.operation ? *verdict.operationAfter : *verdict.after)
    files.emplace_back("after.mlir", print(after));
  for (const auto &[name, text] : files)
    if (!text.empty())
      if (Status status = writeText(folder + "/" + name, text); status.failed())
        return status;
  return {};
}

Status attune::writeReproducer(const BisectOutcome &outcome, const PlainInputs &whole, const std::string &folder) {
  const BisectVerdict &verdict = outcome.verdict;
  if (!verdict.isFound)
    return {};
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return Status::error("'" + folder + "': " + error.message());
  if (Status status = writeModules(verdict, folder); status.failed())
    return status;
  const PlainInputs &inputs = verdict.operation ? verdict.operation->inputs : whole;
  if (Status status = saveSafetensors(folder + "/inputs.safetensors", inputs.tensors); status.failed())
    return status;
  if (verdict.phase == Phase::Import || !outcome.call)
    return {};
  // Modules of the phase target do not describe their entries, so they cannot be run alone.
  bool isOfModule = verdict.phase != Phase::Target && !verdict.steps.empty();
  std::string test = isOfModule ? makeTest(verdict, inputs, outcome.call->compile.model) : makeModelTest(outcome, inputs);
  return writeText(folder + "/wrong.test", test);
}
