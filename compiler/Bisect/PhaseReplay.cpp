//===- PhaseReplay.cpp - The passes of a phase, one by one ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Bisect/PhaseReplay.h"
#include "compiler/Pipelines/ModuleTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attune;

namespace attune {
/// Follows the outermost passes. Passes that a pass runs by itself count as parts of it, since the module between them
/// may not be executable.
class PassFollower : public PassInstrumentation {
public:
  explicit PassFollower(const ReplayHooks &hooks) : hooks(hooks) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (!isAdaptor(pass) && depth++ == 0)
      begin();
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (isAdaptor(pass) || --depth > 0)
      return;
    if (hooks.afterPass)
      hooks.afterPass(pass, op);
    end(pass, op);
  }
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (!isAdaptor(pass) && --depth == 0)
      fail();
  }

protected:
  /// Called before an outermost pass, after it, and when it has failed.
  virtual void begin() {}
  virtual void end(Pass *pass, Operation *op) {}
  virtual void fail() {}

private:
  /// Returns true for the pass of MLIR that runs nested pipelines.
  static bool isAdaptor(Pass *pass) { return pass->getName().ends_with("OpToOpPassAdaptor"); }

  const ReplayHooks &hooks;
  /// The number of passes that are running: an outermost pass, a pass that it runs, and so on.
  size_t depth = 0;
};
} // namespace attune

void attune::addHooks(PassManager &passes, const ReplayHooks &hooks) {
  if (hooks.begin)
    hooks.begin();
  passes.addInstrumentation(std::make_unique<PassFollower>(hooks));
}

/// Watches the passes of a phase that runs on |module|, and records in |replay| and |copy| what |request| asks for.
class PhaseReplay::Recorder : public PassFollower {
public:
  Recorder(PhaseReplay &replay, const Request &request, ModuleOp module, OwningOpRef<ModuleOp> &copy)
      : PassFollower(replay.hooks), replay(replay), request(request), module(module), copy(copy), fingerprint(module) {}

private:
  bool isRequested() const { return request.run && runs == *request.run; }

  void begin() override {
    if (!isRequested())
      return;
    replay.attempts = 0;
    module.getContext()->registerActionHandler([this](llvm::function_ref<void()> transform, const tracing::Action &action) {
      const auto *rewrite = dyn_cast<ApplyPatternAction>(&action);
      if (!rewrite || count(*rewrite, action))
        transform();
    });
  }

  void end(Pass *pass, Operation *op) override {
    if (isRequested()) {
      module.getContext()->registerActionHandler(nullptr);
      copy = cast<ModuleOp>(module->clone());
    }
    if (request.listsSteps) {
      OperationFingerPrint now(module);
      if (now != fingerprint)
        replay.found.push_back({describe(*pass), nameOf(op), runs});
      fingerprint = now;
    }
    ++runs;
  }

  void fail() override {
    if (isRequested())
      module.getContext()->registerActionHandler(nullptr);
  }

  static std::string describe(Pass &pass) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    pass.printAsTextualPipeline(stream);
    return text;
  }

  static std::string nameOf(Operation *op) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    return symbol && !isa<ModuleOp>(op) ? symbol.getName().str() : "";
  }

  /// Counts an attempt to apply a pattern, and records it if it is number |request.limit|, counted from 1. If that many
  /// attempts have been counted already, does nothing and returns false: the attempt is not to be made.
  bool count(const ApplyPatternAction &rewrite, const tracing::Action &action) {
    if (replay.attempts >= request.limit)
      return false;
    ++replay.attempts;
    if (replay.attempts != request.limit)
      return true;
    std::string pattern;
    llvm::raw_string_ostream stream(pattern);
    rewrite.print(stream);
    for (const IRUnit &unit : action.getContextIRUnits())
      if (auto *op = dyn_cast<Operation *>(unit))
        replay.lastRewrite = Rewrite{pattern, op->getName().getStringRef().str(), op->getLoc()};
    return true;
  }

  PhaseReplay &replay;
  const Request &request;
  ModuleOp module;
  OwningOpRef<ModuleOp> &copy;
  OperationFingerPrint fingerprint;
  /// The number of runs of passes that have ended.
  size_t runs = 0;
};

Result<OwningOpRef<ModuleOp>> PhaseReplay::replay(const Request &request) {
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(before->clone()), copy;
  MLIRContext *context = before.getContext();
  std::string message;
  ScopedDiagnosticHandler diagnostics(context, [&](Diagnostic &diagnostic) {
    if (message.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });
  FailureOr<ModuleTarget> carried = readTarget(*module);
  if (failed(carried))
    return Status::error(message);
  PassManager passes(context);
  passes.enableVerifier(false);
  buildPhasePipeline(passes, phase, *carried->target, carried->schedule);
  lastRewrite.reset();
  if (hooks.begin)
    hooks.begin();
  passes.addInstrumentation(std::make_unique<Recorder>(*this, request, *module, copy));
  bool isDone = succeeded(passes.run(*module));
  if (copy)
    return copy;
  if (!isDone || request.run)
    return Status::error("phase '" + stringifyPhase(phase).str() + "': " + (message.empty() ? "a pass failed" : message));
  return module;
}

Result<OwningOpRef<ModuleOp>> PhaseReplay::run() {
  found.clear();
  Request request;
  request.listsSteps = true;
  return replay(request);
}

Result<OwningOpRef<ModuleOp>> PhaseReplay::moduleAfter(int64_t index) {
  if (index < 0)
    return OwningOpRef<ModuleOp>(cast<ModuleOp>(before->clone()));
  Request request;
  request.run = found[size_t(index)].run;
  return replay(request);
}

Result<size_t> PhaseReplay::countRewrites(size_t index) {
  Request request;
  request.run = found[index].run;
  Result<OwningOpRef<ModuleOp>> module = replay(request);
  return module ? Result<size_t>(attempts) : Result<size_t>(module.status());
}

Result<OwningOpRef<ModuleOp>> PhaseReplay::moduleAfter(size_t index, size_t limit, std::optional<Rewrite> *last) {
  Request request;
  request.run = found[index].run;
  request.limit = limit;
  Result<OwningOpRef<ModuleOp>> module = replay(request);
  if (last)
    *last = lastRewrite;
  return module;
}
