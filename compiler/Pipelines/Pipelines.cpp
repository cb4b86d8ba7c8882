//===- Pipelines.cpp - The phases of a compilation ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Object/Passes.h"
#include "compiler/Pipelines/Passes.h"
#include "compiler/Pipelines/TargetAttributes.h"
#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/Halide/Passes.h"
#include "compiler/Target/NVVM/Passes.h"
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

/// Leaves optimised `xfmr`: projections joined, epilogues and residuals fused, dropout gone, equal layer functions shared.
static void buildDialectPipeline(OpPassManager &pm, const CpuStrategy &strategy, xfmr::Precision precision) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(xfmr::createDecomposeComposites());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(xfmr::createFuseProjections());
  functions.addPass(xfmr::createFuseEpilogues());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  if (precision != xfmr::Precision::F32)
    functions.addPass(xfmr::createLowerPrecision(xfmr::LowerPrecisionOptions{precision}));
  functions.addPass(xfmr::createSplitDeepProjections(xfmr::SplitDeepProjectionsOptions{strategy.maxFeatures}));
  pm.addPass(xfmr::createHoistWeightExpressions());
  pm.addPass(func::createDuplicateFunctionEliminationPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createCountFlops());
}

/// Leaves linalg on tensors, and `xfmr.attention`; weights have their final layout.
static void buildLinalgPipeline(OpPassManager &pm, const PipelineOptions &options) {
  const CpuStrategy &strategy = options.strategy;
  ConvertXfmrToLinalgOptions convert;
  if (options.gpu) {
    convert.knownCounts = true;
    if (options.precision != xfmr::Precision::Int8)
      convert.attentionCodes = options.precision;
    convert.attentionHead = options.gpu->largestCodeHead;
  }
  convert.panelWidth = strategy.panelWidth;
  convert.bf16Codes = strategy.bf16.type;
  convert.bf16Group = strategy.bf16.group;
  convert.bf16Multiple = strategy.bf16.multiple;
  convert.int8Codes = strategy.int8.type;
  convert.int8Multiple = strategy.int8.multiple;
  pm.nest<func::FuncOp>().addPass(createConvertXfmrToLinalg(convert));
  pm.addPass(xfmr::createHoistWeightExpressions());
  pm.addPass(createSymbolDCEPass());
  // No CSE from here to bufferization: equal tensor.empty ops are different memory.
  pm.nest<func::FuncOp>().addPass(createCanonicalizerPass());
}

/// Leaves one scf.forall per kernel, with linalg ops or attention tiles inside.
static void buildTiledPipeline(OpPassManager &pm, const PipelineOptions &options) {
  const CpuStrategy &strategy = options.strategy;
  TileAttentionOptions attention;
  attention.queryRows = strategy.queryRows;
  attention.longRows = strategy.attentionRows;
  attention.panelWidth = strategy.keyPanelWidth;
  if (options.gpu && options.precision != xfmr::Precision::F32) {
    attention.precision = options.precision;
    attention.queryRows = options.gpu->codeQueryRows;
  }
  TileGroupsOptions groups;
  groups.registerRows = strategy.registerRows;
  groups.panelWidth = strategy.panelWidth;
  // Halide's rules are for columns of one panel, whose padding they use.
  groups.streamPanels = options.kernels == KernelBackend::Halide ? 1 : strategy.streamPanels;
  groups.blockBytes = strategy.blockBytes;
  groups.maxBlockRows = strategy.maxBlockRows;
  groups.lowPrecisionRows = strategy.codeRows;
  groups.evenLowPrecisionTiles = !options.gpu && strategy.codeGroup == 1;
  groups.rowBlock = strategy.rowBlock;
  groups.fewRows = strategy.fewRows;
  groups.fewColumns = strategy.fewColumns;
  groups.wideRows = strategy.wideRows;
  groups.wideColumns = strategy.wideColumns;
  groups.wideBlocks = strategy.wideBlocks;
  TileQuantizedRowsOptions quantized;
  quantized.rowBlock = strategy.rowBlock;
  OpPassManager &functions = pm.nest<func::FuncOp>();
  TileHeadOpsOptions heads;
  heads.rowBlock = strategy.rowBlock;
  functions.addPass(createTileAttention(attention));
  functions.addPass(createTileHeadOps(heads));
  functions.addPass(createTileGroups(groups));
  functions.addPass(createTileQuantizedRows(quantized));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  functions.addPass(createCanonicalizerPass());
}

