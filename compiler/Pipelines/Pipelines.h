//===- Pipelines.h - The phases of a compilation ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_PIPELINES_H
#define ATTUNE_COMPILER_PIPELINES_PIPELINES_H

#include "compiler/Pipelines/ModuleTarget.h"
#include "mlir/Pass/PassManager.h"

#include <optional>

namespace attune {

/// The steps from a model description to code. These words are the only names for them: flags, folders of tests and documents use them.
enum class Phase { Import, Dialect, Linalg, Tiled, Kernels, Bufferized, Vector, Target, Llvm, Object };

/// "import", "dialect", …
llvm::StringRef stringifyPhase(Phase phase);
/// The phase called |name|.
std::optional<Phase> symbolizePhase(llvm::StringRef name);
/// All names in order, for messages: "import, dialect, …".
std::string listPhases();

/// Adds to |pm| the passes that lead from the phase before |phase| to |phase| for |target|, with the tiles and layouts of |schedule|; none
/// for import, llvm and object, which are not passes.
void buildPhasePipeline(mlir::OpPassManager &pm, Phase phase, const Target &target, const mlir::rt::Schedule &schedule);
/// The same with the target's own schedule.
void buildPhasePipeline(mlir::OpPassManager &pm, Phase phase, const Target &target);

/// Registers `attune-to-PHASE` for every phase that is made of passes.
void registerPhasePipelines();

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_PIPELINES_H
