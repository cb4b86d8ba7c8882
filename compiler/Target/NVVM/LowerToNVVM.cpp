//===- LowerToNVVM.cpp - The pipeline to the llvm and nvvm dialects --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lowers kernels to the llvm and nvvm dialects, and the host code that launches them to the llvm dialect. The math and
// arith dialects are converted before `convert-gpu-to-nvvm`, which would turn some of their operations into calls of
// libdevice, NVIDIA's library of functions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/HostToLLVM/HostToLLVM.h"
#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "compiler/Target/NVVM/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void attune::buildLowerToNVVMPipeline(OpPassManager &pm) {
  pm.addPass(createPrepareForLLVM());
  pm.addPass(createLowerLaunches());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createLowerSharedMemory());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.useVectorAlignment = true;
  kernels.addPass(createConvertVectorToLLVMPass(vectors));
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createArithToLLVMConversionPass());
  kernels.addPass(createKeepIntrinsics());
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  // The wait at an mbarrier is a loop of inline PTX.
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createMarkTensorMaps());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  buildHostToLLVMPipeline(pm);
}

void attune::registerLowerToNVVMPipeline() {
  PassPipelineRegistration<>("attune-lower-to-nvvm", "lowers kernels to the llvm and nvvm dialects, and host code to llvm",
                             buildLowerToNVVMPipeline);
}
