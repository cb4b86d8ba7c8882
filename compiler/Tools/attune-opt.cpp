//===- attune-opt.cpp - Run passes and phases on IR -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/CPU/Passes.h"
#include "compiler/Transforms/BufferizableModels.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Weights/Passes.h"
#include "dialect/IR/XfmrOps.h"
#include "dialect/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::xfmr::registerXfmrPasses();
  attune::registerXfmrToLinalgPasses();
  attune::registerAttuneTransformsPasses();
  attune::registerAttuneCPUPasses();
  attune::registerLowerToLLVMPipeline();
  attune::registerAttuneWeightsPasses();
  attune::registerPhasePipelines();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::xfmr::XfmrDialect>();
  attune::registerBufferizableModels(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Attune pass driver\n", registry));
}
