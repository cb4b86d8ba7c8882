//===- EmitModel.cpp - From the phase target to files ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/EmitModel.h"
#include "compiler/Driver/HalideKernels.h"
#include "compiler/Object/Emit.h"
#include "compiler/Target/NVVM/DeviceModule.h"
#include "compiler/Target/NVVM/Emulator/EmulateDevice.h"
#include "compiler/Target/NVVM/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace attune;

/// Takes away what later phases needed and LLVM does not know: weights and the attributes that carry the contract between phases.
static void removeContract(mlir::ModuleOp module) {
  auto isContract = [](mlir::NamedAttribute attr) {
    return llvm::isa_and_nonnull<mlir::xfmr::XfmrDialect, mlir::tiles::TileDialect, mlir::rt::RtDialect>(attr.getNameDialect());
  };
  auto without = [&](mlir::DictionaryAttr attrs) {
    mlir::NamedAttrList kept;
    for (mlir::NamedAttribute attr : attrs ? attrs.getValue() : llvm::ArrayRef<mlir::NamedAttribute>())
      if (!isContract(attr))
        kept.append(attr);
    return kept.getDictionary(module.getContext());
  };
  for (mlir::Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (llvm::isa<mlir::xfmr::WeightOp>(op)) {
      op.erase();
      continue;
    }
    op.setDiscardableAttrs(without(op.getDiscardableAttrDictionary()));
    if (auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op))
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.setArgAttrs(i, without(function.getArgAttrDict(i)));
  }
  module->setDiscardableAttrs(without(module->getDiscardableAttrDictionary()));
}

/// Moves the kernels of |module| out of it.
static Result<std::unique_ptr<llvm::Module>> takeDeviceModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                              std::vector<DeviceFunction> &functions) {
  functions = readDeviceFunctions(module);
  std::unique_ptr<llvm::Module> device = translateDeviceModule(module, context);
  if (!device)
    return Status::error("translation of kernels to LLVM IR failed");
  for (auto kernels : llvm::make_early_inc_range(module.getOps<mlir::gpu::GPUModuleOp>()))
    kernels.erase();
  module->removeAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName());
  return device;
}

Status ModelEmitter::translate(mlir::ModuleOp module, const std::vector<std::string> &kernels) {
  if (options.target == TargetKind::Cuda) {
    Result<std::unique_ptr<llvm::Module>> device = takeDeviceModule(module, *context, deviceFunctions);
    if (!device)
      return device.status();
    deviceModule = std::move(*device);
  }
  removeContract(module);
  // The name goes into assembly and IR; it must not depend on the machine.
  llvmModule = mlir::translateModuleToLLVMIR(module, *context, "attune");
  if (!llvmModule)
    return Status::error("translation to LLVM IR failed");
  for (const std::string &bitcode : kernels)
    if (Status status = linkHalideKernels(*llvmModule, bitcode); status.failed())
      return status;
  setTarget(*llvmModule, target);
  return {};
}

/// What |module| needs beside what all code for its CPU may use: tile registers need the system's permission, so only code with tiles asks
/// for them.
static std::string tileFeatures(const llvm::Module &module) {
  std::string features;
  auto uses = [&](llvm::StringRef prefix) {
    return llvm::any_of(module, [&](const llvm::Function &f) { return f.getName().starts_with(prefix); });
  };
  for (auto [prefix, feature] :
       {std::pair("llvm.x86.tile", ",amx-tile"), std::pair("llvm.x86.tdpbf16ps", ",amx-bf16"), std::pair("llvm.x86.tdpbusd", ",amx-int8")})
    if (uses(prefix))
      features += feature;
  return features;
}

