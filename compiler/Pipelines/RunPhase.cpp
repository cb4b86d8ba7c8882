//===- RunPhase.cpp - Phases as passes ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// RunPhase expects the IR at the end of the previous phase and lowers it by the pipeline for the target and the
// schedule in the attributes `rt.target` and `rt.schedule` of the module. ReplaceTarget sets these two attributes,
// whether or not the module has them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Passes.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/KernelBackend.h"
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

  /// Adds the dialects that the phase needs for any target and kernel backend of this build, since the target of the
  /// module is not known yet.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
    std::optional<Phase> wanted = symbolizePhase(phase);
    if (!wanted)
      return;
    SmallVector<std::string> backends = {""};
    llvm::append_range(backends, llvm::map_range(getKernelBackends(), [](const KernelBackendInfo &info) { return info.name; }));
    for (const TargetInfo &info : getTargets())
      for (const std::string &backend : backends) {
        Result<std::unique_ptr<Target>> target = createTarget({info.name, "", backend, {}, xfmr::Precision::BF16}, "", "");
        if (!target)
          continue; // a target without this backend
        OpPassManager pm(ModuleOp::getOperationName());
        buildPhasePipeline(pm, *wanted, **target);
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
    FailureOr<ModuleTarget> carried = readTarget(module);
    if (failed(carried))
      return signalPassFailure();
    OpPassManager pm(ModuleOp::getOperationName());
    buildPhasePipeline(pm, *wanted, *carried->target, carried->schedule);
    if (failed(runPipeline(pm, module)))
      signalPassFailure();
  }
};

struct ReplaceTarget : attune::impl::ReplaceTargetBase<ReplaceTarget> {
  using ReplaceTargetBase::ReplaceTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<xfmr::Precision> rounding = xfmr::symbolizePrecision(precision);
    if (!rounding) {
      module.emitError("expects a precision of f32, bf16, f16 or int8, but got '") << precision << "'";
      return signalPassFailure();
    }
    std::string wrong;
    std::optional<xfmr::WeightFormats> formats = xfmr::WeightFormats::parse(weightsFormat, wrong);
    if (!formats) {
      module.emitError("weights-format: ") << wrong;
      return signalPassFailure();
    }
    std::optional<xfmr::Precision> cacheRounding = xfmr::symbolizePrecision(cachePrecision);
    if (!cacheRounding) {
      module.emitError("expects a cache-precision of f32, bf16, f16 or int8, but got '") << cachePrecision << "'";
      return signalPassFailure();
    }
    Result<std::unique_ptr<Target>> replacement =
        createTarget({target, gpu, kernels, {}, *rounding, *formats, *cacheRounding}, cpu, triple);
    if (!replacement) {
      module.emitError(replacement.message());
      return signalPassFailure();
    }
    setTarget(module, **replacement);
  }
};
} // namespace
