//===- Registry.cpp - Dialects and passes of the compiler ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Registry.h"
#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Object/Passes.h"
#include "compiler/Pipelines/Passes.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Target/TargetRegistration.h"
#include "compiler/Transforms/BufferizableModels.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Weights/Passes.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "dialect/Xfmr/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

void attune::registerCompilerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  registry.insert<mlir::xfmr::XfmrDialect, mlir::tiles::TileDialect, mlir::rt::RtDialect>();
  registerBufferizableModels(registry);
  registerTargetDialects(registry);
}

void attune::registerCompilerPasses() {
  mlir::xfmr::registerXfmrPasses();
  registerXfmrToLinalgPasses();
  registerAttuneWeightsPasses();
  registerAttuneTransformsPasses();
  registerAttuneHostToLLVMPasses();
  registerAttuneObjectPasses();
  registerTargetPasses();
  registerAttunePipelinesPasses();
  registerPhasePipelines();
}
