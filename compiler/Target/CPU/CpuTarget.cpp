//===- CpuTarget.cpp - Kernels on the CPU of the host ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CpuTarget.h"
#include "compiler/Object/Passes.h"
#include "compiler/Target/CPU/CpuEmission.h"
#include "compiler/Target/CPU/Passes.h"
#include "compiler/Target/TargetProperties.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attune;

CpuTarget::CpuTarget(CpuFeatures machine, xfmr::Precision precision, xfmr::WeightFormats formats, xfmr::Precision cachePrecision,
                     std::unique_ptr<KernelBackend> maker)
    : Target(precision, std::move(formats), cachePrecision), features(std::move(machine)), backend(std::move(maker)),
      shared(getSchedule(features)), own(getCpuSchedule(features)) {
  if (backend)
    backend->adjust(shared);
}

//===----------------------------------------------------------------------===//
// Requests and attributes
//===----------------------------------------------------------------------===//

/// Returns an error if |backend| cannot use weights in |formats|. A null |backend|, our own passes, can use all.
static Status checkBackend(const xfmr::WeightFormats &formats, const KernelBackend *backend) {
  if (!formats.list().empty() && backend)
    return Status::error("--weights-format=" + formats.str() + ": not implemented for --kernels=" + backend->name().str() + ", expected " +
                         kOwnKernels.str());
  return {};
}

/// Returns an error if weights in one of |formats| are not implemented for |precision| or |host|.
static Status checkFormats(const xfmr::WeightFormats &formats, xfmr::Precision precision, const HostMachine &host) {
  const std::string triple = host.triple();
  // Without instructions that convert f16, LLVM would convert by calls of a library.
  bool lacksF16 = StringRef(triple).starts_with("x86_64") && !host.hasFeature("f16c");
  auto check = [&](const std::optional<xfmr::WeightFormat> &format, bool isTable) -> Status {
    if (!format)
      return {};
    const std::string flag = "--weights-format=" + format->str() + ": ";
    bool isF16 = format->kind == xfmr::WeightFormat::Kind::F16;
    if (isF16 && !isTable && precision == xfmr::Precision::BF16)
      return Status::error(flag + "not for --dtype=bf16, whose products have weights of bf16, expected native or --dtype=f32");
    if (isF16 && (lacksF16 || StringRef(triple).starts_with("riscv")))
      return Status::error(flag + "not implemented for " + (lacksF16 ? "CPUs without F16C" : "RISC-V") + ", expected bf16");
    if (!format->isFloat() && !format->wideScales && lacksF16)
      return Status::error(flag + "not implemented for CPUs without F16C, expected scales of f32, as in " + format->str() + ":f32");
    return {};
  };
  Status status = check(formats.projections, /*isTable=*/false);
  for (const xfmr::WeightFormats::Rule &rule : formats.rules)
    if (!status.failed())
      status = check(rule.format, rule.pattern == xfmr::WeightFormats::kTables);
  return status;
}

Result<std::unique_ptr<Target>> CpuTarget::create(const TargetRequest &request, const HostMachine &host) {
  if (request.precision == xfmr::Precision::F16)
    return Status::error("--dtype=f16: not implemented for --target=cpu, expected f32, bf16 or int8");
  if (!request.gpu.empty())
    return Status::error("--gpu: not for --target=cpu");
  Result<std::unique_ptr<KernelBackend>> backend = createKernelBackend(request.kernels, request.settings);
  if (!backend)
    return backend.status();
  xfmr::WeightFormats formats = request.weightFormats;
  bool isX86 = StringRef(host.triple()).starts_with("x86_64"), lacksF16 = isX86 && !host.hasFeature("f16c");
  if (request.choosesFormat && request.precision == xfmr::Precision::Int8 && !*backend) {
    formats.projections = xfmr::WeightFormat();
    formats.projections->wideScales = lacksF16;
  }
  if (request.precision == xfmr::Precision::BF16)
    formats.makeNative(xfmr::WeightFormat::Kind::BF16);
  if (Status status = checkBackend(formats, backend->get()); status.failed())
    return status;
  if (Status status = checkFormats(formats, request.precision, host); status.failed())
    return status;
  if (request.cachePrecision == xfmr::Precision::F16 && (isX86 ? lacksF16 : StringRef(host.triple()).starts_with("riscv")))
    return Status::error("--cache-dtype=f16: not implemented for " + std::string(isX86 ? "CPUs without F16C" : "RISC-V") +
                         ", expected f32, bf16 or int8");
  CpuFeatures features{host.vectorBits(), host.vectorRegisters(), host.scheduleFeatures()};
  std::unique_ptr<CpuTarget> target(
      new CpuTarget(std::move(features), request.precision, std::move(formats), request.cachePrecision, std::move(*backend)));
  target->cpu = host.cpu();
  target->triple = host.triple();
  return std::unique_ptr<Target>(std::move(target));
}

static constexpr TargetProperty kProperties[] = {
    kCachePrecision,
    {"cpu", PropertyKind::Text, false},
    {"features", PropertyKind::List, true},
    {"kernels", PropertyKind::Text, true},
    {"triple", PropertyKind::Text, false},
    {"vector_bits", PropertyKind::Number, true},
    {"vector_registers", PropertyKind::Number, true},
    kWeightsFormat,
};

