//===- BisectReport.cpp - Verdicts in words and files ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Tools/BisectReport.h"
#include "compiler/Driver/PhaseDump.h"
#include "compiler/Tools/Compare.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

/// Says what is wrong: a value, or the reason why there is none.
static std::string describeWrong(const BisectVerdict &verdict) {
  const WrongValue &value = verdict.value;
  if (value.output.empty())
    return verdict.reason;
  return value.output + indexText(value.shape, value.index) + " is " + numberText(value.got, 9) + ", expected " +
         numberText(value.expected, 9) + " within " + numberText(value.allowed, 2);
}

std::string attune::describeVerdict(const BisectVerdict &verdict) {
  std::string phase = stringifyPhase(verdict.phase).str();
  if (!verdict.isFound)
    return "no wrong numbers, up to the phase llvm.";
  if (verdict.phase == Phase::Import)
    return "the phase import differs from the reference: " + describeWrong(verdict) +
           ". The description of the model or its weights are read wrongly.";
  if (verdict.phase == Phase::Llvm)
    return "wrong numbers come from the translation to LLVM IR or from LLVM, after the last pass: " + describeWrong(verdict) + ".";
  if (verdict.steps.empty())
    return "wrong numbers come from the phase " + phase + " or those before it that cannot be executed: " + describeWrong(verdict) + ".";
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
  if (!verdict.rewrite)
    return text;
  verdict.rewrite->location.print(stream);
  return text + " The rewrite: " + verdict.rewrite->pattern + " on " + verdict.rewrite->operation + ", " + where + ".";
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

Status attune::writeReproducer(const BisectVerdict &verdict, const PlainInputs &whole, const std::string &weights,
                               const std::string &folder) {
  if (!verdict.before)
    return {};
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return Status::error("'" + folder + "': " + error.message());
  const PlainInputs &inputs = verdict.operation ? verdict.operation->inputs : whole;
  mlir::ModuleOp before = verdict.operation ? *verdict.operation->module : *verdict.before;
  mlir::ModuleOp after = verdict.operation ? *verdict.operationAfter : *verdict.after;
  if (Status status = writeText(folder + "/before.mlir", print(before)); status.failed())
    return status;
  if (Status status = writeText(folder + "/after.mlir", print(after)); status.failed())
    return status;
  if (Status status = saveSafetensors(folder + "/inputs.safetensors", inputs.tensors); status.failed())
    return status;
  // Modules of the phase target do not describe their entries, so they cannot be run alone.
  if (verdict.phase == Phase::Target || verdict.steps.empty())
    return {};
  return writeText(folder + "/wrong.test", makeTest(verdict, inputs, weights));
}
