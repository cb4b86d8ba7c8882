//===- Pipelines.h - The phases of a compilation ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PIPELINES_PIPELINES_H
#define ATTUNE_COMPILER_PIPELINES_PIPELINES_H

#include "compiler/Pipelines/Strategy.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
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

/// What makes the code of kernels.
enum class KernelBackend { Mlir, Halide };

/// What the phases need to know about the target.
struct PipelineOptions {
  CpuStrategy strategy = getCpuStrategy(CpuFeatures());
  /// What the inputs of projections are rounded to.
  mlir::xfmr::Precision precision = mlir::xfmr::Precision::F32;
  /// Kernels that Halide cannot make stay with MLIR.
  KernelBackend kernels = KernelBackend::Mlir;
  /// Present if kernels run on a GPU; |strategy| is its tiles then.
  std::optional<GpuStrategy> gpu = std::nullopt;
};

/// The options for kernels on a GPU.
PipelineOptions getGpuPipelineOptions(mlir::xfmr::Precision precision, llvm::ArrayRef<GpuArchitecture> gpus);

/// Adds to |pm| the passes that lead from the phase before |phase| to |phase|; none for import, llvm and object, which are not passes.
void buildPhasePipeline(mlir::OpPassManager &pm, Phase phase, const PipelineOptions &options = {});

/// Registers `attune-to-PHASE` for every phase that is made of passes.
void registerPhasePipelines();

} // namespace attune

#endif // ATTUNE_COMPILER_PIPELINES_PIPELINES_H