Result<std::unique_ptr<Target>> CpuTarget::read(rt::TargetAttr attribute) {
  if (Status status = checkProperties(attribute, kProperties); status.failed())
    return status;
  Result<std::unique_ptr<KernelBackend>> backend = createKernelBackend(attribute.getText("kernels"), {});
  if (!backend)
    return backend.status();
  Result<xfmr::WeightFormats> formats = readWeightFormats(attribute);
  if (!formats)
    return formats.status();
  if (Status status = checkBackend(*formats, backend->get()); status.failed())
    return status;
  Result<xfmr::Precision> cachePrecision = readCachePrecision(attribute);
  if (!cachePrecision)
    return cachePrecision.status();
  CpuFeatures features{attribute.getNumber("vector_bits"), attribute.getNumber("vector_registers"), {}};
  features.names.insert_range(attribute.getList("features"));
  std::unique_ptr<CpuTarget> target(
      new CpuTarget(std::move(features), attribute.getPrecision(), std::move(*formats), *cachePrecision, std::move(*backend)));
  target->cpu = attribute.getText("cpu").str();
  target->triple = attribute.getText("triple").str();
  return std::unique_ptr<Target>(std::move(target));
}

rt::TargetAttr CpuTarget::attribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<StringRef> names(features.names.keys());
  llvm::sort(names);
  NamedAttrList properties;
  properties.set("features", builder.getStrArrayAttr(names));
  properties.set("kernels", builder.getStringAttr(backend ? backend->name() : StringRef(kOwnKernels)));
  properties.set("vector_bits", builder.getI64IntegerAttr(features.vectorBits));
  properties.set("vector_registers", builder.getI64IntegerAttr(features.vectorRegisters));
  if (!cpu.empty())
    properties.set("cpu", builder.getStringAttr(cpu));
  if (!triple.empty())
    properties.set("triple", builder.getStringAttr(triple));
  addTypes(properties, *this, context);
  return rt::TargetAttr::get(context, builder.getStringAttr(kName), properties.getDictionary(context));
}

std::string CpuTarget::flags() const { return backend ? "--kernels=" + backend->name().str() + backend->flags() : ""; }

std::vector<std::string> CpuTarget::programs() const { return backend ? backend->programs() : std::vector<std::string>(); }

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

void CpuTarget::addKernelPasses(OpPassManager &pm) const {
  if (!backend)
    return;
  backend->addSelectPasses(pm);
  pm.addPass(createCanonicalizer());
}

void CpuTarget::addBufferPasses(OpPassManager &pm, const rt::Schedule &schedule) const {
  pm.addPass(createPadRows());
  BlockRowsAcrossKernelsOptions blocking;
  blocking.rows = schedule.maxBlockRows;
  // AMX instructions read whole groups of rows of low-precision operands, so blocks begin at multiples of a group.
  blocking.multiple = schedule.lowPrecisionGroup > 1 ? schedule.lowPrecisionGroup : schedule.registerRows;
  pm.addPass(createBlockRowsAcrossKernels(blocking));
  AttachScratchOptions scratch;
  scratch.rows = schedule.queryRows;
  scratch.stateRows = schedule.attentionRows;
  pm.addPass(createAttachScratch(scratch));
}

/// Adds passes that leave scf loops over vectors of 16 lanes.
void CpuTarget::addVectorPasses(OpPassManager &pm, const rt::Schedule &schedule) const {
  VectorizeTilesOptions tiles;
  tiles.registerRows = schedule.registerRows;
  tiles.lowPrecisionRows = schedule.lowPrecisionRows;
  tiles.dotUnit = own.dotUnit;
  tiles.groupedRows = schedule.groupedRows;
  tiles.vnni = own.vnni;
  tiles.prefetchStreams = own.prefetchStreams;
  tiles.prefetchAhead = own.prefetchAhead;
  LowerAttentionTileOptions attention;
  attention.rows = schedule.queryRows;
  attention.scoreVectors = schedule.keyPanelWidth / 16;
  attention.valueVectors = own.valueVectors;
  attention.softmaxRows = own.softmaxRows;
  pm.addPass(createVectorizeTiles(tiles));
  if (backend)
    backend->addTilePasses(pm);
  pm.addPass(createLowerAttentionTile(attention));
  pm.addPass(createLowerQuantizeRows());
  pm.addPass(createLowerCacheRows());
  ExpandMathOptions math;
  math.expandBF16 = !own.roundsBF16;
  pm.addPass(createExpandMath(math));
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
  // The shuffles of this pass must stay as they are, one instruction each, so no canonicalization follows.
  pm.addPass(createLowerKeyPanel());
  pm.addPass(createLowerRotaryTile());
}

/// Adds passes that leave the llvm dialect, in which bodies of parallel loops are functions and entries have their C
/// interface.
void CpuTarget::addTargetPasses(OpPassManager &pm) const {
  pm.addPass(createOutlineParallel());
  pm.addPass(createEntryWrappers());
  buildLowerToLLVMPipeline(pm);
}

//===----------------------------------------------------------------------===//
// Emission and registration
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<TargetEmission>> CpuTarget::createEmission(const HostMachine &host) const {
  if (!backend)
    return std::unique_ptr<TargetEmission>(std::make_unique<CpuEmission>());
  Result<std::unique_ptr<TargetEmission>> kernels =
      backend->createEmission(host, {features.vectorBits, shared.registerRows, shared.panelWidth, own.prefetchAhead});
  if (!kernels)
    return kernels.status();
  return std::unique_ptr<TargetEmission>(std::make_unique<CpuEmission>(std::move(*kernels)));
}

void attune::registerCpuTarget() {
  auto registerPasses = [] {
    registerAttuneCPUPasses();
    registerLowerToLLVMPipeline();
  };
  registerTarget({CpuTarget::kName.str(), [](DialectRegistry &) {}, registerPasses, CpuTarget::create, CpuTarget::read});
}
