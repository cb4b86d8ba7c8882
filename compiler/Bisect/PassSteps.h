//===- PassSteps.h - The passes of a phase, one by one ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_BISECT_PASSSTEPS_H
#define ATTUNE_COMPILER_BISECT_PASSSTEPS_H

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Support/Status.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace attune {

/// One pass of a phase.
struct PassStep {
  Phase phase = Phase::Import;
  /// The name of the pass, as in `attune-opt --NAME`.
  std::string name;
  /// The pass with its options as a pipeline of a module: "builtin.module(func.func(xfmr-fuse-epilogues))".
  std::string pipeline;

  /// Returns true if the pass may change the rounding of results, as the **Numerics** line of its description says.
  bool mayRound() const;
};

/// A function that changes a module after a pass. Tests make faults by it.
using PassHook = std::function<void(const PassStep &step, mlir::ModuleOp module)>;

/// Returns the passes of |phase| for the target that |module| carries, in order.
Result<std::vector<PassStep>> listPasses(mlir::ModuleOp module, Phase phase);
/// Runs one pass on |module|, then |hook| if it is not empty.
Status runPass(mlir::ModuleOp module, const PassStep &step, const PassHook &hook);
/// Makes the passes of listPasses known by name.
void registerPassesOfSteps();

} // namespace attune

#endif // ATTUNE_COMPILER_BISECT_PASSSTEPS_H
