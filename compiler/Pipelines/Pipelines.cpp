//===- Pipelines.cpp - The phases of a compilation ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Pipelines/Passes.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Weights/Passes.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;

static constexpr llvm::StringLiteral kPhaseNames[] = {"import",     "dialect", "linalg", "tiled", "kernels",
                                                      "bufferized", "vector",  "target", "llvm",  "object"};

llvm::StringRef attune::stringifyPhase(Phase phase) { return kPhaseNames[static_cast<unsigned>(phase)]; }

std::optional<Phase> attune::symbolizePhase(llvm::StringRef name) {
  for (auto [index, known] : llvm::enumerate(kPhaseNames))
    if (name == known)
      return static_cast<Phase>(index);
  return std::nullopt;
}

std::string attune::listPhases() { return llvm::join(ArrayRef<llvm::StringLiteral>(kPhaseNames), ", "); }

/// Builds the phase `dialect`. Leaves optimized operations of `xfmr`: projections are joined, epilogues and residuals
/// are fused, dropout is removed, and equal layers share a function.
static void buildDialectPipeline(OpPassManager &pm, const rt::Schedule &schedule, const Target &target) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(xfmr::createDecomposeExperts(xfmr::DecomposeExpertsOptions{!schedule.hostReadsBuffers}));
  functions.addPass(xfmr::createDecomposeComposites());
  functions.addPass(createCanonicalizer());
  pm.addPass(xfmr::createShard());
  if (target.cachePrecision() != xfmr::Precision::F32)
    pm.addPass(xfmr::createLowerCaches(xfmr::LowerCachesOptions{target.cachePrecision()}));
  if (!target.weightFormats().isNative())
    pm.addPass(xfmr::createAssignWeightFormats({target.precision(), target.weightFormats().str()}));
  OpPassManager &fused = pm.nest<func::FuncOp>();
  fused.addPass(xfmr::createFuseProjections());
  fused.addPass(xfmr::createFuseEpilogues());
  fused.addPass(createCanonicalizer());
  fused.addPass(createCSEPass());
  if (target.precision() != xfmr::Precision::F32) {
    fused.addPass(xfmr::createLowerPrecision(xfmr::LowerPrecisionOptions{target.precision()}));
    fused.addPass(xfmr::createRoundGathers());
  }
  fused.addPass(xfmr::createSplitDeepProjections(xfmr::SplitDeepProjectionsOptions{schedule.maxFeatures}));
  if (target.readsPackedRows())
    pm.addPass(xfmr::createTieEmbeddings());
  pm.addPass(xfmr::createHoistWeightExpressions());
  pm.addPass(func::createDuplicateFunctionEliminationPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createCountFlops());
  pm.addPass(createCountGathers());
}

/// Builds the phase `linalg`. Leaves linalg and `tile` operations on tensors. Operations of `xfmr` remain for
/// attention, rotary embeddings, updates and reads of key/value caches, and weights, which have their final layout.
static void buildLinalgPipeline(OpPassManager &pm, const rt::Schedule &schedule) {
  ConvertXfmrToLinalgOptions convert;
  convert.knownCounts = !schedule.hostReadsBuffers;
  convert.attentionPrecision = schedule.attentionPrecision;
  convert.attentionHead = schedule.maxAttentionHead;
  convert.panelWidth = schedule.panelWidth;
  convert.groupedWidth = schedule.groupedPanelWidth();
  convert.bf16Element = rt::stringifyStorageType(schedule.bf16.type).str();
  convert.bf16Group = schedule.bf16.group;
  convert.bf16Multiple = schedule.bf16.multiple;
  convert.int8Element = rt::stringifyStorageType(schedule.int8.type).str();
  convert.int8Multiple = schedule.int8.multiple;
  pm.nest<func::FuncOp>().addPass(createConvertXfmrToLinalg(convert));
  pm.addPass(xfmr::createHoistWeightExpressions());
  pm.addPass(createSymbolDCEPass());
  // No CSE from here to bufferization: equal tensor.empty ops stand for different memory.
  pm.nest<func::FuncOp>().addPass(createCanonicalizer());
}

