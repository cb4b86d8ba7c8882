//===- TargetAttributes.cpp - The target that a module carries -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Pipelines/TargetAttributes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;

StringRef attune::stringifyKernelBackend(KernelBackend backend) {
  return backend == KernelBackend::Halide ? "halide" : "mlir";
}

//===----------------------------------------------------------------------===//
// To attributes
//===----------------------------------------------------------------------===//

rt::TargetAttr attune::getCpuTargetAttr(MLIRContext *context, const CpuFeatures &features, xfmr::Precision precision, KernelBackend kernels,
                                        StringRef cpu, StringRef triple) {
  Builder builder(context);
  SmallVector<StringRef> names(features.names.keys());
  llvm::sort(names);
  NamedAttrList properties;
  properties.set("features", builder.getStrArrayAttr(names));
  properties.set("kernels", builder.getStringAttr(stringifyKernelBackend(kernels)));
  properties.set("precision", builder.getStringAttr(xfmr::stringifyPrecision(precision)));
  properties.set("vector_bits", builder.getI64IntegerAttr(features.vectorBits));
  properties.set("vector_registers", builder.getI64IntegerAttr(features.vectorRegisters));
  if (!cpu.empty())
    properties.set("cpu", builder.getStringAttr(cpu));
  if (!triple.empty())
    properties.set("triple", builder.getStringAttr(triple));
  return rt::TargetAttr::get(context, builder.getStringAttr("cpu"), properties.getDictionary(context));
}

rt::TargetAttr attune::getGpuTargetAttr(MLIRContext *context, ArrayRef<GpuArchitecture> gpus, xfmr::Precision precision) {
  Builder builder(context);
  SmallVector<std::string> names = llvm::map_to_vector(gpus, [](const GpuArchitecture &gpu) { return gpu.name(); });
  NamedAttrList properties;
  properties.set("archs", builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(names)));
  properties.set("precision", builder.getStringAttr(xfmr::stringifyPrecision(precision)));
  return rt::TargetAttr::get(context, builder.getStringAttr("cuda"), properties.getDictionary(context));
}

static constexpr StringLiteral kDotUnits[] = {"portable", "avx2", "avx512", "amx"};

static rt::ScheduleAttr getScheduleAttr(MLIRContext *context, const CpuStrategy &s) {
  return rt::ScheduleAttr::get(context, s.registerRows, s.queryRows, s.panelWidth, s.keyPanelWidth, s.valueVectors, s.weightRows,
                               s.attentionRows, s.blockBytes, s.maxBlockRows, s.rowBlock, kDotUnits[static_cast<unsigned>(s.dotUnit)],
                               s.bf16.type, s.bf16.multiple, s.bf16.group, s.int8.type, s.int8.multiple, s.int8.group, s.codeRows,
                               s.codeGroup, s.streamPanels, s.prefetchStreams, s.prefetchAhead, s.fewRows, s.fewColumns, s.wideRows,
                               s.wideColumns, s.wideBlocks, s.roundsBF16, s.maxFeatures);
}

void attune::setTarget(ModuleOp module, rt::TargetAttr target, const PipelineOptions &options) {
  MLIRContext *context = module.getContext();
  module->setAttr(rt::TargetAttr::kName, target);
  module->setAttr(rt::ScheduleAttr::kName, getScheduleAttr(context, options.strategy));
  module->removeAttr(rt::DeviceScheduleAttr::kName);
  if (const auto &gpu = options.gpu)
    module->setAttr(rt::DeviceScheduleAttr::kName,
                    rt::DeviceScheduleAttr::get(context, gpu->codeQueryRows, gpu->largestCodeHead, gpu->threads, gpu->sharedBytes,
                                                gpu->specificArch, gpu->specificColumns, gpu->specificStages, gpu->specificBytes,
                                                gpu->specificCacheBytes));
}

//===----------------------------------------------------------------------===//
// From attributes
//===----------------------------------------------------------------------===//