/// A hash of everything that decides the bytes of the object and its weights.
static BuildId computeBuildId(const llvm::Module &module, const std::string &signature, const DescriptorOptions &described,
                              const PackingResult *packed) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  stream << ATTUNE_VERSION << '\n'
         << signature << '\n'
         << described.flags << '\n'
         << (packed ? llvm::StringRef(packed->manifest) : llvm::StringRef());
  for (const GpuImage &image : described.images)
    stream << '\n' << image.kind << ' ' << image.arch << ' ' << image.archSpecific << ' ' << image.data;
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  BuildId id;
  for (unsigned i = 0; i < 8; ++i) {
    id[i] = hash.high64 >> (8 * (7 - i));
    id[8 + i] = hash.low64 >> (8 * (7 - i));
  }
  return id;
}

Status ModelEmitter::describe(const ModelSignature &signature, const std::string &name, const PackingResult *packed) {
  described.name = name;
  described.triple = target.triple();
  described.cpu = target.cpu();
  described.requiredFeatures = target.requiredFeatures() + tileFeatures(*llvmModule);
  described.flags = formatFlags(options);
  described.alias = options.emit == EmitKind::Shared;
  if (packed) {
    described.weightsBytes = packed->dataBytes;
    described.manifestChecksum = packed->manifestChecksum;
  }
  // The header text stands for the signature.
  std::string text = createHeader(signature, described) + (signature.generation ? Json(signature.generation->values()).dump() : "");
  described.buildId = computeBuildId(*llvmModule, text, described, packed);
  return addDescriptor(*llvmModule, signature, described);
}

Status ModelEmitter::emitDevice(ModelSignature &signature) {
  described.device = ATTUNE_DEVICE_CUDA;
  // Launches outside of kernels belong to a kernel of their own.
  std::optional<uint32_t> other;
  for (const DeviceFunction &function : deviceFunctions) {
    auto kernel = llvm::find_if(signature.kernels, [&](const KernelSignature &known) { return known.name == function.function; });
    uint32_t number = kernel - signature.kernels.begin();
    if (kernel == signature.kernels.end()) {
      if (!other) {
        other = signature.kernels.size();
        signature.kernels.push_back({kOtherKernel.str(), "nvvm", "operations between kernels", ""});
      }
      number = *other;
    }
    described.functions.push_back({function.symbol, number, function.sharedBytes});
  }
  std::string ptxas = findPtxas();
  for (const GpuArchitecture &gpu : getGpus(options)) {
    if (gpu.isEmulator) {
      Result<std::string> image = emulateDevice(selectFunctions(*deviceModule, deviceFunctions, gpu), target);
      if (!image)
        return image.status();
      described.images.push_back({ATTUNE_IMAGE_CUBIN, gpu.number, gpu.isSpecific, std::move(*image)});
      continue;
    }
    Result<std::string> ptx = emitPtx(*selectFunctions(*deviceModule, deviceFunctions, gpu), gpu);
    if (!ptx)
      return ptx.status();
    bool isFirst = llvm::none_of(described.images, [](const GpuImage &image) { return image.kind == ATTUNE_IMAGE_PTX; });
    if (isFirst || ptxas.empty())
      described.images.push_back({ATTUNE_IMAGE_PTX, gpu.number, gpu.isSpecific, *ptx});
    if (ptxas.empty())
      continue;
    Result<std::string> cubin = runPtxas(ptxas, *ptx, gpu);
    if (!cubin)
      return cubin.status();
    described.images.push_back({ATTUNE_IMAGE_CUBIN, gpu.number, gpu.isSpecific, std::move(*cubin)});
  }
  return {};
}

Result<std::string> ModelEmitter::ptx() const { return described.images.front().data; }

void ModelEmitter::optimize() { optimizeModule(*llvmModule, target); }

std::string ModelEmitter::print() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvmModule->print(stream, nullptr);
  if (deviceModule)
    deviceModule->print(stream, nullptr);
  return text;
}

Result<std::string> ModelEmitter::emit(bool assembly) const {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
  Result<std::string> code = emitCode(*copy, target, assembly);
  if (!code || assembly)
    return code;
  std::vector<std::string> visible = {"attune_model_" + described.name};
  if (described.alias)
    visible.push_back("attune_model");
  if (Status status = checkObject(*code, visible); status.failed())
    return status;
  return code;
}