/// Builds the phase `tiled`. Leaves one scf.forall per kernel, with operations of linalg or `tile` inside.
static void buildTiledPipeline(OpPassManager &pm, const rt::Schedule &schedule) {
  TileAttentionOptions attention;
  attention.queryRows = schedule.queryRows;
  attention.longRows = schedule.attentionRows;
  attention.panelWidth = schedule.keyPanelWidth;
  attention.precision = schedule.attentionPrecision;
  TileGroupsOptions groups;
  groups.registerRows = schedule.registerRows;
  groups.panelWidth = schedule.panelWidth;
  groups.streamPanels = schedule.streamPanels;
  groups.blockBytes = schedule.blockBytes;
  groups.maxBlockRows = schedule.maxBlockRows;
  groups.lowPrecisionRows = schedule.lowPrecisionRows;
  groups.groupedRows = schedule.groupedRows;
  groups.evenLowPrecisionTiles = schedule.evenLowPrecisionTiles;
  groups.rowBlock = schedule.rowBlock;
  groups.fewRows = schedule.fewRows;
  groups.fewColumns = schedule.fewColumns;
  groups.wideRows = schedule.wideRows;
  groups.wideColumns = schedule.wideColumns;
  groups.wideBlocks = schedule.wideBlocks;
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createTileAttention(attention));
  functions.addPass(createTileHeadOps(TileHeadOpsOptions{schedule.rowBlock}));
  functions.addPass(createTileGroups(groups));
  functions.addPass(createTileQuantizedRows(TileQuantizedRowsOptions{schedule.quantizedRowBlock}));
  functions.addPass(createCanonicalizer());
  functions.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  functions.addPass(createCanonicalizer());
}

/// Builds the phase `kernels`. Leaves every kernel as a private function in destination-passing style.
static void buildKernelsPipeline(OpPassManager &pm, const Target &target) {
  pm.addPass(createOutlineKernels());
  pm.addPass(createCanonicalizer());
  pm.addPass(func::createDuplicateFunctionEliminationPass());
  pm.addPass(createCountKernelWork());
  target.addKernelPasses(pm);
}

/// Builds the phase `bufferized`. Leaves memrefs only: entries get the weights and the workspace as byte buffers and
/// the outputs as buffers of the caller, and return nothing.
static void buildBufferizedPipeline(OpPassManager &pm, const Target &target, const rt::Schedule &schedule) {
  pm.addPass(createAssignWeightOffsets());
  OpPassManager &tensors = pm.nest<func::FuncOp>();
  tensors.addPass(createOutputsToArguments());
  tensors.addPass(createCheckTensorOps());
  tensors.addPass(createStacksToBuffers());
  pm.addPass(createSharedReadsToBuffers());
  if (schedule.outputsInPlace)
    pm.addPass(createWriteOutputsInPlace());
  pm.addPass(createBufferize());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
  pm.nest<func::FuncOp>().addPass(createDropCacheResults());
  target.addBufferPasses(pm, schedule);
  pm.addPass(createPlanMemory(PlanMemoryOptions{schedule.lowPrecisionGroup}));
  pm.addPass(createCanonicalizer());
}

void attune::buildPhasePipeline(OpPassManager &pm, Phase phase, const Target &target, const rt::Schedule &schedule) {
  switch (phase) {
  case Phase::Dialect:
    return buildDialectPipeline(pm, schedule, target);
  case Phase::Linalg:
    return buildLinalgPipeline(pm, schedule);
  case Phase::Tiled:
    return buildTiledPipeline(pm, schedule);
  case Phase::Kernels:
    return buildKernelsPipeline(pm, target);
  case Phase::Bufferized:
    return buildBufferizedPipeline(pm, target, schedule);
  case Phase::Vector:
    return target.addVectorPasses(pm, schedule);
  case Phase::Target:
    return target.addTargetPasses(pm);
  case Phase::Import:
  case Phase::Llvm:
  case Phase::Object:
    return;
  }
}

void attune::buildPhasePipeline(OpPassManager &pm, Phase phase, const Target &target) {
  buildPhasePipeline(pm, phase, target, target.schedule());
}

//===----------------------------------------------------------------------===//
// Pipelines by name
//===----------------------------------------------------------------------===//

