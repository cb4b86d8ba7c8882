//===- PhaseReplay.h - The passes of a phase, one by one --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs a phase of a compilation again and again on copies of the same module. A run of a pass on one operation, the
// module or a function, is a step if it changes the module. A replay can return the module after any step, and it can
// stop the rewrites of a step after the first N:
//
//   module before the phase
//     | pass A on @f      step 0
//     | pass A on @g      no change
//     | pass B on @f      step 1: rewrite 1, rewrite 2, ...
//   module after the phase
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_PHASEREPLAY_H
#define ATTUNE_COMPILER_BISECT_PHASEREPLAY_H

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Support/Status.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace attune {

/// A run of a pass that changes the module.
struct PassStep {
  /// The pass as `attune-opt` takes it, and its options: "attune-tile-groups{panel-width=32}".
  std::string pass;
  /// The function that the pass ran on, empty if it ran on the module.
  std::string function;
  /// The number of the run among all runs of passes in the phase, counted from 0.
  size_t run = 0;

  /// Returns the pass as a pipeline of a module.
  std::string pipeline() const { return function.empty() ? pass : "func.func(" + pass + ")"; }
};

/// An attempt to apply a pattern: the text that MLIR prints for it, the name of the operation and its location.
struct Rewrite {
  std::string pattern, operation;
  mlir::Location location;
};

/// Functions by which tests insert errors into a phase; each may be null.
struct ReplayHooks {
  /// Called before each run of a phase, and before each run of a step on a module of one operation.
  std::function<void()> begin;
  /// Called after each outermost pass with the operation that it ran on, before the replay compares or copies the
  /// module.
  std::function<void(mlir::Pass *, mlir::Operation *)> afterPass;
};

/// Calls |hooks|.begin now, and |hooks|.afterPass after each outermost pass of |passes|. |hooks| must outlive |passes|.
void addHooks(mlir::PassManager &passes, const ReplayHooks &hooks);

class PhaseReplay {
public:
  /// |before| is the module before |phase|; it is not changed and must outlive this object.
  PhaseReplay(mlir::ModuleOp before, Phase phase, ReplayHooks hooks) : before(before), phase(phase), hooks(std::move(hooks)) {}

  /// Runs the whole phase. Returns the module after it, and records the steps.
  Result<mlir::OwningOpRef<mlir::ModuleOp>> run();
  /// The steps of the last call of run().
  const std::vector<PassStep> &steps() const { return found; }
  /// Returns the module after step |index|, or before the phase for -1.
  Result<mlir::OwningOpRef<mlir::ModuleOp>> moduleAfter(int64_t index);

  /// Returns the number of attempts to apply a pattern in step |index|.
  Result<size_t> countRewrites(size_t index);
  /// Returns the module after step |index| if only the first |limit| attempts to apply a pattern are made. Fails if the
  /// pass fails, as a dialect conversion does without some of its patterns. Sets |last|, unless it is null, to attempt
  /// number |limit|, counted from 1; to nullopt if there are fewer attempts.
  Result<mlir::OwningOpRef<mlir::ModuleOp>> moduleAfter(size_t index, size_t limit, std::optional<Rewrite> *last);

private:
  class Recorder;
  /// The records that one run of the phase is to make.
  struct Request {
    /// True if the steps are recorded in |found|.
    bool listsSteps = false;
    /// The number of the run of a pass after which the module is copied (PassStep::run), nullopt for none; and the
    /// largest number of attempts to apply a pattern in this run.
    std::optional<size_t> run;
    size_t limit = SIZE_MAX;
  };
  Result<mlir::OwningOpRef<mlir::ModuleOp>> replay(const Request &request);

  mlir::ModuleOp before;
  Phase phase;
  ReplayHooks hooks;
  std::vector<PassStep> found;
  size_t attempts = 0;
  std::optional<Rewrite> lastRewrite;
};

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_PHASEREPLAY_H
