//===- RunPhase.cpp - Phases as passes ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects a module as the phase before leaves it. RunPhase lowers it by the pipeline that its own attributes ask for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Passes.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Pipelines/TargetAttributes.h"
#include "dialect/Rt/IR/RtOps.h"

namespace attune {
#define GEN_PASS_DEF_RUNPHASE
#define GEN_PASS_DEF_REPLACETARGET
#include "compiler/Pipelines/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct RunPhase : attune::impl::RunPhaseBase<RunPhase> {
  using RunPhaseBase::RunPhaseBase;

  /// What any target's pipeline of the phase needs, since the target is not known yet.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
    std::optional<Phase> wanted = symbolizePhase(phase);
    if (!wanted)
      return;
    PipelineOptions halide, lower;
    halide.kernels = KernelBackend::Halide;
    lower.precision = xfmr::Precision::BF16;
    for (const PipelineOptions &options : {halide, lower, getGpuPipelineOptions(xfmr::Precision::F32, getDefaultGpus())}) {
      OpPassManager pm(ModuleOp::getOperationName());
      buildPhasePipeline(pm, *wanted, options);
      pm.getDependentDialects(registry);
    }
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<Phase> wanted = symbolizePhase(phase);
    if (!wanted) {
      module.emitError("expects a phase (") << listPhases() << "), but got '" << phase << "'";
      return signalPassFailure();
    }
    FailureOr<PipelineOptions> options = readTarget(module);
    if (failed(options))
      return signalPassFailure();
    OpPassManager pm(ModuleOp::getOperationName());
    buildPhasePipeline(pm, *wanted, *options);
    if (failed(runPipeline(pm, module)))
      signalPassFailure();
  }
};

struct ReplaceTarget : attune::impl::ReplaceTargetBase<ReplaceTarget> {
  using ReplaceTargetBase::ReplaceTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<xfmr::Precision> rounding = xfmr::symbolizePrecision(precision);
    if (!rounding || (kernels != "mlir" && kernels != "halide")) {
      module.emitError("expects a precision of f32, bf16, f16 or int8 and kernels by mlir or halide, but got '")
          << precision << "' and '" << kernels << "'";
      return signalPassFailure();
    }
    if (!module->hasAttr(rt::TargetAttr::kName))
      return;
    if (gpu)
      return setTarget(module, getGpuTargetAttr(&getContext(), getDefaultGpus(), *rounding),
                       getGpuPipelineOptions(*rounding, getDefaultGpus()));
    CpuFeatures cpu = parseCpuFeatures(vectorBits, features);
    KernelBackend backend = kernels == "halide" ? KernelBackend::Halide : KernelBackend::Mlir;
    setTarget(module, getCpuTargetAttr(&getContext(), cpu, *rounding, backend), {getCpuStrategy(cpu), *rounding, backend});
  }
};
} // namespace
