//===- PassSteps.cpp - The passes of a phase, one by one ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/PassSteps.h"
#include "compiler/Driver/Registry.h"
#include "compiler/Pipelines/ModuleTarget.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace attune;

bool PassStep::mayRound() const {
  static constexpr llvm::StringLiteral rounding[] = {
      "attune-expand-math",         "attune-lower-attention-tile", "attune-lower-halide-tiles", "attune-lower-quantize-rows",
      "attune-lower-rotary-tile",   "attune-select-kernels",       "attune-vectorize-tiles",    "convert-xfmr-to-linalg",
      "xfmr-lower-precision", "xfmr-split-deep-projections"};
  return llvm::is_contained(rounding, name);
}

/// Appends the passes of |text|, a list of a pipeline, each with |before| and |after| around it.
static void splitPipeline(llvm::StringRef text, const std::string &before, const std::string &after, Phase phase,
                          std::vector<PassStep> &steps) {
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += c == '(' || c == '{';
    depth -= c == ')' || c == '}';
    if (c != ',' || depth > 0)
      continue;
    llvm::StringRef item = text.slice(begin, i).trim();
    begin = i + 1;
    if (item.empty())
      continue;
    size_t open = item.find('('), options = item.find('{');
    if (open < options && item.ends_with(")"))
      splitPipeline(item.slice(open + 1, item.size() - 1), before + item.take_front(open + 1).str(), ")" + after, phase, steps);
    else
      steps.push_back({phase, item.take_front(options).trim().str(), before + item.str() + after});
  }
}

Result<std::vector<PassStep>> attune::listPasses(ModuleOp module, Phase phase) {
  FailureOr<ModuleTarget> target = readTarget(module);
  if (failed(target))
    return Status::error("the module carries no valid target");
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  buildPhasePipeline(pm, phase, *target->target, target->schedule);
  std::string text;
  llvm::raw_string_ostream stream(text);
  pm.printAsTextualPipeline(stream);
  std::vector<PassStep> steps;
  splitPipeline(text, "", "", phase, steps);
  return steps;
}

Status attune::runPass(ModuleOp module, const PassStep &step, const PassHook &hook) {
  std::string message;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && message.empty())
      message = diagnostic.str();
    return success();
  });
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  llvm::StringRef inner = step.pipeline;
  inner.consume_front("builtin.module(");
  inner.consume_back(")");
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (failed(parsePassPipeline(inner, pm, stream)))
    return Status::error("pass '" + step.name + "' cannot be run by itself: " + errors);
  if (failed(pm.run(module)))
    return Status::error("pass '" + step.name + "' failed" + (message.empty() ? "" : ": " + message));
  if (hook)
    hook(step, module);
  return {};
}

void attune::registerPassesOfSteps() {
  static const bool registered = [] {
    mlir::registerAllPasses();
    registerCompilerPasses();
    return true;
  }();
  (void)registered;
}