/// The type |name| of low-precision operands, which the verifier has checked, as text that lives forever.
static const char *getOperandType(StringRef name) {
  for (const char *known : {"f32", "bf16", "i16", "i8"})
    if (name == known)
      return known;
  llvm_unreachable("the verifier of the schedule knows all types");
}

static CpuStrategy readSchedule(rt::ScheduleAttr schedule) {
  CpuStrategy s = {schedule.getRegisterRows(), schedule.getQueryRows(),  schedule.getPanelWidth(),    schedule.getKeyPanelWidth(),
                   schedule.getValueVectors(), schedule.getWeightRows(), schedule.getAttentionRows(), schedule.getBlockBytes(),
                   schedule.getMaxBlockRows(), schedule.getRowBlock()};
  s.dotUnit = static_cast<DotUnit>(llvm::find(kDotUnits, schedule.getDotUnit()) - std::begin(kDotUnits));
  s.bf16 = {getOperandType(schedule.getBf16Type()), schedule.getBf16Multiple(), schedule.getBf16Group()};
  s.int8 = {getOperandType(schedule.getInt8Type()), schedule.getInt8Multiple(), schedule.getInt8Group()};
  s.codeRows = schedule.getCodeRows();
  s.codeGroup = schedule.getCodeGroup();
  s.streamPanels = schedule.getStreamPanels();
  s.prefetchStreams = schedule.getPrefetchStreams();
  s.prefetchAhead = schedule.getPrefetchAhead();
  s.fewRows = schedule.getFewRows();
  s.fewColumns = schedule.getFewColumns();
  s.wideRows = schedule.getWideRows();
  s.wideColumns = schedule.getWideColumns();
  s.wideBlocks = schedule.getWideBlocks();
  s.roundsBF16 = schedule.getRoundsBf16();
  s.maxFeatures = schedule.getMaxFeatures();
  return s;
}

static void readDeviceSchedule(rt::DeviceScheduleAttr schedule, GpuStrategy &gpu) {
  gpu.codeQueryRows = schedule.getCodeQueryRows();
  gpu.largestCodeHead = schedule.getLargestCodeHead();
  gpu.threads = schedule.getThreads();
  gpu.sharedBytes = schedule.getSharedBytes();
  gpu.specificArch = schedule.getSpecificArch();
  gpu.specificColumns = schedule.getSpecificColumns();
  gpu.specificStages = schedule.getSpecificStages();
  gpu.specificBytes = schedule.getSpecificBytes();
  gpu.specificCacheBytes = schedule.getSpecificCacheBytes();
}

FailureOr<PipelineOptions> attune::readTarget(ModuleOp module) {
  auto target = module->getAttrOfType<rt::TargetAttr>(rt::TargetAttr::kName);
  if (!target)
    return PipelineOptions();
  xfmr::Precision precision = xfmr::symbolizePrecision(target.getText("precision")).value();
  PipelineOptions options;
  if (target.isGpu()) {
    Result<std::vector<GpuArchitecture>> gpus = parseGpuList(llvm::join(target.getList("archs"), ","));
    if (!gpus)
      return module.emitError("'rt.target': ") << gpus.message();
    options = getGpuPipelineOptions(precision, *gpus);
  } else {
    CpuFeatures features{target.getNumber("vector_bits"), target.getNumber("vector_registers"), {}};
    features.names.insert_range(target.getList("features"));
    options = {getCpuStrategy(features), precision,
               target.getText("kernels") == "halide" ? KernelBackend::Halide : KernelBackend::Mlir};
  }
  if (auto schedule = module->getAttrOfType<rt::ScheduleAttr>(rt::ScheduleAttr::kName)) {
    options.strategy = readSchedule(schedule);
    if (options.gpu)
      options.gpu->tiles = options.strategy;
  }
  if (auto schedule = module->getAttrOfType<rt::DeviceScheduleAttr>(rt::DeviceScheduleAttr::kName); schedule && options.gpu)
    readDeviceSchedule(schedule, *options.gpu);
  return options;
}
