//===- Pipelines.h - The phases of a compilation --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_PIPELINES_H
#define ATTUNE_COMPILER_PIPELINES_PIPELINES_H

#include "compiler/Pipelines/ModuleTarget.h"
#include "mlir/Pass/PassManager.h"

#include <optional>

namespace attune {

/// The steps from a model description to code. Flags, test folders and documents call them by the names of
/// stringifyPhase and by no others.
enum class Phase { Import, Dialect, Linalg, Tiled, Kernels, Bufferized, Vector, Target, Llvm, Object };

/// Returns the name of |phase|: "import", "dialect", …
llvm::StringRef stringifyPhase(Phase phase);
/// Returns the phase called |name|; nullopt if no phase has this name.
std::optional<Phase> symbolizePhase(llvm::StringRef name);
/// Returns the names of all phases in order, for messages: "import, dialect, …".
std::string listPhases();

/// Adds to |pm| the passes that lower from the phase before |phase| to |phase| for |target|, with the tile sizes and
/// layouts of |schedule|. Adds none for `import`, `llvm` and `object`, which are not made of passes.
void buildPhasePipeline(mlir::OpPassManager &pm, Phase phase, const Target &target, const mlir::rt::Schedule &schedule);
/// Adds the same passes with the target's own schedule.
void buildPhasePipeline(mlir::OpPassManager &pm, Phase phase, const Target &target);

/// Registers `attune-to-PHASE` for every phase that is made of passes.
void registerPhasePipelines();

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_PIPELINES_H
