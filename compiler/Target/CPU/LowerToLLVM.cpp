//===- LowerToLLVM.cpp - The pipeline to the llvm dialect on CPUs ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/HostToLLVM/HostToLLVM.h"
#include "compiler/Target/CPU/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void attune::buildLowerToLLVMPipeline(OpPassManager &pm) {
  HostToLLVMOptions options;
  options.x86Vector = true;
  options.addStructuredPasses = [](OpPassManager &structured) { structured.addPass(createLowerAmxTiles()); };
  buildHostToLLVMPipeline(pm, options);
}

void attune::registerLowerToLLVMPipeline() {
  PassPipelineRegistration<>("attune-lower-to-llvm", "lowers all remaining dialects to the llvm dialect", buildLowerToLLVMPipeline);
}
