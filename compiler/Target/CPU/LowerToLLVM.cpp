//===- LowerToLLVM.cpp - Everything left becomes the llvm dialect ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void attune::buildLowerToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createPrepareForLLVM());
  pm.addPass(createLowerParallelCalls());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createLowerTiles());
  pm.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.x86Vector = true;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertRestToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createFinishFunctions());
}

void attune::registerLowerToLLVMPipeline() {
  PassPipelineRegistration<>("attune-lower-to-llvm", "everything left becomes the llvm dialect", buildLowerToLLVMPipeline);
}
