//===- ConvertRestToLLVM.cpp - Remaining dialects to the llvm dialect -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects functions without structured control flow and without vectors of several dimensions. Upstream's
// convert-to-llvm finds the callee of each call by a search through the operations of the module, and a module may have
// thousands of `xfmr.weight`. So most weights are taken out of the module while the conversion runs (WeightsAside).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/HostToLLVM/Passes.h"
#include "compiler/Transforms/WeightsAside.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Pass/PassManager.h"

namespace attune {
#define GEN_PASS_DEF_CONVERTRESTTOLLVM
#include "compiler/Conversion/HostToLLVM/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Adds the upstream pass convert-to-llvm. One run for all dialects is much faster than one run for each.
static void addConversion(OpPassManager &pm) {
  ConvertToLLVMPassOptions options;
  options.filterDialects = {"arith", "cf", "func", "index", "math", "memref", "ub"};
  options.allowPatternRollback = false;
  pm.addPass(createConvertToLLVMPass(options));
}

namespace {
struct ConvertRestToLLVM : attune::impl::ConvertRestToLLVMBase<ConvertRestToLLVM> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertRestToLLVMBase::getDependentDialects(registry);
    OpPassManager pm(ModuleOp::getOperationName());
    addConversion(pm);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    WeightsAside aside(getOperation());
    OpPassManager pm(ModuleOp::getOperationName());
    addConversion(pm);
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