/// Leaves every kernel as a private function in destination-passing style.
static void buildKernelsPipeline(OpPassManager &pm, KernelBackend kernels) {
  pm.addPass(createOutlineKernels());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(func::createDuplicateFunctionEliminationPass());
  pm.addPass(createCountKernelWork());
  if (kernels == KernelBackend::Halide) {
    pm.addPass(createSelectKernels());
    pm.addPass(createCanonicalizerPass());
  }
}

/// Leaves memrefs only: weights and workspace are byte buffers given to the entries, which return nothing.
static void buildBufferizedPipeline(OpPassManager &pm, const CpuStrategy &strategy, bool device) {
  pm.addPass(createAssignWeightOffsets());
  OpPassManager &tensors = pm.nest<func::FuncOp>();
  tensors.addPass(createOutputsToArguments());
  tensors.addPass(createCheckTensorOps());
  tensors.addPass(createStacksToBuffers());
  pm.addPass(createSharedReadsToBuffers());
  pm.addPass(createBufferize());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.nest<func::FuncOp>().addPass(createDropCacheResults());
  pm.addPass(device ? createLimitRows() : createPadRows());
  BlockRowsAcrossKernelsOptions blocking;
  blocking.rows = strategy.maxBlockRows;
  // Instructions read codes in whole groups of rows, from the first row of a block on.
  blocking.multiple = strategy.codeGroup > 1 ? strategy.codeGroup : strategy.registerRows;
  if (!device)
    pm.addPass(createBlockRowsAcrossKernels(blocking));
  AttachScratchOptions scratch;
  scratch.rows = strategy.queryRows;
  scratch.stateRows = strategy.attentionRows;
  if (!device)
    pm.addPass(createAttachScratch(scratch));
  PlanMemoryOptions memory;
  memory.rowGroup = strategy.codeGroup;
  pm.addPass(createPlanMemory(memory));
  pm.addPass(createCanonicalizerPass());
}

/// Leaves scf loops over vectors of 16 floats.
static void buildVectorPipeline(OpPassManager &pm, const CpuStrategy &strategy) {
  VectorizeTilesOptions tiles;
  tiles.registerRows = strategy.registerRows;
  tiles.lowPrecisionRows = strategy.codeRows;
  tiles.dotUnit = strategy.dotUnit;
  tiles.prefetchStreams = strategy.prefetchStreams;
  tiles.prefetchAhead = strategy.prefetchAhead;
  LowerAttentionTileOptions attention;
  attention.rows = strategy.queryRows;
  attention.scoreVectors = strategy.keyPanelWidth / 16;
  attention.valueVectors = strategy.valueVectors;
  attention.softmaxRows = strategy.weightRows;
  pm.addPass(createVectorizeTiles(tiles));
  pm.addPass(createLowerHalideTiles());
  pm.addPass(createLowerAttentionTile(attention));
  pm.addPass(createLowerQuantizeRows());
  ExpandMathOptions math;
  math.expandBF16 = !strategy.roundsBF16;
  pm.addPass(createExpandMath(math));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Its shuffles must not be canonicalised: see the pass.
  pm.addPass(createLowerKeyPanel());
  pm.addPass(createLowerRotaryTile());
}

/// Leaves the code of one thread in every parallel loop.
static void buildDeviceVectorPipeline(OpPassManager &pm, const GpuStrategy &strategy) {
  pm.addPass(createPlaceOnDevice(PlaceOnDeviceOptions{strategy.threads}));
  pm.addPass(createDistributeToThreads(DistributeToThreadsOptions{strategy.threads, strategy.specificArch, strategy.specificColumns,
                                                                  strategy.specificStages, strategy.specificCacheBytes}));
  pm.addPass(createPlaceInShared(PlaceInSharedOptions{strategy.sharedBytes, strategy.specificBytes}));
  ExpandMathOptions math;
  math.expandBF16 = true;
  pm.addPass(createExpandMath(math));
  // Canonicalisation would make host code of loops of one iteration.
  pm.addPass(createCSEPass());
}

/// Leaves the llvm and nvvm dialects: kernels in a gpu.module, entries with their C interface.
static void buildDeviceTargetPipeline(OpPassManager &pm, const GpuStrategy &strategy) {
  pm.addPass(createOutlineLaunches(OutlineLaunchesOptions{strategy.threads}));
  pm.addPass(createEntryWrappers(EntryWrappersOptions{/*device=*/true}));
  buildLowerToNVVMPipeline(pm);
}

