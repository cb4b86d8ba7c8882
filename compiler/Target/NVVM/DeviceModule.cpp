//===- DeviceModule.cpp - From kernels in the nvvm dialect to PTX ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/DeviceModule.h"
#include "compiler/Object/HostMachine.h"
#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace attune;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";
/// The PTX version of CUDA 12.0, which has all instructions that kernels use.
static constexpr llvm::StringLiteral kPtxVersion = "+ptx80";

static Result<std::unique_ptr<llvm::TargetMachine>> createMachine(const GpuArchitecture &gpu) {
  initializeTargets();
  std::string problem;
  llvm::Triple triple(kTriple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return Status::error("this LLVM has no code generator for NVIDIA GPUs");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, gpu.name(), kPtxVersion, options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

std::vector<DeviceFunction> attune::readDeviceFunctions(mlir::ModuleOp module) {
  std::vector<DeviceFunction> functions;
  for (auto kernels : module.getOps<mlir::gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<mlir::LLVM::LLVMFuncOp>())
      if (auto launched = kernel->getAttrOfType<mlir::rt::DeviceFunctionAttr>(mlir::rt::kDeviceFunctionAttr))
        functions.push_back({kernel.getName().str(), launched.getParent().str(), static_cast<uint32_t>(launched.getSharedBytes()),
                             static_cast<uint32_t>(launched.getArch())});
  return functions;
}

std::unique_ptr<llvm::Module> attune::translateDeviceModule(mlir::ModuleOp module, llvm::LLVMContext &context) {
  auto kernels = module.getOps<mlir::gpu::GPUModuleOp>();
  if (kernels.empty()) {
    module.emitError("the module has no kernels");
    return nullptr;
  }
  std::unique_ptr<llvm::Module> device = mlir::translateModuleToLLVMIR(*kernels.begin(), context, "attune_device");
  if (!device)
    return nullptr;
  device->setTargetTriple(llvm::Triple(kTriple));
  Result<std::unique_ptr<llvm::TargetMachine>> machine = createMachine(GpuArchitecture());
  if (!machine) {
    module.emitError(machine.message());
    return nullptr;
  }
  device->setDataLayout((*machine)->createDataLayout());
  return device;
}

std::unique_ptr<llvm::Module> attune::selectFunctions(const llvm::Module &module, const std::vector<DeviceFunction> &functions,
                                                      const GpuArchitecture &gpu) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  for (const DeviceFunction &function : functions)
    if (function.gpu != 0 && !(gpu.isSpecific && gpu.number == function.gpu))
      if (llvm::Function *found = copy->getFunction(function.symbol))
        found->eraseFromParent();
  return copy;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

Result<std::string> attune::emitPtx(const llvm::Module &module, const GpuArchitecture &gpu) {
  Result<std::unique_ptr<llvm::TargetMachine>> machine = createMachine(gpu);
  if (!machine)
    return machine.status();
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(*copy, &problems))
    return Status::error("internal error: invalid LLVM IR of kernels: " + llvm::StringRef(problem).split('\n').first.str());
  optimize(*copy, **machine);
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Status::error("this LLVM cannot emit PTX");
  passes.run(*copy);
  llvm::StringRef text(code.data(), code.size());
  if (size_t at = text.find(".extern .func"); at != llvm::StringRef::npos)
    return Status::error("internal error: kernels call a library: " + text.substr(at).split('\n').first.str());
  return text.str();
}