namespace {
/// The options of the pipelines `attune-to-PHASE`. Each corresponds to a flag of `attune compile`.
struct PhaseFlags : PassPipelineOptions<PhaseFlags> {
  Option<std::string> target{*this, "target", llvm::cl::desc("target of the kernels; the first target of the build by default")};
  Option<std::string> cpu{*this, "cpu", llvm::cl::desc("the CPU; by default x86-64-v4, or the baseline CPU of another architecture")};
  Option<std::string> triple{*this, "triple", llvm::cl::desc("the target triple of LLVM")};
  Option<std::string> gpu{*this, "gpu", llvm::cl::desc("GPU architectures, such as sm_80,sm_90a")};
  Option<std::string> kernels{*this, "kernels", llvm::cl::desc("generator of the kernels")};
  Option<xfmr::Precision> precision{
      *this, "precision", llvm::cl::desc("type to which inputs of projections are rounded"), llvm::cl::init(xfmr::Precision::F32),
      llvm::cl::values(clEnumValN(xfmr::Precision::F32, "f32", "not at all"), clEnumValN(xfmr::Precision::BF16, "bf16", "bf16"),
                       clEnumValN(xfmr::Precision::F16, "f16", "f16, on a GPU"), clEnumValN(xfmr::Precision::Int8, "int8", "8 bits"))};
  Option<std::string> weightsFormat{*this, "weights-format", llvm::cl::desc("formats of weights, such as int4:32,lm_head=int8:32")};
  Option<xfmr::Precision> cachePrecision{
      *this, "cache-precision", llvm::cl::desc("the type of the elements of caches"), llvm::cl::init(xfmr::Precision::F32),
      llvm::cl::values(clEnumValN(xfmr::Precision::F32, "f32", "f32"), clEnumValN(xfmr::Precision::BF16, "bf16", "bf16"),
                       clEnumValN(xfmr::Precision::F16, "f16", "f16"), clEnumValN(xfmr::Precision::Int8, "int8", "8 bits"))};
};
} // namespace

/// Adds the passes of |phase|. If |options| is empty, the passes are for the target that the module carries. Otherwise
/// they are for the target that |options| describe, and a pass before them replaces the target of the module. Fails if
/// |options| are wrong; |report| gets the error unless the parser of options has printed it.
static LogicalResult buildPhaseFromFlags(OpPassManager &pm, Phase phase, StringRef options,
                                         llvm::function_ref<LogicalResult(const Twine &)> report) {
  if (options.empty()) {
    pm.addPass(createRunPhase(RunPhaseOptions{stringifyPhase(phase).str()}));
    return success();
  }
  PhaseFlags flags;
  if (failed(flags.parseFromString(options)))
    return failure();
  std::string wrong;
  std::optional<xfmr::WeightFormats> formats = xfmr::WeightFormats::parse(flags.weightsFormat, wrong);
  if (!formats)
    return report("weights-format: " + wrong);
  Result<std::unique_ptr<Target>> target =
      createTarget({flags.target, flags.gpu, flags.kernels, {}, flags.precision, *formats, flags.cachePrecision}, flags.cpu, flags.triple);
  if (!target)
    return report(target.message());
  pm.addPass(
      createReplaceTarget({flags.target, flags.cpu, flags.triple, flags.gpu, flags.kernels, xfmr::stringifyPrecision(flags.precision).str(),
                           flags.weightsFormat, xfmr::stringifyPrecision(flags.cachePrecision).str()}));
  buildPhasePipeline(pm, phase, **target);
  return success();
}

void attune::registerPhasePipelines() {
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target})
    registerPassPipeline(
        "attune-to-" + stringifyPhase(phase).str(),
        "from the phase before to '" + stringifyPhase(phase).str() +
            "': for the target and schedule that the module carries (rt.target, rt.schedule), by default x86 with AVX-512 in f32. Any "
            "option replaces what the module carries: those not given then have their defaults",
        [phase](OpPassManager &pm, StringRef options, llvm::function_ref<LogicalResult(const Twine &)> report) {
          return buildPhaseFromFlags(pm, phase, options, report);
        },
        [](llvm::function_ref<void(const mlir::detail::PassOptions &)> handle) { handle(PhaseFlags()); });
}
