//===- NvvmTarget.cpp - Kernels on NVIDIA GPUs -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/NvvmTarget.h"
#include "compiler/Object/Passes.h"
#include "compiler/Target/KernelBackend.h"
#include "compiler/Target/NVVM/DeviceModule.h"
#include "compiler/Target/NVVM/ImageEmitter.h"
#include "compiler/Target/NVVM/NvvmEmission.h"
#include "compiler/Target/NVVM/Passes.h"
#include "compiler/Target/TargetProperties.h"
#include "compiler/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;

NvvmTarget::NvvmTarget(std::vector<GpuArchitecture> list, xfmr::Precision precision, xfmr::WeightFormats formats,
                       xfmr::Precision cachePrecision)
    : Target(precision, std::move(formats), cachePrecision), gpus(std::move(list)), schedules(getGpuSchedules(gpus, precision)) {}

//===----------------------------------------------------------------------===//
// Requests and attributes
//===----------------------------------------------------------------------===//

/// Returns an error if this target has no products of |precision| by weights in one of |formats|. The format of
/// embedding tables is not checked.
static Status checkFormats(const xfmr::WeightFormats &formats, xfmr::Precision precision) {
  auto check = [&](const std::optional<xfmr::WeightFormat> &format) -> Status {
    if (!format)
      return {};
    const std::string flag = "--weights-format=" + format->str() + ": not implemented for ";
    if (format->isFloat())
      return Status::error(flag + "--target=cuda, expected native or a format of integers");
    if (precision == xfmr::Precision::F32)
      return Status::error(flag + "products of f32 on --target=cuda, expected --dtype=bf16 or f16");
    return {};
  };
  Status status = check(formats.projections);
  for (const xfmr::WeightFormats::Rule &rule : formats.rules)
    if (!status.failed() && rule.pattern != xfmr::WeightFormats::kTables)
      status = check(rule.format);
  return status;
}

Result<std::unique_ptr<Target>> NvvmTarget::create(const std::string &list, xfmr::Precision precision, xfmr::WeightFormats formats,
                                                   xfmr::Precision cachePrecision, const std::string &place) {
  Result<std::vector<GpuArchitecture>> gpus = parseGpuList(list);
  if (!gpus)
    return Status::error(place + gpus.message());
  if (precision == xfmr::Precision::Int8)
    return Status::error("--dtype=int8: not implemented for --target=cuda, expected f32, bf16 or f16");
  if (precision == xfmr::Precision::BF16 || precision == xfmr::Precision::F16)
    formats.makeNative(precision == xfmr::Precision::BF16 ? xfmr::WeightFormat::Kind::BF16 : xfmr::WeightFormat::Kind::F16);
  if (Status status = checkFormats(formats, precision); status.failed())
    return status;
  return std::unique_ptr<Target>(new NvvmTarget(std::move(*gpus), precision, std::move(formats), cachePrecision));
}

Result<std::unique_ptr<Target>> NvvmTarget::create(const TargetRequest &request, const HostMachine &) {
  if (!request.kernels.empty() && request.kernels != kOwnKernels)
    return Status::error("--kernels=" + request.kernels + ": not for --target=cuda");
  if (!request.settings.empty())
    return Status::error("--set: '" + request.settings.begin()->first + "' is no setting of --target=cuda");
  return create(request.gpu.empty() ? formatGpuList(getDefaultGpus()) : request.gpu, request.precision, request.weightFormats,
                request.cachePrecision, "--gpu: ");
}

static constexpr TargetProperty kProperties[] = {{"archs", PropertyKind::List, true}, kCachePrecision, kWeightsFormat};

Result<std::unique_ptr<Target>> NvvmTarget::read(rt::TargetAttr attribute) {
  if (Status status = checkProperties(attribute, kProperties); status.failed())
    return status;
  Result<xfmr::Precision> cachePrecision = readCachePrecision(attribute);
  if (!cachePrecision)
    return cachePrecision.status();
  Result<xfmr::WeightFormats> formats = readWeightFormats(attribute);
  if (!formats)
    return formats.status();
  return create(llvm::join(attribute.getList("archs"), ","), attribute.getPrecision(), std::move(*formats), *cachePrecision, "");
}

rt::TargetAttr NvvmTarget::attribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<std::string> names = llvm::map_to_vector(gpus, [](const GpuArchitecture &gpu) { return gpu.name(); });
  NamedAttrList properties;
  properties.set("archs", builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(names)));
  addTypes(properties, *this, context);
  return rt::TargetAttr::get(context, builder.getStringAttr(kName), properties.getDictionary(context));
}

StringRef NvvmTarget::defaultBackend() const { return kNvvmBackend; }

std::string NvvmTarget::flags() const { return "--target=cuda --gpu=" + formatGpuList(gpus); }

std::vector<std::string> NvvmTarget::programs() const {
  std::string ptxas = findPtxas();
  return ptxas.empty() ? std::vector<std::string>() : std::vector<std::string>{ptxas};
}

Status NvvmTarget::checkEmit(EmitKind kind) const {
  if (kind == EmitKind::Ptx)
    for (const GpuArchitecture &gpu : gpus)
      if (gpu.emitter)
        return Status::error("--emit: there is no PTX for --gpu=" + gpu.name());
  return {};
}

Status NvvmTarget::checkRanks(int64_t ranks) const {
  return ranks > 1 ? Status::error("--ranks: not implemented for --target=cuda, expected cpu") : Status();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

void NvvmTarget::addBufferPasses(OpPassManager &pm, const rt::Schedule &) const { pm.addPass(createLimitRows()); }

/// After these passes the body of every parallel loop is the code of one thread.
void NvvmTarget::addVectorPasses(OpPassManager &pm, const rt::Schedule &) const {
  const GpuSchedule &own = schedules.own;
  pm.addPass(createPlaceOnDevice(PlaceOnDeviceOptions{own.threads}));
  pm.addPass(createDistributeToThreads(
      DistributeToThreadsOptions{own.threads, own.specificArch, own.specificColumns, own.specificStages, own.specificCacheBytes}));
  pm.addPass(createPlaceInShared(PlaceInSharedOptions{own.sharedBytes, own.specificBytes}));
  ExpandMathOptions math;
  math.expandBF16 = true;
  pm.addPass(createExpandMath(math));
  // No canonicalization here: it would turn parallel loops of one iteration into host code.
  pm.addPass(createCSEPass());
}

/// After these passes kernels are in a gpu.module, in the llvm and nvvm dialects, and host code is in the llvm dialect,
/// where entries have their C interface.
void NvvmTarget::addTargetPasses(OpPassManager &pm) const {
  pm.addPass(createOutlineLaunches(OutlineLaunchesOptions{schedules.own.threads}));
  pm.addPass(createEntryWrappers(EntryWrappersOptions{/*device=*/true}));
  buildLowerToNVVMPipeline(pm);
}

//===----------------------------------------------------------------------===//
// Emission and registration
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<TargetEmission>> NvvmTarget::createEmission(const HostMachine &host) const {
  return std::unique_ptr<TargetEmission>(std::make_unique<NvvmEmission>(gpus, host));
}

void attune::registerNvvmTarget() {
  auto registerDialects = [](DialectRegistry &registry) {
    registerGPUDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  };
  auto registerPasses = [] {
    registerAttuneNVVMPasses();
    registerLowerToNVVMPipeline();
  };
  registerTarget({NvvmTarget::kName.str(), registerDialects, registerPasses, NvvmTarget::create, NvvmTarget::read});
}
