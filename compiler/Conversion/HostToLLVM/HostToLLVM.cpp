//===- HostToLLVM.cpp - The conversion of host code to LLVM ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/HostToLLVM/HostToLLVM.h"
#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void attune::buildHostToLLVMPipeline(OpPassManager &pm, const HostToLLVMOptions &options) {
  pm.addPass(createPrepareForLLVM());
  pm.addPass(createLowerParallelCalls());
  pm.addPass(createLowerCollectives());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  if (options.addStructuredPasses)
    options.addStructuredPasses(pm);
  pm.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.x86Vector = options.x86Vector;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertRestToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createFinishFunctions());
}