/// Leaves the llvm dialect: parallel bodies outlined, entries with their C interface.
static void buildTargetPipeline(OpPassManager &pm) {
  pm.addPass(createOutlineParallel());
  pm.addPass(createEntryWrappers());
  buildLowerToLLVMPipeline(pm);
}

void attune::buildPhasePipeline(OpPassManager &pm, Phase phase, const PipelineOptions &options) {
  switch (phase) {
  case Phase::Dialect:
    return buildDialectPipeline(pm, options.strategy, options.precision);
  case Phase::Linalg:
    return buildLinalgPipeline(pm, options);
  case Phase::Tiled:
    return buildTiledPipeline(pm, options);
  case Phase::Kernels:
    return buildKernelsPipeline(pm, options.kernels);
  case Phase::Bufferized:
    return buildBufferizedPipeline(pm, options.strategy, options.gpu.has_value());
  case Phase::Vector:
    return options.gpu ? buildDeviceVectorPipeline(pm, *options.gpu) : buildVectorPipeline(pm, options.strategy);
  case Phase::Target:
    return options.gpu ? buildDeviceTargetPipeline(pm, *options.gpu) : buildTargetPipeline(pm);
  case Phase::Import:
  case Phase::Llvm:
  case Phase::Object:
    return;
  }
}

namespace {
struct PhaseFlags : PassPipelineOptions<PhaseFlags> {
  Option<int64_t> vectorBits{*this, "vector-bits", llvm::cl::desc("bits of a vector register, 32 if there are none"), llvm::cl::init(512)};
  Option<std::string> features{*this, "features",
                               llvm::cl::desc("what the CPU has: x86,avx512bf16,avx512vnni,avxvnni,amx-bf16,amx-int8,sse4a"),
                               llvm::cl::init("x86")};
  Option<xfmr::Precision> precision{
      *this, "precision", llvm::cl::desc("what the inputs of projections are rounded to"), llvm::cl::init(xfmr::Precision::F32),
      llvm::cl::values(clEnumValN(xfmr::Precision::F32, "f32", "not at all"), clEnumValN(xfmr::Precision::BF16, "bf16", "bf16"),
                       clEnumValN(xfmr::Precision::F16, "f16", "f16, on a GPU"), clEnumValN(xfmr::Precision::Int8, "int8", "8 bits"))};

  Option<KernelBackend> kernels{*this, "kernels", llvm::cl::desc("what makes the kernels"), llvm::cl::init(KernelBackend::Mlir),
                                llvm::cl::values(clEnumValN(KernelBackend::Mlir, "mlir", "all by MLIR"),
                                                 clEnumValN(KernelBackend::Halide, "halide", "by Halide what it can"))};

  Option<bool> gpu{*this, "gpu", llvm::cl::desc("kernels run on a GPU; the other options do not matter"), llvm::cl::init(false)};

  PipelineOptions get() const {
    if (gpu)
      return getGpuPipelineOptions(precision, getDefaultGpus());
    return {getCpuStrategy(parseCpuFeatures(vectorBits, features)), precision, kernels};
  }

  /// Whether the command line has any of them.
  bool areGiven() const {
    return vectorBits.hasValue() || features.hasValue() || precision.hasValue() || kernels.hasValue() || gpu.hasValue();
  }

  ReplaceTargetOptions getReplacement() const {
    return {vectorBits, features, xfmr::stringifyPrecision(precision).str(), stringifyKernelBackend(kernels).str(), gpu};
  }
};
} // namespace

/// Without options the target that the module carries decides.
static void buildPhaseFromFlags(OpPassManager &pm, Phase phase, const PhaseFlags &flags) {
  if (!flags.areGiven()) {
    pm.addPass(createRunPhase(RunPhaseOptions{stringifyPhase(phase).str()}));
    return;
  }
  pm.addPass(createReplaceTarget(flags.getReplacement()));
  buildPhasePipeline(pm, phase, flags.get());
}

void attune::registerPhasePipelines() {
  for (Phase phase : {Phase::Dialect, Phase::Linalg, Phase::Tiled, Phase::Kernels, Phase::Bufferized, Phase::Vector, Phase::Target})
    PassPipelineRegistration<PhaseFlags>(
        "attune-to-" + stringifyPhase(phase).str(),
        "from the phase before to '" + stringifyPhase(phase).str() +
            "': for the target and schedule that the module carries (rt.target, rt.schedule), by default x86 with AVX-512 in f32. Any "
            "option replaces what the module carries: those not given then have their defaults",
        [phase](OpPassManager &pm, const PhaseFlags &flags) { buildPhaseFromFlags(pm, phase, flags); });
}
