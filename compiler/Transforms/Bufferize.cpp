//===- Bufferize.cpp - Tensors become buffers -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects functions on tensors in destination-passing style that refer to no weights. Runs one-shot bufferization
// across functions and drops results of private functions that are buffers of arguments. Upstream builds a table of all
// symbols of the module for every call that it rewrites, so most weights are taken out of the module while it runs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/WeightsAside.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace attune {
#define GEN_PASS_DEF_BUFFERIZE
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Adds upstream's one-shot bufferization across functions, and the pass that drops results of private functions that
/// are buffers of arguments.
static void addBufferization(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
}

namespace {
struct Bufferize : attune::impl::BufferizeBase<Bufferize> {
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(ModuleOp::getOperationName());
    addBufferization(pm);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    WeightsAside aside(getOperation());
    OpPassManager pm(ModuleOp::getOperationName());
    addBufferization(pm);
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
